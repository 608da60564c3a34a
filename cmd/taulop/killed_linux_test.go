package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// A sweep is killed in the first sample of its launch, in the fourth, …, and resumed each time. The file is
// always valid, and no cell loses a sample.
func TestSweepSurvivesKilling(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	var before *params.File
	began := []string{"-cache", "in", "-gamma=false", "-launches", "6", "-tau", "1,2", "-m", "64,1K,64K", "-o", file}
	for kill := range 4 {
		cmd := program(t, append([]string{"sweep", "-quiet"}, began...)...)
		variable, next := hanging(t, 1+3*kill)
		cmd.Env = append(cmd.Environ(), variable)
		must.Do(cmd.Start())
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }()
		next(ended)
		cmd.Process.Kill()
		<-ended
		after, err := params.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) && before == nil {
			continue // killed before the first cell
		}
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		keepsAll(t, before, after)
		before, began = after, []string{"-resume", file}
	}
	if before == nil {
		t.Fatal("no file after all kills")
	}
	if out, err := program(t, "sweep", "-quiet", "-resume", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after, err := params.ReadFile(file)
	if err != nil || !after.Complete {
		t.Fatalf("resumed to the end: %v, complete %v", err, after.Complete)
	}
	keepsAll(t, before, after)
	for _, c := range after.Cells {
		if !c.Time.Known() {
			t.Errorf("no interval: %+v", c.Key)
		}
	}
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".taulop-") }) // killed while it was written
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the directory: %v, %v; want the file", entries, err)
	}
}
