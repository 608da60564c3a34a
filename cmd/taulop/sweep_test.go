package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A second sweep into the same file is an error.
func TestTwoSweepsIntoOneFile(t *testing.T) {
	t.Parallel()
	needLinux(t)
	file := filepath.Join(t.TempDir(), "host.json")
	lock := flock.New(file + ".lock")
	ok, err := lock.TryLock()
	check.Need(t, ok && err == nil, "%v %v", ok, err)
	defer lock.Unlock()
	fails(t, must.Err2(run(t, "sweep", "-o", file)), 2, "another taulop")
}

// small is a changed file of a short sweep.
func small(t *testing.T, change func(*params.File)) (file string) {
	t.Helper()
	needLinux(t)
	file = filepath.Join(t.TempDir(), "host.json")
	ran(t, strings.Fields("sweep -quiet -launches 6 -time 10m -cache in -gamma=false -tau 1 -m 64 -o "+file)...)
	f := loadParams(t, file)
	change(f)
	return saveParams(t, f, file)
}

// A sweep ends when its file is full. The file stays as last saved, and the journal has the rest.
func TestSweepAddsToAFullFile(t *testing.T) {
	t.Parallel()
	skip.Short(t, "reads and writes 65536 launches again and again")
	file := small(t, func(f *params.File) {
		l := params.Launch{Began: f.Launches[0].Began}
		for len(f.Launches) < 1<<16 { // the most that there may be
			f.Launches = append(f.Launches, l)
		}
	})
	_, _, err := run(t, "sweep", "-quiet", "-launches", "6", "-time", "10m", "-add", file)
	check.True(t, exitStatus(err) == 2 && !strings.Contains(err.Error(), "\n") && strings.HasPrefix(err.Error(), file+" was not written: ") && strings.HasSuffix(err.Error(), "journal has what it lacks"),
		"exit %d, %v", exitStatus(err), err)
	check.NoError(t, must.Err(params.ReadFile(file)), "ReadFile")
	journal := load(t, filepath.Dir(file), ".host.json.journal")
	check.True(t, strings.Count(journal, `"ns":`) != 0, "no reading is in the journal: %.300s", journal)
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
		check.True(t, err == nil && strings.Contains(plain(said), "move it away") && strings.Contains(plain(said), "has the mark of a journal") == (says != ""),
			"%q: %v, %s", says, err, said)
		for _, name := range others {
			check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(filepath.Dir(file), name)))), "precious\n", "%q: %s", says, name)
		}
		f := loadParams(t, file)
		check.True(t, f.Journal == "" && f.Sessions() == 2, "%q: journal %q, %d sessions", says, f.Journal, f.Sessions())
		check.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(file)))), 1+len(others), "%q: files left", says)
	}
}

// A session warns of what holds now; the file keeps warnings of earlier ones.
func TestSessionWarnsOfItself(t *testing.T) {
	t.Parallel()
	const earlier = "the load of the minute before was 777.00: stop what else runs here"
	file := small(t, func(f *params.File) {
		f.Provenance.Load, f.Provenance.Hypervisor = []float64{777}, "KVM"
		f.Warnings = append(f.Warnings, earlier)
	})
	_, said, err := run(t, "sweep", "-launches", "6", "-time", "10m", "-add", file)
	f := loadParams(t, file)
	check.True(t, err == nil && !strings.Contains(said, "777") && slices.Contains(f.Warnings, earlier), "%v, %q\n%s", err, f.Warnings, said)
}

// plain is a text without line breaks.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

func keepsAll(t *testing.T, before, after *params.File) {
	t.Helper()
	if before == nil {
		return
	}
	cells := lists.ToMap(after.Cells, func(c params.Cell) (params.Key, params.Cell) { return c.Key, c })
	for _, c := range before.Cells {
		now := cells[c.Key].Samples
		check.Need(t, len(now) >= len(c.Samples) && slices.Equal(now[:len(c.Samples)], c.Samples), "%+v had %v, now %v", c.Key, c.Samples, now)
	}
}

