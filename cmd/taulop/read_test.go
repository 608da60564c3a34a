package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
)

func TestReadMachines(t *testing.T) {
	dir := t.TempDir()
	native, host := swept(t, dir), "node17"
	f := loadParams(t, native)
	f.Provenance.Hostname = host
	saveParams(t, f, native)
	copied := save(t, dir, "copy.json", load(t, native))
	if err := os.Mkdir(filepath.Join(dir, "metropolis"), 0o755); err != nil {
		t.Fatal(err)
	}
	shm, ib := save(t, filepath.Join(dir, "metropolis"), "SHM.txt", tinySHM), save(t, filepath.Join(dir, "metropolis"), "IB.txt", tinySHM)
	table := save(t, dir, "table.txt", tinySHM)
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{native}, host},
		{[]string{native, copied}, host + " (swept.json), " + host + " (copy.json)"},
		{[]string{shm, table}, "metropolis, table"},
		{[]string{shm, ib}, "metropolis (SHM.txt), metropolis (IB.txt)"},
	} {
		machines, skipped, err := compare.ReadAll(tt.paths)
		var names []string
		for _, m := range machines {
			names = append(names, m.Name)
		}
		if got := strings.Join(names, ", "); got != tt.want || len(skipped) > 0 || err != nil {
			t.Errorf("%v: %q, skipped %v, %v; want %q", tt.paths, got, skipped, err, tt.want)
		}
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(native, link); err != nil {
		t.Fatal(err)
	}
	empty := save(t, dir, "empty.json", " \n")
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{native, native}, "swept.json is there twice"},
		{[]string{native, link}, "link.json are the same file"},
		{[]string{native, dir}, "is a directory: name the files in it"},
		{[]string{native, empty}, "empty.json is empty"},
		{[]string{native, dir + "/missing"}, "missing is not there"},
		{[]string{native, save(t, dir, "cut.json", load(t, native)[:99])}, "cut.json:"},
	} {
		_, _, err := compare.ReadAll(tt.paths)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v; want one line with %q", tt.paths, err, tt.want)
		}
	}

	// One bad file among many is skipped.
	paths := []string{empty}
	for _, name := range strings.Split("abcdefghi", "") {
		paths = append(paths, save(t, dir, name+".txt", tinySHM))
	}
	machines, skipped, err := compare.ReadAll(paths)
	if len(machines) != 9 || len(skipped) != 1 || err != nil {
		t.Errorf("%d machines, skipped %v, %v", len(machines), skipped, err)
	}
	if err := skippedFiles(skipped, len(paths)); exitStatus(err) != 1 || err.Error() != "1 of 10 files skipped" {
		t.Errorf("exit %d: %v", exitStatus(err), err)
	}
}
