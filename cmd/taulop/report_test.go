package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A page that cannot be written leaves no figures.
func TestReportWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	file := node(t, dir, "host", 1000, 0.1, 0.01, 1, 2, 4)
	full := filepath.Join(dir, "full.md")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Skip(err)
	}
	_, _, err := run(t, "report", "-md", "-force", "-o", full, file)
	if left, _ := filepath.Glob(filepath.Join(dir, "full-*")); err == nil || left != nil {
		t.Errorf("%v, and of its figures there are %q", err, left)
	}
}