// A sweep without time for a cell leaves no new file, and keeps an existing one, which was interrupted before
// its first cell.
func TestNothingSwept(t *testing.T) {
	needLinux(t)
	for how, file := range map[string]string{"-o": filepath.Join(t.TempDir(), "z.json"), "-resume": resumable(t, func(*params.Plan) {})} {
		out, _, err := run(t, "sweep", "-quiet", "-time", "1ns", how, file)
		fails(t, err, 3, "nothing was measured within -time 1ns")
		check.Equal(t, out, "", "printed")
		check.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(file)))), map[string]int{"-resume": 1}[how], "%s: files left", how)
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
		req, flags := &sweepRequest{}, argument.NewSet("taulop")
		req.flags(flags)
		_, err := flags.Parse(strings.Fields(line))
		err = cmp.Or(err, flags.Checked())
		p := req.Plan
		check.True(t, err == nil && (want.Setups == nil || slices.Equal(p.Setups, want.Setups)) && slices.Equal(p.AllSegments(), want.AllSegments()) && slices.Equal(p.AllSegmentBytes(), want.AllSegmentBytes()),
			"%s: %v, %+v", line, err, p)
	}
}

// frugal runs a command, and fails if that allocates too much memory.
func frugal(t *testing.T, line ...string) (out string, err error) {
	t.Helper()
	const most = 256 << 20
	check.AtMost(t, check.Allocated(func() { out, _, err = run(t, line...) }), most, "bytes that %q allocated", line)
	return out, err
}

// A plan that no sweep can carry out is an error, before memory is allocated, and the file stays unchanged.
func TestHostilePlans(t *testing.T) {
	needLinux(t)
	try := func(change func(*params.Plan), want string) {
		t.Helper()
		file := resumable(t, change)
		before := load(t, file)
		_, err := frugal(t, "sweep", "-quiet", "-resume", file)
		fails(t, err, 2, want)
		check.Equal(t, string(must.Get(os.ReadFile(file))), before, "%q: the file has changed", want)
	}
	try(func(p *params.Plan) { p.SegmentBytes = 0 }, "segments of 0 bytes")
	try(func(p *params.Plan) { p.Segments = 0 }, "0 segments")
	try(func(p *params.Plan) { p.SegmentBytes = 1 << 50 }, "memory")
	try(func(p *params.Plan) { p.Segments = 1 << 50 }, "memory")
	try(func(p *params.Plan) { p.Taus = []int{100_000_000} }, "τ = 100000000")
	try(func(p *params.Plan) { p.Taus = []int{1 << 30} }, "τ = 1073741824")
	try(func(p *params.Plan) { p.Taus, p.Sizes = upTo(1<<13), upTo(1<<16) }, "more than 1048576 cells")
	try(func(p *params.Plan) { p.Sizes = []int{1 << 50} }, "memory")
	try(func(p *params.Plan) { p.ArenaCaches, p.Caches = 512, []bool{true} }, "512 times what caches hold")
	try(func(p *params.Plan) { p.Caches = nil }, "states of the cache")
	try(func(p *params.Plan) { p.Policies = []numa.Policy{numa.List} }, "no CPU")
	try(func(p *params.Plan) { p.Policies, p.CPUs = []numa.Policy{numa.List}, []int{1 << 30} }, "does not exist")
	try(func(p *params.Plan) { p.Policies = []numa.Policy{params.Published} }, "not measured by a sweep")
}

// resumable is a file of a sweep on this machine with a changed plan and no cells.
func resumable(t testing.TB, change func(*params.Plan)) string {
	t.Helper()
	m := surveytest.Machine(t, 1)
	f := &params.File{Provenance: provenance.Read("/", m), Placements: []numa.Placement{must.Get(m.Place(numa.Local, 1))},
		Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Taus: []int{1}, Sizes: []int{64}, Segments: 2,
			SegmentBytes: 64, Caches: []bool{false}, NoGamma: true, Budget: 0.01, Width: 0.5}}
	change(&f.Plan)
	return saveParams(t, f, t.TempDir(), "host.json")
}

func upTo(n int) []int { return lists.Indices(n + 1)[1:] }

