package setups

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/shm"
)

// The test binary begins itself anew as workers.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == WorkerCommand {
		os.Exit(ServeWorker())
	}
	os.Exit(m.Run())
}

// processTeam is a team of processes on CPUs that may be used, or the test is skipped.
func processTeam(t *testing.T, tau int) *Team {
	t.Helper()
	team := must.Get(NewProcesses(must.Get(must.Get(numa.Discover("/")).Place(numa.Local, tau))))
	t.Cleanup(team.Close)
	return team
}

// skipForbidden skips the test if the kernel forbids single copies.
func skipForbidden(t *testing.T, err error) {
	skip.If(t, err != nil && strings.Contains(err.Error(), shm.ErrForbidden.Error()), "%v", err)
}

// Every byte arrives: by single copies and through segments, with rewritten and unchanged send buffers, in cache and
// off cache. Rewritten buffers hold other bytes in each run, so that old data are not taken for new.
func TestProcesses(t *testing.T) {
	sum := must.Get(reduce.Lookup("SUM_I"))
	var longest float64
	for _, tau := range []int{2, 4} {
		longest = max(longest, testProcesses(t, processTeam(t, tau), &sum))
	}
	check.True(t, longest > 0, "no run of any collective took time") // of a single run a busy machine's clock may leave nothing
}

func testProcesses(t *testing.T, team *Team, sum *reduce.Operator) (longest float64) {
	t.Helper()
	for _, tt := range []struct {
		algorithm string
		m         int
	}{
		{"couples:pair", 0}, {"couples:pair", 1}, {"couples:pair", 100_000}, {"permutation:shift", 4096}, {"readers:all", 70_001}, {"copied-couples:pair", 9000}, {"copied-permutation:shift", 9000},
		{"allgather:ring", 5000}, {"allreduce:recursive-doubling", 4000}, {"bcast:sm-tree", 20_000}, {"barrier:dissemination", 0}, {"scatter:binomial", 333},
	} {
		a := collective.PatternNamed(tt.algorithm)
		if a == nil {
			a = must.Get(collective.Lookup(tt.algorithm))
		}
		s := must.Get(a.Schedule(collective.Call{P: team.Tau(), M: tt.m, Distance: 1, Element: 4}))
		for _, c := range []Collective{
			{Single: true, Rewritten: true}, {Single: true}, {Single: true, Null: true}, {Single: true, ArenaBytes: 1 << 20}, {Segments: 2, SegmentBytes: 1024}, {Segments: 2, SegmentBytes: 1024, Rewritten: true},
		} {
			if tt.algorithm == "readers:all" && !c.Single {
				continue
			}
			c.Schedule, c.Runs, c.Operator = s, 7, sum
			ns, err := team.RunCollective(context.Background(), c)
			skipForbidden(t, err)
			check.Need(t, err == nil && len(ns) != 0, "P = %d, %s, m = %d, %+v: %v, %d times", team.Tau(), tt.algorithm, tt.m, c, err, len(ns))
			longest = max(longest, slices.Max(ns))
		}
	}
	return longest
}

// Processes tell whether their arenas were off cache, each arena once: later calls do not initialise it again.
func TestProcessesTellLoads(t *testing.T) {
	s := must.Get(collective.Permutation.Schedule(collective.Call{P: 2, M: 1000, Distance: 1}))
	team := processTeam(t, 2)
	for range 3 {
		_, err := team.RunCollective(t.Context(), Collective{Schedule: s, Single: true, Runs: 3, ArenaBytes: 8 << 20})
		skipForbidden(t, err)
		must.Do(err)
		l := team.Loads()
		skip.If(t, team.placement.Oversubscribed || l.Buffers == 0 && l.Next == 0, "nothing can be read here")
		check.True(t, l.Buffers == 4 && l.Next > 0, "%+v, want those of two arenas of two ranks", l)
	}
}

// A receiver that does not hold the data of the last run fails the check.
func TestProcessesProveBytes(t *testing.T) {
	s := must.Get(collective.Couples.Schedule(collective.Call{P: 2, M: 1000}))
	team := processTeam(t, 2)
	run := must.Get(team.lay(Collective{Schedule: s, Single: true, Rewritten: true, Runs: 3}))
	defer run.unmap()
	run.rounds = 4 // the warm-up and one run
	for i, at := range []int{run.brought(0, 1), run.brought(0, 0)} {
		lay(run.ranks[1].buffers[collective.Recv].mem, run.team.patterns[0], at)
		check.Equal(t, run.checkRuns(1) == nil, i == 0, "the bytes of run %d are right", 1-i)
	}
	check.True(t, run.brought(0, 0) != run.brought(0, 1), "two runs bring the same bytes")
}

// If a worker's process dies, the run ends before the watchdog would end it, the error names the
// worker, and the team is unusable; Close does not wait.
func TestProcessDies(t *testing.T) {
	team := processTeam(t, 2)
	s := must.Get(collective.Permutation.Schedule(collective.Call{P: 2, M: 1 << 20, Distance: 1}))
	c := Collective{Schedule: s, Single: true, Runs: 200_000}
	time.AfterFunc(300*time.Millisecond, func() { syscall.Kill(team.processes.ids[1], syscall.SIGKILL) })
	_, err := team.RunCollective(context.Background(), c)
	skipForbidden(t, err)
	contains.Error(t, err, "worker 1 on CPU", "killed")
	contains.None(t, err.Error(), "progress")
	check.Equal(t, fmt.Sprint(must.Err(team.RunCollective(context.Background(), c))), err.Error(), "again")
}

// A run that is cancelled ends, and the team goes on with the next.
func TestProcessesStop(t *testing.T) {
	team := processTeam(t, 2)
	s := must.Get(collective.Permutation.Schedule(collective.Call{P: 2, M: 1 << 20, Distance: 1}))
	c := Collective{Schedule: s, Segments: 2, SegmentBytes: 8192, Runs: 200_000}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	check.ErrorIs(t, must.Err(team.RunCollective(ctx, c)), context.DeadlineExceeded, "RunCollective")
	c.Runs = 5
	check.NoError(t, must.Err(team.RunCollective(context.Background(), c)), "RunCollective")
}

// Teams close all files that they opened: a launch has many teams and collects no garbage.
func TestProcessesCloseFiles(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	open := func() int { files, err := os.ReadDir("/proc/self/fd"); skip.Error(t, err); return len(files) }
	place := processTeam(t, 2).placement
	before := open()
	for range 3 {
		must.Get(NewProcesses(place)).Close()
	}
	check.AtMost(t, open(), before, "open files")
}

// BenchmarkProcesses sends the same messages between two threads and between two processes, for bench/processes.sh.
func BenchmarkProcesses(b *testing.B) {
	place := must.Get(must.Get(numa.Discover("/")).Place(numa.Local, 2))
	for _, a := range []*collective.Algorithm{collective.Couples, collective.Permutation} {
		for _, bytes := range []int{1, 1 << 10, 8 << 10, 64 << 10, 1 << 20} {
			s := must.Get(a.Schedule(collective.Call{P: 2, M: bytes, Distance: 1}))
			for who, begin := range map[string]func(numa.Placement) (*Team, error){"threads": NewTeam, "processes": NewProcesses} {
				b.Run(fmt.Sprintf("%s/%d/%s", a.Collective.Name, bytes, who), func(b *testing.B) {
					team := must.Get(begin(place))
					defer team.Close()
					sample := must.Get(team.Sample(context.Background(), Collective{Schedule: s, Segments: 2, SegmentBytes: 8 << 10}, 0))
					b.ReportMetric(sample.NS, "ns/message")
				})
			}
		}
	}
}
