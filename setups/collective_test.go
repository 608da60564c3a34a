package setups

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/shm"
)

// Every algorithm on real memory: RunCollective fails unless every rank holds what the
// collective promises. That schedules keep promises for any P package collective tests; with
// TAULOP_LONG P is up to 8, and all sizes and roots are carried out by many ranks too.
func TestEveryCollectiveKeepsItsPromise(t *testing.T) {
	sum := must.Get(reduce.Lookup("SUM_I"))
	long := os.Getenv("TAULOP_LONG") != ""
	for _, p := range []int{1, 2, 3, 4, 5, 8} {
		if p > 4 && !long {
			continue
		}
		team := team(t, p)
		for _, a := range collective.All() {
			for _, m := range []int{0, 4, 1000, 20000} {
				for _, arena := range []int{0, 1 << 20} {
					if arena > 0 && m != 1000 || p > 2 && !long && (m != 1000 || p > 3 && arena > 0) {
						continue
					}
					for root := range p {
						if root > 0 && root < p-1 || root > 0 && m != 1000 || root < p-1 && p > 2 && !long {
							continue
						}
						call := collective.Call{P: p, M: m, Root: root, Element: 4, Segment: 1024}
						s, err := a.Schedule(call)
						if err != nil {
							continue // not for this P
						}
						c := Collective{Schedule: s, Segments: 2, SegmentBytes: 1024, Operator: &sum, Runs: 2, ArenaBytes: arena}
						times, err := team.RunCollective(context.Background(), c)
						if err != nil {
							t.Fatalf("%s P=%d m=%d root=%d arena=%d: %v", a, p, m, root, arena, err)
						}
						if len(times) < 1 || !(slices.Min(times) >= 0) {
							t.Fatalf("%s P=%d m=%d: times %v", a, p, m, times)
						}
					}
				}
			}
		}
	}
}

// Every algorithm, with a rank on each CPU that may be used.
func TestCollectivesOnEveryCPU(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil || !shm.Supported {
		t.Skip(err)
	}
	place := must.Get(m.Place(numa.Local, m.Allowed.Len()))
	team := must.Get(NewTeam(place))
	defer team.Close()
	sum := must.Get(reduce.Lookup("SUM_I"))
	done := 0
	for _, a := range collective.All() {
		if !a.Among.Has(team.Tau()) {
			continue
		}
		s := must.Get(a.Schedule(collective.Call{P: team.Tau(), M: 512, Element: 4, Segment: 1024}))
		if _, err := team.RunCollective(context.Background(), Collective{Schedule: s, Segments: 2, SegmentBytes: 1024, Operator: &sum, Runs: 1}); err != nil {
			t.Errorf("%s: %v", a, err)
		}
		if done++; testing.Verbose() { // where CPUs are emulated it takes minutes
			t.Log(a)
		}
	}
	t.Logf("P = %d, %d algorithms", team.Tau(), done)
}

// The check must find a wrong byte in what any rank was promised.
func TestWrongCollectiveIsFound(t *testing.T) {
	sum, _ := reduce.Lookup("SUM_I")
	team := team(t, 3)
	for _, a := range collective.All() {
		s, err := a.Schedule(collective.Call{P: 3, M: 600, Element: 4})
		if err != nil || a.Collective.Empty() {
			continue
		}
		run := must.Get(team.lay(Collective{Schedule: s, Segments: 2, SegmentBytes: 128, Operator: &sum, Runs: 1}))
		if err := team.run(context.Background(), run); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		for id := range run.ranks {
			if !promised(run, id) {
				continue
			}
			recv := run.whole(id, 0, collective.Recv)
			for _, at := range []int{0, len(recv) - 1} {
				recv[at] ^= 1
				if run.check(id, 0) == nil {
					t.Errorf("%s: byte %d of rank %d is wrong and was not found", a, at, id)
				}
				recv[at] ^= 1
			}
		}
		run.unmap()
	}
}

// Off cache, each run is checked where it went: a byte that is wrong there is
// found, and so is one that a run did not bring but an earlier one had left.
func TestWrongCollectiveIsFoundOffCache(t *testing.T) {
	sum, _ := reduce.Lookup("SUM_I")
	team := team(t, 4)
	for _, a := range collective.All() {
		s, err := a.Schedule(collective.Call{P: 4, M: 1000, Element: 4})
		if err != nil || a.Collective.Empty() {
			continue
		}
		c := Collective{Schedule: s, Segments: 2, SegmentBytes: 128, Operator: &sum, Runs: 20, ArenaBytes: 1 << 14}
		if _, err := team.RunCollective(context.Background(), c); err != nil { // round and round
			t.Fatal(err)
		}
		run := must.Get(team.lay(c))
		run.rounds = 2 * (c.Runs + 1) // as if they were over
		for id := range run.ranks {
			if promised(run, id) && run.checkRuns(id) == nil && !run.brings(id, collective.Recv) {
				t.Errorf("%s: rank %d received nothing, and it was not found", a, id)
			}
		}
		if err := team.run(context.Background(), run); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		for id, r := range run.ranks {
			places := r.buffers[collective.Recv].places
			if !promised(run, id) {
				continue
			}
			for _, of := range []int{c.Runs, max(0, c.Runs+1-places)} {
				recv := run.whole(id, of, collective.Recv)
				for _, at := range []int{0, len(recv) - 1} {
					recv[at] ^= 1
					if run.checkRuns(id) == nil {
						t.Errorf("%s: byte %d of rank %d in run %d is wrong and was not found", a, at, id, of)
					}
					recv[at] ^= 1
				}
			}
			if err := run.checkRuns(id); err != nil {
				t.Error(err)
			}
		}
		run.unmap()
	}
}

func promised(run *performance, id int) bool {
	return len(run.Schedule.Promise(id)) > 0
}

// The arenas stay where they are from call to call, and grow with the message.
func TestExchangeIsKept(t *testing.T) {
	team := team(t, 2)
	a, _ := collective.Lookup("allgather:ring")
	arena := func(m, arena int) *region {
		s := must.Get(a.Schedule(collective.Call{P: 2, M: m}))
		c := Collective{Schedule: s, Segments: 2, SegmentBytes: 4096, Runs: 3, ArenaBytes: arena}
		if _, err := team.RunCollective(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		return team.memory.kept[key{of: arenaOfRanks, side: sending}]
	}
	first := arena(1000, 1<<20)
	if e := arena(50000, 1<<20); e != first {
		t.Error("the arenas were mapped again")
	}
	if e := arena(1<<20, 1<<20); len(e.mem) < 4<<20 {
		t.Errorf("arenas of %d bytes hold two results of %d", len(e.mem), 2<<20)
	}
	if team.Release(); len(team.memory.kept) > 0 {
		t.Error("Release kept the arenas")
	}
}
