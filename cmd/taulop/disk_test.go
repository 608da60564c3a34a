package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/disk"
	"github.com/taulop/taulop/params"
)

func TestDisk(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "disk.json")
	few := []string{"disk", "-quiet", "-time", "20s", "-launches", "6", "-file", "1M", "-m", "4K,64K,1M", "-cache", "in"}
	out, _, err := run(t, append(few, "-o", file, dir)...)
	if err != nil || !strings.Contains(out, "read, page cache in") || !strings.Contains(out, "write, page cache in") || !strings.Contains(out, "T_s") {
		t.Fatalf("%v in\n%s", err, out)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	f, err := params.ReadFile(file)
	if err != nil || len(f.Cells) != 6 {
		t.Fatalf("%v: %d cells; want 6", err, len(f.Cells))
	}
	out, _, err = run(t, append(few, "-json", dir)...)
	var doc disk.Document
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil || len(doc.Rows) != 6 || len(doc.Fits) != 2 || !doc.Rows[0].PageCache {
		t.Fatalf("%v in %s", err, out)
	}
}
