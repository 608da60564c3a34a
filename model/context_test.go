package model

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
)

// A whole segment costs what it costs in its message, all else what it costs by
// itself.
func TestInContext(t *testing.T) {
	c := InContext{Parameters: plain{}, Segment: 1000, Message: 5000}
	for _, tt := range []struct{ got, want float64 }{
		{first(c.L(1000, 2)), l(5000, 2)},
		{first(c.L(999, 2)), l(999, 2)},
		{first(InContext{Parameters: plain{}, Segment: 1000, Message: 500}.L(1000, 2)), l(1000, 2)},
	} {
		if tt.got != tt.want {
			t.Errorf("%g, want %g", tt.got, tt.want)
		}
	}
}

func first(v float64, _ bool) float64 { return v }

// doubled is plain, twice as slow.
type doubled struct{ plain }

func (doubled) L(m, tau int) (float64, bool) { return 2 * l(m, tau), false }

// Each stage takes the parameters of its messages: of exchanges Apart, but what is reduced
// arrives where the last message did, unless it is sent from where nothing was touched.
func TestPatternsOfStages(t *testing.T) {
	m := TauLop{Parameters: plain{}, Reductions: plain{}, Segment: 1000, NoOverhead: true}
	cost := func(m TauLop, name string) Cost {
		t.Helper()
		c, err := m.Cost(schedule(t, name, collective.Call{P: 2, M: 5000}))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := m
	all.OneWay, all.Arriving, all.Apart, all.Temporary = doubled{}, doubled{}, doubled{}, doubled{}
	for name, mark := range map[string]string{
		"bcast:binomial": "→", "allgather:ring": "⇄", "alltoall:pairwise": "⇄", "allgather:bruck": "°", "barrier:dissemination": "⇄",
		"allreduce:recursive-doubling": "", "reduce_scatter:pairwise": "⇄", "reduce_scatter:ring": "°", "reduce_scatter:recursive-halving": "°",
	} {
		twice, once := cost(all, name), cost(m, name)
		for i, term := range twice.Terms {
			factor := 1.
			if term.Parameter == "L" {
				if !strings.HasPrefix(term.Name(), "L"+mark+"(") {
					t.Errorf("%s: %s, want L%s", name, term.Name(), mark)
				}
				if mark != "" {
					factor = 2
				}
			}
			if term.Seconds != factor*once.Terms[i].Seconds {
				t.Errorf("%s: %s is %g, want %g times %g", name, term.Name(), term.Seconds, factor, once.Terms[i].Seconds)
			}
		}
	}
}
