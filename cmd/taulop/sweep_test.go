package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// A second sweep into the same file is an error.
func TestTwoSweepsIntoOneFile(t *testing.T) {
	t.Parallel()
	needLinux(t)
	file := filepath.Join(t.TempDir(), "host.json")
	lock := flock.New(file + ".lock")
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Unlock()
	_, _, err := run(t, "sweep", "-o", file)
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "another taulop") {
		t.Errorf("second sweep: %v", err)
	}
}

// small is a changed file of a short sweep.
func small(t *testing.T, change func(*params.File)) (file string) {
	t.Helper()
	needLinux(t)
	file = filepath.Join(t.TempDir(), "host.json")
	ran(t, strings.Fields("sweep -quiet -launches 6 -time 10m -cache in -gamma=false -tau 1 -m 64 -o "+file)...)
	f := loadParams(t, file)
	change(f)
	saveParams(t, f, file)
	return file
}

// A sweep ends when its file is full. The file stays as last saved, and the journal has the rest.
func TestSweepAddsToAFullFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads and writes 65536 launches again and again")
	}
	file := small(t, func(f *params.File) {
		l := params.Launch{Began: f.Launches[0].Began}
		for len(f.Launches) < 1<<16 { // the most that there may be
			f.Launches = append(f.Launches, l)
		}
	})
	_, _, err := run(t, "sweep", "-quiet", "-launches", "6", "-time", "10m", "-add", file)
	if exitStatus(err) != 2 || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), file+" was not written: ") || !strings.HasSuffix(err.Error(), "journal has what it lacks") {
		t.Errorf("exit %d, %v", exitStatus(err), err)
	}
	if _, err := params.ReadFile(file); err != nil {
		t.Error(err)
	}
	journal := load(t, filepath.Dir(file), ".host.json.journal")
	if readings := strings.Count(journal, `"ns":`); readings == 0 {
		t.Errorf("no reading is in the journal: %.300s", journal)
	}
}

// A sweep touches no other file, whatever its file names as the journal.
func TestSweepTouchesNoOtherFile(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"victim.json", ".mine.journal", "../victim.json", ".host.json.journal", ""} {
		file := small(t, func(f *params.File) { f.Journal = says })
		others := []string{"victim.json", ".mine.journal", ".host.json.journal"}
		for _, name := range others {
			save(t, filepath.Dir(file), name, "precious\n")
		}
		_, said, err := run(t, "sweep", "-launches", "6", "-time", "10m", "-add", file)
		if err != nil || !strings.Contains(plain(said), "move it away") || strings.Contains(plain(said), "has the mark of a journal") != (says != "") {
			t.Errorf("%q: %v, %s", says, err, said)
		}
		for _, name := range others {
			if text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name)); err != nil || string(text) != "precious\n" {
				t.Errorf("%q: %s is %q, %v", says, name, text, err)
			}
		}
		if f, err := params.ReadFile(file); err != nil || f.Journal != "" || f.Sessions() != 2 {
			t.Errorf("%q: %v", says, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1+len(others) {
			t.Errorf("%q: left %v", says, left)
		}
	}
}

// plain is a text without line breaks.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

func keepsAll(t *testing.T, before, after *params.File) {
	t.Helper()
	if before == nil {
		return
	}
	cells := make(map[params.Key]params.Cell)
	for _, c := range after.Cells {
		cells[c.Key] = c
	}
	for _, c := range before.Cells {
		now := cells[c.Key].Samples
		if len(now) < len(c.Samples) || !slices.Equal(now[:len(c.Samples)], c.Samples) {
			t.Fatalf("%+v had %v, now %v", c.Key, c.Samples, now)
		}
	}
}

// A sweep without time for a cell leaves no new file, and an existing one unchanged.
func TestNothingSwept(t *testing.T) {
	if !shm.Supported {
		t.Skip("no measuring here")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "z.json")
	for _, how := range []string{"-o", "-resume"} {
		out, _, err := run(t, "sweep", "-quiet", "-time", "1ns", how, file)
		if exitStatus(err) != 3 || !strings.HasPrefix(err.Error(), "nothing was measured within -time 1ns") || out != "" {
			t.Errorf("%s: exit %d, %v, %q", how, exitStatus(err), err, out)
		}
		entries, _ := os.ReadDir(dir)
		if there := len(entries) > 0; there != (how == "-resume") || len(entries) > 1 {
			t.Errorf("%s leaves %v", how, entries)
		}
		if how == "-o" { // one that a sweep was interrupted in before its first cell
			req := must.Get(parseSweep([]string{"-o", file, "-tau", "1", "-m", "64"}))
			machine, err := numa.Discover("/")
			if err != nil {
				t.Skip(err)
			}
			req.Warn = func(error) {}
			s := must.Get(sweep.Open(req.Request, machine))
			s.Close()
			saveParams(t, s.File, file)
		}
	}
}

// The first setup of a plan is the default of predictions, and never share, copies out of one buffer. The
// first number and size of segments of a list are what a plan without lists has. -node is no part of a plan,
// so that -resume and -add take it.
func TestSweepPlans(t *testing.T) {
	plans := map[string]params.Plan{
		"-setup share,bcast,share -o x.json":                        {Setups: []string{"bcast", "share"}, Segments: 2, SegmentBytes: 8192},
		"-setup ring -segments 4,2:8 -segment 32K,8K,32K -o x.json": {Setups: []string{"ring"}, Segments: 4, MoreSegments: []int{2, 8}, SegmentBytes: 32 << 10, MoreSegmentBytes: []int{8192}},
	}
	if m, err := numa.Discover("/"); err == nil && len(m.Nodes) == 1 { // of several, -node begins the test anew on one
		plans[fmt.Sprintf("-node %d -add x.json", m.Nodes[0].ID)] = params.Plan{}
		plans[fmt.Sprintf("-node %d -resume x.json", m.Nodes[0].ID)] = params.Plan{}
	}
	for line, want := range plans {
		req, err := parseSweep(strings.Fields(line))
		if p := req.Plan; err != nil || want.Setups != nil && !slices.Equal(p.Setups, want.Setups) || !slices.Equal(p.AllSegments(), want.AllSegments()) || !slices.Equal(p.AllSegmentBytes(), want.AllSegmentBytes()) {
			t.Errorf("%s: %v, %+v", line, err, p)
		}
	}
}
