package model

import (
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

// One-way messages take OneWay, exchanges do not.
func TestOneWay(t *testing.T) {
	cost := func(name string, m TauLop) float64 {
		a, err := collective.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Schedule(collective.Call{P: 2, M: 5000})
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.Cost(s)
		if err != nil {
			t.Fatal(err)
		}
		return c.Seconds
	}
	m := TauLop{Parameters: plain{}, Segment: 1000, NoOverhead: true}
	both := m
	both.OneWay = doubled{}
	if got, want := cost("bcast:binomial", both), 2*cost("bcast:binomial", m); got != want {
		t.Errorf("one-way: %g, want %g", got, want)
	}
	if got, want := cost("allgather:ring", both), cost("allgather:ring", m); got != want {
		t.Errorf("exchange: %g, want %g", got, want)
	}
}
