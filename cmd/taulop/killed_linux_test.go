package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/params"
)

// TestSweepSurvivesKilledLaunches kills launches, one half at random moments, the other
// when they have measured something. Whatever a launch had written into the journal by
// then is in the file at the end.
func TestSweepSurvivesKilledLaunches(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	dir := t.TempDir()
	program, file := build(t), filepath.Join(dir, "host.json")
	most := times(t, killsEnv, 12)
	plan := []string{"sweep", "-cache", "in", "-gamma=false", "-launches", "30", "-tau", "1,2", "-budget", "600s", "-o", file}
	resume := []string{"sweep", "-resume", file}
	random := randtest.New(t)
	found := make(map[string]bool) // lines of journals
	var said bytes.Buffer
	kills, runs := 0, 0
	for args := plan; kills < most; args = resume {
		if runs++; runs > most {
			t.Fatalf("%d runs for %d kills: %s", runs, kills, said.String())
		}
		cmd := exec.Command(program, args...)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for running := true; running && kills < most; {
			wait, seen := time.After(time.Duration(20+random.IntN(600))*time.Millisecond), len(found)
			for waiting := true; waiting; {
				select {
				case <-ended:
					waiting, running = false, false
				case <-wait:
					readJournals(t, dir, found)
					waiting = kills%2 == 1 && len(found) == seen
					wait = time.After(20 * time.Millisecond)
				}
			}
			if !running {
				continue
			}
			for _, launch := range children(cmd.Process.Pid) {
				if syscall.Kill(launch, syscall.SIGKILL) == nil {
					kills++
				}
			}
			readJournals(t, dir, found)
		}
		if kills >= most { // the next run resumes the rest
			cmd.Process.Signal(syscall.SIGINT)
			<-ended
		}
	}
	if out, err := exec.Command(program, "sweep", "-resume", file, "-budget", "5s").CombinedOutput(); err != nil && !strings.Contains(string(out), "incomplete") {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := params.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
	if len(found) == 0 || died < most/4 { // a launch that dies before its first reading is no launch of the file
		t.Errorf("%d visits were seen and %d launches died, of %d kills", len(found), died, kills)
	}
	if n := strings.Count(said.String(), "died"); n < most/4 {
		t.Errorf("%d kills, and %d were told:\n%s", kills, n, said.String())
	}
}

// children are the processes that a process began.
func children(pid int) (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		more, _ := os.ReadFile(task)
		text = append(append(text, ' '), more...)
	}
	for _, word := range strings.Fields(string(text)) {
		var child int
		if _, err := fmt.Sscan(word, &child); err == nil && !slices.Contains(pids, child) {
			pids = append(pids, child)
		}
	}
	return pids
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
