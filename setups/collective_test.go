package setups

import (
	"context"
	"testing"

	"github.com/taulop/taulop/collective"
)

// Every algorithm on real memory, P up to 8, any root: RunCollective fails
// unless every rank holds what the collective promises.
func TestEveryCollectiveKeepsItsPromise(t *testing.T) {
	sum, err := LookupOperator("SUM_I")
	if err != nil {
		t.Fatal(err)
	}
	for p := 1; p <= 8; p++ {
		team := team(t, p)
		for _, a := range collective.All() {
			for _, m := range []int{0, 4, 1000, 20000} {
				for _, arena := range []int{0, 1 << 20} {
					for root := range p {
						if root > 0 && root < p-1 || root > 0 && m != 1000 {
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
						if len(times) != 2 || p > 1 && !(times[0] > 0) {
							t.Fatalf("%s P=%d m=%d: times %v", a, p, m, times)
						}
					}
				}
			}
		}
	}
}

// The check must find a wrong byte in what any rank was promised.
func TestWrongCollectiveIsFound(t *testing.T) {
	sum, _ := LookupOperator("SUM_I")
	team := team(t, 3)
	for _, a := range collective.All() {
		s, err := a.Schedule(collective.Call{P: 3, M: 600, Element: 4})
		if err != nil || a.Collective == "barrier" {
			continue
		}
		run, err := team.lay(Collective{Schedule: s, Segments: 2, SegmentBytes: 128, Operator: &sum, Runs: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := team.run(context.Background(), run); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		for id := range run.ranks {
			recv := run.whole(id, 0, collective.Recv)
			if len(recv) == 0 || a.Collective == "reduce" && id != 0 {
				continue // promised nothing
			}
			for _, at := range []int{0, len(recv) - 1} {
				recv[at] ^= 1
				if run.check(id, 0) == nil {
					t.Errorf("%s: byte %d of rank %d is wrong and was not found", a, at, id)
				}
				recv[at] ^= 1
			}
		}
		for _, r := range run.regions {
			r.Close()
		}
	}
}
