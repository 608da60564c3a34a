package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

// drawn is a quantity of about 100 ns over n launches of one session, with the relative standard deviation
// within; the session's values are multiplied by shift.
func drawn(r *rand.Rand, n int, shift, within float64) Drawn {
	center := func(value func() float64) float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = value()
		}
		return Replicates{values}.Center()
	}
	var values []float64
	d := Drawn{Replicates: n, Sessions: 1, Center: center(func() float64 {
		values = append(values, 100*shift*math.Exp(within*r.NormFloat64()))
		return values[len(values)-1]
	})}
	for range 40 {
		d.Values = append(d.Values, center(func() float64 { return values[r.IntN(n)] }))
	}
	return d
}

// The coverage of the interval is near its level, even with few replicates.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for _, n := range []int{6, 11, 30} {
		const tries = 400
		covered := 0
		for range tries {
			d := drawn(random, n, 1, 0.2)
			if e := Bootstrapped(d.Center, d.Values, n); e.Lo <= 100 && 100 <= e.Hi {
				covered++
			}
		}
		check.AtLeast(t, float64(covered)/tries, 0.90, "coverage of 95 %% intervals of %d replicates", n)
	}
	for _, e := range []Estimate{
		Bootstrapped(1, []float64{1, 2, 3}, 2), // replicates
		Bootstrapped(1, []float64{1}, 9),       // drawn
		Bootstrapped(1, []float64{0, 1, 2}, 9), // no logarithm
		Bootstrapped(0, []float64{1, 1, 2}, 9),
	} {
		check.True(t, !e.Known(), "%v is known", e)
	}
}

// The rate of false positives is 5 %, even with few launches and with drift between sessions; a factor of 4 is
// found.
func TestCompareDrawn(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for _, drift := range []float64{0, 0.2} {
		const tries = 500
		falsePositives, covered, found := 0, 0, 0
		session := func(n int) Drawn { return drawn(random, n, math.Exp(drift*random.NormFloat64()), 0.1) }
		for range tries {
			a, b := session(7), session(11)
			d := Test{Drift: drift}.CompareDrawn(a, b)
			if d.P < 0.05 {
				falsePositives++
			}
			if d.Lo <= 1 && 1 <= d.Hi {
				covered++
			}
			b.Center *= 4
			for i := range b.Values {
				b.Values[i] *= 4
			}
			if (Test{Drift: drift}).CompareDrawn(a, b).P < 0.05 {
				found++
			}
		}
		check.AtMost(t, falsePositives, tries/12, "drift %g, %d tries: false positives", drift, tries)
		check.AtLeast(t, min(covered, found), tries*9/10, "drift %g, %d tries: covered, and factors of 4 found", drift, tries)
	}
	d := (Test{}).CompareDrawn(drawn(random, 7, 1, 0.1), Drawn{Center: 50})
	check.True(t, !d.Tested && d.P == 1 && d.Ratio < 1, "without samples: %+v", d)
}
