package setups

import (
	"context"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
)

// patterns yields every pattern among p ranks.
func patterns(t *testing.T, p, m int) (all []*collective.Schedule) {
	t.Helper()
	for _, a := range []*collective.Algorithm{collective.Permutation, collective.PingPong, collective.Dealing} {
		for root := range p {
			for d := range p {
				s, err := a.Schedule(collective.Call{P: p, M: m, Root: root, Distance: d})
				if err == nil && s.Call.Root == root && s.Call.Distance == d { // else it ignores one of them
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// Every pattern on real memory, in cache and off.
func TestEveryPatternKeepsItsPromise(t *testing.T) {
	for p := 1; p <= 5; p++ {
		team := team(t, p)
		for _, m := range []int{1, 1000, 20000} {
			for _, arena := range []int{0, 1 << 20} {
				for _, s := range patterns(t, p, m) {
					c := Collective{Schedule: s, Segments: 2, SegmentBytes: 1024, Runs: 2, ArenaBytes: arena}
					if _, err := team.RunCollective(context.Background(), c); err != nil {
						t.Fatalf("%s %+v arena=%d: %v", s.Algorithm, s.Call, arena, err)
					}
				}
			}
		}
	}
}

// The check must find a wrong byte in what any rank was promised.
func TestWrongPatternIsFound(t *testing.T) {
	team := team(t, 3)
	found := 0
	for _, s := range patterns(t, 3, 600) {
		run := must.Get(team.lay(Collective{Schedule: s, Segments: 2, SegmentBytes: 128, Runs: 1}))
		if err := team.run(context.Background(), run); err != nil {
			t.Fatalf("%s: %v", s.Algorithm, err)
		}
		for id := range run.ranks {
			recv := run.whole(id, 0, collective.Recv)
			if len(recv) == 0 {
				continue
			}
			for _, at := range []int{0, len(recv) - 1} {
				recv[at] ^= 1
				if run.check(id, 0) == nil {
					t.Errorf("%s %+v: byte %d of rank %d is wrong and was not found", s.Algorithm, s.Call, at, id)
				}
				recv[at] ^= 1
				found++
			}
		}
		run.unmap()
	}
	// 2 permutations with 3 receivers, 6 pairs with 2, 3 roots with 2; 2 bytes each.
	if want := 2 * (2*3 + 6*2 + 3*2); found != want {
		t.Errorf("%d bytes tried, want %d", found, want)
	}
}
