package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawn is a quantity of n launches of one session, about 100 ns, that differ by `within`; shift
// is what the session's hour changes.
func drawn(r *rand.Rand, n int, shift, within float64) Drawn {
	of := func(value func() float64) float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = value()
		}
		return Replicates{values}.Center()
	}
	var values []float64
	d := Drawn{Replicates: n, Sessions: 1, Center: of(func() float64 {
		values = append(values, 100*shift*math.Exp(within*r.NormFloat64()))
		return values[len(values)-1]
	})}
	for range 40 {
		d.Values = append(d.Values, of(func() float64 { return values[r.IntN(n)] }))
	}
	return d
}

// The interval holds the true value about as often as it says, of few replicates too.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for _, n := range []int{6, 11, 30} {
		const tries = 400
		held := 0
		for range tries {
			d := drawn(random, n, 1, 0.2)
			if e := Bootstrapped(d.Center, d.Values, n); e.Lo <= 100 && 100 <= e.Hi {
				held++
			}
		}
		if share := float64(held) / tries; share < 0.90 {
			t.Errorf("intervals of %d replicates hold the true value in %.3f of all tries, want 0.95", n, share)
		}
	}
	for _, e := range []Estimate{
		Bootstrapped(1, []float64{1, 2, 3}, 2), // replicates
		Bootstrapped(1, []float64{1}, 9),       // drawn
		Bootstrapped(1, []float64{0, 1, 2}, 9), // no logarithm
		Bootstrapped(0, []float64{1, 1, 2}, 9),
	} {
		if e.Known() {
			t.Errorf("%v is known", e)
		}
	}
}

// Where nothing differs a test finds something in 1 case of 20, of few launches too and
// where each session is another hour; what is four times as long it finds.
func TestCompareDrawn(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for _, hour := range []float64{0, 0.2} {
		const tries = 500
		found, held, seen := 0, 0, 0
		of := func(n int) Drawn { return drawn(random, n, math.Exp(hour*random.NormFloat64()), 0.1) }
		for range tries {
			a, b := of(7), of(11)
			d := Test{Drift: hour}.CompareDrawn(a, b)
			if d.P < 0.05 {
				found++
			}
			if d.Lo <= 1 && 1 <= d.Hi {
				held++
			}
			b.Center *= 4
			for i := range b.Values {
				b.Values[i] *= 4
			}
			if (Test{Drift: hour}).CompareDrawn(a, b).P < 0.05 {
				seen++
			}
		}
		if found > tries/12 || held < tries*9/10 || seen < tries*9/10 {
			t.Errorf("drift %g: of %d equal pairs %d differ, 1 is in the interval of %d; of those of 4 times %d are found", hour, tries, found, held, seen)
		}
	}
	if d := (Test{}).CompareDrawn(drawn(random, 7, 1, 0.1), Drawn{Center: 50}); d.Tested || d.P != 1 || !(d.Ratio < 1) {
		t.Errorf("without samples: %+v", d)
	}
}
