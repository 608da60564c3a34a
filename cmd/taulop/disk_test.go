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

func TestBadDisks(t *testing.T) {
	dir := t.TempDir()
	text := save(t, dir, "text", "")
	needLinux(t)
	refuses(t, nil, "", []mistake{
		{"disk", "want 1"},
		{"disk " + dir + " -quite", "did you mean -quiet"},
		{"disk " + dir + " " + dir, "want 1"},
		{"disk -m 0 " + dir, "-m"},
		{"disk -m 100 " + dir, "multiple of 4096"},
		{"disk -m 4K,8191 " + dir, "multiple of 4096"},
		{"disk -m 1M -file 512K " + dir, "does not fit"},
		{"disk -file 5000 -m 4K " + dir, "multiple of 4096"},
		{"disk -file x " + dir, "-file"},
		{"disk -file 100000G " + dir, "-file"},
		{"disk -cache off " + dir, "-cache"},
		{"disk -time 0s " + dir, "-time"},
		{"disk -launches 5 " + dir, "-launches"},
		{"disk -cpu 99999 " + dir, "99999"},
		{"disk -o " + dir + " " + dir, "cannot be written"},
		{"disk " + dir + "/none", "no directory"},
		{"disk " + text, "no directory"},
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

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
