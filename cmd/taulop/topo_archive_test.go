package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/taulop/taulop/numa/snapshot"
)

// An archive says what its unpacked directory says.
func TestTopoArchive(t *testing.T) {
	const name = "8em64t-2s2ca2c"
	want, _ := ran(t, "topo", "-csv", "-root", snapshot.Unpack(t, name))
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	got, _, err := run(t, "topo", "-csv", "-root", filepath.Join(snapshot.Dir(t), name+".tar.bz2"))
	if err != nil || got != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, got, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("what was unpacked is left behind: %v (%v)", left, err)
	}
	if _, _, err := run(t, "topo", "-root", "topo_archive_test.go"); exitStatus(err) != 2 {
		t.Errorf("no archive: %v", err)
	}
}