// Measurements before Ctrl-C are printed and saved by -save, and the error says so.
func TestStoppedPatterns(t *testing.T) {
	needLinux(t)
	save := filepath.Join(t.TempDir(), "host.json")
	for flags, want := range map[string]string{"-save " + save: "the measured patterns are in " + save, "": "were measured"} {
		out, err := stoppedInTime(t, 250, strings.Fields("verify -patterns -cache in -m 1K:1M -time 1m -oversubscribe -P 2 "+flags+" ping-pong")...)
		fails(t, err, 130, want)
		contains.All(t, out, "ping-pong")
	}
	patterns := lists.Filter(loadParams(t, save).Cells, func(c params.Cell) bool { return c.Kind == params.PatternCell })
	for _, c := range patterns {
		check.True(t, len(c.Samples) != 0 && c.Time.Center > 0, "%s of %d bytes: %+v", c.Variant, c.Bytes, c.Time)
	}
	check.True(t, len(patterns) != 0 && len(patterns) <= 2*11, "%d cells of patterns, want up to 22", len(patterns))
}

// A survey that did not reach its cells says how much time they take.
func TestTimeForTheRest(t *testing.T) {
	needLinux(t)
	out, err := stoppedInTime(t, 20, strings.Fields("access -n 1K -stride 1,2 -time 10m")...)
	check.Equal(t, exitStatus(err), 130, "exit status of %v", err)
	contains.All(t, out, "not reached", "\nAllow about -time ")
}

// A sweep without a result leaves the file that it was to replace.
func TestNothingReplaced(t *testing.T) {
	needLinux(t)
	host := save(t, t.TempDir(), "host.json", "old\n")
	_, err := stoppedInTime(t, 1, "sweep", "-force", "-time", "10m", "-o", host)
	fails(t, err, 130, "as it was")
	check.Equal(t, load(t, host), "old\n", "the file")
	check.Equal(t, len(must.Get(filepath.Glob(filepath.Join(filepath.Dir(host), "*")))), 1, "files left")
}

func TestLacking(t *testing.T) {
	try := func(req verifyRequest, outOfTime bool, want string) {
		t.Helper()
		status := 2
		if outOfTime {
			status = 3
		}
		fails(t, req.lacking(errors.New("host.json: no cells"), outOfTime), status, want)
	}
	try(verifyRequest{Request: verify.Request{Time: time.Second}}, true, "fewer -m or -cache")
	try(verifyRequest{Request: verify.Request{Time: time.Second}, save: "host.json"}, true, "the patterns are in host.json")
	try(verifyRequest{Request: verify.Request{Source: "host.json"}}, false, "for host.json: no cells")
	try(verifyRequest{save: "host.json"}, false, "for host.json: no cells; the patterns are in host.json")
}

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
		check.Need(t, err == nil, "kill %d: %v", kill, err)
		keepsAll(t, before, after)
		before, began = after, []string{"-resume", file}
	}
	check.Need(t, before != nil, "no file after all kills")
	out, err := program(t, "sweep", "-quiet", "-resume", file).CombinedOutput()
	check.Need(t, err == nil, "%v\n%s", err, out)
	after, err := params.ReadFile(file)
	check.Need(t, err == nil && after.Complete, "resumed to the end: %v, complete %v", err, after.Complete)
	keepsAll(t, before, after)
	for _, c := range after.Cells {
		check.True(t, c.Time.Known(), "no interval: %+v", c.Key)
	}
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".taulop-") }) // killed while it was written
	check.True(t, err == nil && len(entries) == 1, "left in the directory: %v, %v; want the file", entries, err)
}

// What two sessions leave open is no fault of the machine: a third one tells.
func TestReached(t *testing.T) {
	for sessions, want := range map[int]string{1: "let nothing else run", 2: "adds a third session", 3: "let nothing else run"} {
		s := &sweep.Session{Experiment: &engine.Experiment{File: &params.File{Launches: []params.Launch{{Session: sessions - 1}}}}, Request: sweep.Request{Path: "host.json"}}
		r := reached(s)
		check.True(t, strings.Contains(r.More, want), "%d sessions: %q, want %q", sessions, r.More, want)
	}
	for began, want := range map[string]string{"2026-11-21T10:50:00Z": "Its 2 sessions are of 1 hour: taulop sweep -add host.json, an hour later or more", "2026-11-21T11:00:00Z": "Nothing is left to do: it has 2 sessions."} {
		file := &params.File{Launches: []params.Launch{{Began: "2026-11-21T10:00:00Z"}, {Session: 1, Began: began}}}
		r := reached(&sweep.Session{Experiment: &engine.Experiment{File: file}, Request: sweep.Request{Path: "host.json"}})
		check.True(t, strings.HasPrefix(r.Again, want), "a second session at %s: %q", began, r.Again)
	}
}
