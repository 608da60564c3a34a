package model

import (
	"math"
	"math/bits"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
)

func patternSchedule(t *testing.T, a *collective.Algorithm, p, m int) *collective.Schedule {
	return must.Get(a.Schedule(collective.Call{P: p, M: m, Distance: p - 1}))
}

// The formulas of Kang et al. 1999, section 5.2.2, and of τ-Lop, for P = 2 … 17.
func TestPatternFormulas(t *testing.T) {
	broadcast := must.Get(collective.Lookup("bcast:binomial"))
	scatter := must.Get(collective.Lookup("scatter:binomial"))
	// L(S,τ) = 1 µs · τ, which shows concurrent transfers.
	const segment, k = 1024, 5
	serial := TauLop{Channels: Uniform(channel(func(_, tau int) float64 { return 1e-6 * float64(tau) })), Segment: segment}
	linear := Linear{Startup: 1e-6, PerByte: 1e-9}
	const m = k * segment
	for p := 2; p <= 17; p++ {
		log := bits.Len(uint(p - 1))
		message := func(a int) float64 { return float64(a) * (2*1 + (k-1)*2) } // eqs. (10) and (12), µs
		tree := 0.                                                             // eq. (13)
		for i := range log {
			tree += message(min(1<<i, p-1<<i))
		}
		for _, tt := range []struct {
			a      *collective.Algorithm
			steps  float64 // of m·τ_d
			taulop float64 // µs
		}{
			{collective.Permutation, 1, 2 * k * float64(p)},
			{collective.PingPong, 1, 2 * message(1)},
			{collective.Dealing, float64(p-1) / 2, float64(p-1) * message(1)},
			{broadcast, float64(log) / 2, tree},
		} {
			s := patternSchedule(t, tt.a, p, m)
			if got, want := linear.Seconds(s), 1e-6+tt.steps*m*1e-9; math.Abs(got-want) > 1e-15 {
				t.Errorf("%s, P = %d: linear says %g, want %g", tt.a, p, got, want)
			}
			cost := priced(t, serial, s)
			if math.Abs(cost.Seconds*1e6-tt.taulop) > 1e-9 {
				t.Errorf("%s, P = %d: τ-Lop says %g µs, want %g", tt.a, p, cost.Seconds*1e6, tt.taulop)
			}
		}
		if p&(p-1) == 0 { // the root sends P−1 blocks in any tree
			if got, want := linear.Seconds(patternSchedule(t, scatter, p, m)), 1e-6+float64(p-1)/2*m*1e-9; math.Abs(got-want) > 1e-15 {
				t.Errorf("scatter:binomial, P = %d: linear says %g, want %g", p, got, want)
			}
		}
	}
}
