package compare_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
)

// A fleet that is reduced file by file compares as one that is read as a whole, and files that cannot
// be read are named in their order.
func TestReadReduced(t *testing.T) {
	dir := t.TempDir()
	paths := nodes.Write(t, dir, 24)
	copied := must.Get(os.ReadFile(paths[1]))
	for name, text := range map[string]string{"bad.json": "{", "same-host.json": string(copied)} {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	machines, skipped, err := compare.ReadAll(paths)
	must.Do(err)
	want := must.Get(compare.NewOverview(lists.Map(machines, compare.Reduce), compare.Choice{}))
	last := 0
	reduced, skippedToo, err := compare.ReadReduced(t.Context(), paths, "", func(done, of int) {
		check.Equal(t, done, last+1, "files that are done")
		check.Equal(t, of, len(paths), "files in all")
		last = done
	})
	if err != nil || last != len(paths) || len(skippedToo) != 1 || fmt.Sprint(skippedToo) != fmt.Sprint(skipped) {
		t.Fatalf("%d of %d files, skipped %v, want %v: %v", last, len(paths), skippedToo, skipped, err)
	}
	got, err := compare.NewOverview(reduced, compare.Choice{})
	check.True(t, err == nil && reflect.DeepEqual(got, want), "the fleet is %+v (%v), want %+v", got, err, want)
	check.True(t, len(got.Outliers) != 0 && got.Outliers[0].Machine == "node0003", "outliers %+v; node0003 is slow", got.Outliers)
	check.Equal(t, reduced[len(reduced)-1].Name, "node0001 (same-host.json)", "name of a second file of node0001")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = compare.ReadReduced(ended, paths, "", func(int, int) {})
	check.ErrorIs(t, err, context.Canceled, "after the end of its context")
	_, _, err = compare.ReadReduced(t.Context(), append(paths, paths[3]), "", func(int, int) {})
	contains.Error(t, err, "is named twice")
}
