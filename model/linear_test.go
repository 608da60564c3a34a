package model

import (
	"math"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// The formulas of Kang et al. 1999, section 5.2.2, and of τ-Lop. Table 5 is in the tests of internal/estimate.
func TestPatternFormulas(t *testing.T) {
	// L(S,τ) = 1 µs · τ, which shows concurrent transfers.
	const segment, k, m = 1024, 5, 5 * 1024
	serial := TauLop{Channels: Uniform(channel(func(_, tau int) float64 { return 1e-6 * float64(tau) })), Segment: segment}
	linear := Linear{Startup: 1e-6, PerByte: 1e-9}
	message := func(a int) float64 { return float64(a) * (2*1 + (k-1)*2) } // eqs. (10) and (12), µs
	broadcast, scatter := must.Get(collective.Lookup("bcast:binomial")), must.Get(collective.Lookup("scatter:binomial"))
	try := func(a *collective.Algorithm, p int, steps, taulop float64) { // steps: of m·τ_d; taulop: µs; 0: not told
		t.Helper()
		s := must.Get(a.Schedule(collective.Call{P: p, M: m, Distance: p - 1}))
		check.Near(t, linear.Seconds(s), 1e-6+steps*m*1e-9, 1e-15, "%s, P = %d: linear says", a, p)
		us := priced(t, serial, s).Seconds * 1e6
		check.True(t, taulop == 0 || math.Abs(us-taulop) <= 1e-9, "%s, P = %d: τ-Lop says %g µs, want %g", a, p, us, taulop)
	}
	try(collective.Permutation, 2, 1, 2*k*2)
	try(collective.Permutation, 17, 1, 2*k*17)
	try(collective.PingPong, 2, 1, 2*message(1))
	try(collective.PingPong, 17, 1, 2*message(1))
	try(collective.Dealing, 2, 0.5, message(1))
	try(collective.Dealing, 17, 8, 16*message(1))
	try(broadcast, 16, 2, message(1)+message(2)+message(4)+message(8)) // eq. (13)
	try(broadcast, 17, 2.5, message(1)+message(2)+message(4)+message(8)+message(1))
	try(scatter, 16, 7.5, 0) // the root sends P−1 blocks
}
