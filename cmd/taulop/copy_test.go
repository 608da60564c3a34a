package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Both commands measure, write the table, and a parameter file that is valid.
func TestCopyAndPack(t *testing.T) {
	needLinux(t)
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	place, err := m.Place(numa.Remote, 1)
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := levels.Levels(m, place, 1)
	near := levels[0].Name
	dir := t.TempDir()
	for _, tt := range []struct {
		line     string
		kind     params.Kind
		variants []string
		text     []string
	}{
		{"copy -tau 1 -levels " + near + " -m 64,1K", params.LevelCell, []string{near + "-" + near}, []string{"c(m,1) in ns", near, "2 cells in"}},
		{"pack -cpus FIRST 1K8S", params.PackCell, []string{"1K8S", "1K4S"}, []string{"p(m,d) in ns", "1K8S", "o_mw"}},
	} {
		if strings.Contains(tt.line, "FIRST") {
			if m.Allowed.Len() < 2 {
				continue
			}
			tt.line = strings.Replace(tt.line, "FIRST", m.Allowed[:2].String(), 1)
		}
		file := filepath.Join(dir, tt.line[:4]+".json")
		out, _, err := run(t, append(strings.Fields(tt.line)[:1], append([]string{"-quiet", "-time", "60s", "-launches", "6", "-o", file}, strings.Fields(tt.line)[1:]...)...)...)
		if err != nil {
			t.Fatalf("%s: %v", tt.line, err)
		}
		for _, want := range tt.text {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", tt.line, want, out)
			}
		}
		f, err := params.ReadFile(file)
		if err != nil || !f.Complete || len(f.Plan.With) != 1 || f.Plan.With[0] != tt.line[:4] {
			t.Fatalf("%s: %v, %+v", tt.line, err, f)
		}
		found := make(map[string]bool)
		for _, c := range f.Cells {
			found[c.Variant] = true
			if c.Kind != tt.kind || !c.Time.Known() || !(c.Time.Center > 0) {
				t.Errorf("%s: %+v", tt.line, c)
			}
		}
		for _, want := range tt.variants {
			if !found[want] {
				t.Errorf("%s: no cell %s", tt.line, want)
			}
		}
	}
}
