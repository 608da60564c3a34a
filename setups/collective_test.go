package setups

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/reduce"
)

// schedules are the schedules of every algorithm and pattern that exists among p ranks, with the first
// and the last root and distance.
func schedules(t testing.TB, p, m int) (all []*collective.Schedule) {
	t.Helper()
	of := func(a *collective.Algorithm, root, distance int) {
		c := collective.Call{P: p, M: m, Root: root, Distance: distance, Element: 4, Segment: 1024}
		s, err := a.Schedule(c)
		if err == nil && s.Call.Root == root && s.Call.Distance == distance { // else it ignores one of them
			all = append(all, s)
		}
	}
	for _, a := range append(collective.All(), collective.Permutation, collective.PingPong, collective.Dealing) {
		for _, root := range slices.Compact([]int{0, p - 1}) {
			for _, distance := range slices.Compact([]int{0, min(1, p-1), p - 1}) {
				of(a, root, distance)
			}
		}
	}
	return all
}

// RunCollective succeeds for every algorithm and pattern, which proves that every rank holds its
// promised data, also with a rank on each allowed CPU. Package collective tests schedules for any P;
// with TAULOP_LONG P is up to 8, and many ranks carry out all sizes.
func TestEveryCollectiveKeepsItsPromise(t *testing.T) {
	sum := must.Get(reduce.Lookup("SUM_I"))
	long := os.Getenv("TAULOP_LONG") != ""
	place(t, 1) // skips the test where there is no topology
	cpus := must.Get(numa.Discover("/")).Allowed.Len()
	for p := range max(9, cpus+1) {
		if p == 0 || p != cpus && (p > 8 || p > 4 && !long) {
			continue
		}
		team := team(t, p)
		for _, m := range []int{0, 4, 1000, 20000} {
			for _, arena := range []int{0, 1 << 20} {
				if arena > 0 && m != 1000 || p > 2 && !long && (m != 1000 || p > 3 && arena > 0) {
					continue
				}
				for _, s := range schedules(t, p, m) {
					c := Collective{Schedule: s, Segments: 2, SegmentBytes: 1024, Operator: &sum, Runs: 2, ArenaBytes: arena}
					times, err := team.RunCollective(context.Background(), c)
					check.Need(t, err == nil && len(times) >= 1 && slices.Min(times) >= 0, "%s %+v arena=%d: %v, %v", s.Algorithm, s.Call, arena, times, err)
				}
			}
		}
	}
}

// The check finds a wrong byte in the data of any rank. Off cache it checks each run at its own place,
// and finds data that an earlier run left there.
func TestWrongCollectiveIsFound(t *testing.T) {
	sum, _ := reduce.Lookup("SUM_I")
	for p, c := range map[int]Collective{3: {Runs: 1}, 4: {Runs: 20, ArenaBytes: 1 << 14}} {
		c.Segments, c.SegmentBytes, c.Operator = 2, 128, &sum
		team := team(t, p)
		for _, c.Schedule = range schedules(t, p, 1000) {
			if all := c.Schedule.Algorithm; !all.Collective.Empty() && (c.Schedule.Call.Root > 0 || !all.Collective.Rooted) {
				wrongIsFound(t, team, c)
			}
		}
	}
}

func wrongIsFound(t *testing.T, team *Team, c Collective) {
	t.Helper()
	if c.ArenaBytes > 0 { // round and round
		must.Get(team.RunCollective(context.Background(), c))
	}
	run := must.Get(team.lay(c))
	defer run.unmap()
	run.rounds = 2 * (c.Runs + 1) // as if they were over
	for id := range run.ranks {
		check.True(t, !promised(run, id) || run.checkRuns(id) != nil || run.brings(id, collective.Recv),
			"%s: rank %d received nothing, and it was not found", c.Schedule.Algorithm, id)
	}
	must.Do(team.run(context.Background(), run))
	for id, r := range run.ranks {
		if !promised(run, id) {
			continue
		}
		for _, of := range []int{c.Runs, max(0, c.Runs+1-r.buffers[collective.Recv].places)} {
			recv := run.whole(id, of, collective.Recv)
			for _, at := range []int{0, len(recv) - 1} {
				recv[at] ^= 1
				check.Error(t, run.checkRuns(id), "%s: byte %d of rank %d in run %d is wrong and was not found", c.Schedule.Algorithm, at, id, of)
				recv[at] ^= 1
			}
		}
		check.NoError(t, run.checkRuns(id), "checkRuns")
	}
}

func promised(run *performance, id int) bool { return len(run.Schedule.Promise(id)) > 0 }

// Arenas stay mapped from call to call until a message is larger than half of one: each has room for two.
func TestArenasGrow(t *testing.T) {
	team := team(t, 2)
	ring := must.Get(collective.Lookup("allgather:ring"))
	var last *region
	for _, tt := range []struct {
		m     int // of two ranks' results
		grows bool
	}{{1000, true}, {50000, false}, {1 << 20, true}, {1000, false}} {
		s := must.Get(ring.Schedule(collective.Call{P: 2, M: tt.m}))
		must.Get(team.RunCollective(t.Context(), Collective{Schedule: s, Segments: 2, SegmentBytes: 4096, Runs: 3, ArenaBytes: 1 << 20}))
		is := team.memory.kept[key{of: arena, side: sending}]
		check.True(t, len(is.mem) >= 2*2*tt.m && tt.grows != (is == last),
			"blocks of %d bytes: an arena of %d bytes, mapped again: %v", tt.m, len(is.mem), is != last)
		last = is
	}
	team.Release()
	check.Equal(t, len(team.memory.kept), 0, "arenas that Release kept")
}
