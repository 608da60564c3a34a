package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/params"
)

// kills is how often the tests of sweeps kill something.
func kills() int {
	if os.Getenv("TAULOP_LONG") != "" {
		return 50
	}
	return 4
}

// A sweep that is killed while its launch is at its first sample, its second, … and resumed
// each time: the file is always valid, and no cell ever loses a sample. With TAULOP_LONG it is
// killed at random moments too.
func TestSweepSurvivesKilling(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	var before *params.File
	random, began := randtest.New(t), []string{"-cache", "in", "-gamma=false", "-launches", "6", "-tau", "1,2", "-m", "64,1K,64K", "-o", file}
	for kill := range kills() {
		cmd := program(t, append([]string{"sweep", "-quiet"}, began...)...)
		variable, next := hanging(t, 1+3*kill)
		cmd.Env = append(cmd.Environ(), variable)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }()
		if kill < 4 {
			next(ended)
		} else {
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		}
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

// Launches are killed at their third sample. Whatever one had written into the journal by
// then is in the file at the end, and the sweep tells of each.
func TestSweepSurvivesKilledLaunches(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	found := make(map[string]bool) // lines of journals
	cmd := program(t, "sweep", "-cache", "in", "-gamma=false", "-launches", "30", "-tau", "1,2", "-m", "64,1K,64K", "-o", file)
	variable, next := hanging(t, 3)
	cmd.Env = append(cmd.Environ(), variable)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	most := kills()
	for kill := range most {
		launch := next(ended)
		if launch == 0 {
			t.Fatalf("it ended after %d kills: %s", kill, said.String())
		}
		readJournals(t, dir, found)
		syscall.Kill(launch, syscall.SIGKILL)
	}
	next(ended)
	cmd.Process.Signal(syscall.SIGINT)
	<-ended
	f := loadParams(t, file)
	kept := make(map[string]bool)
	for _, c := range f.Cells {
		for _, s := range c.Samples {
			kept[fmt.Sprint(f.Launches[s.Launch].Began, ": ", c.Key)] = true
		}
	}
	for visit := range found {
		if !kept[visit] {
			t.Errorf("%s was finished and is lost", visit)
		}
	}
	died := 0
	for _, l := range f.Launches {
		if l.Died {
			died++
		}
	}
	if told := strings.Count(said.String(), "died"); len(found) < most || died != most || told < most {
		t.Errorf("%d visits were seen, %d launches died and %d were told, of %d:\n%s", len(found), died, told, most, said.String())
	}
}

// readJournals adds the visits that the journals in a directory have, by launch.
func readJournals(t *testing.T, dir string, found map[string]bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".*.journal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the run is over
		}
		launch := ""
		for line := range strings.Lines(string(text)) {
			var e struct {
				Launch *params.Launch
				Cell   *params.Key
				Probe  bool
			}
			if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &e) != nil {
				continue
			}
			switch {
			case e.Launch != nil:
				launch = e.Launch.Began
			case e.Cell != nil && !e.Probe:
				found[fmt.Sprint(launch, ": ", *e.Cell)] = true
			}
		}
	}
}
