package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval holds the true value about as often as it says, of few replicates too.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for _, n := range []int{6, 11, 30} {
		const tries = 400
		held := 0
		for range tries {
			values := make([]float64, n)
			for i := range values {
				values[i] = 100 * math.Exp(0.2*random.NormFloat64())
			}
			drawn := make([]float64, 40)
			for i := range drawn {
				again := make([]float64, n)
				for j := range again {
					again[j] = values[random.IntN(n)]
				}
				drawn[i] = Replicates{again}.Center()
			}
			e := Bootstrapped(Replicates{values}.Center(), drawn, n)
			if e.Lo <= 100 && 100 <= e.Hi {
				held++
			}
		}
		if share := float64(held) / tries; share < 0.90 {
			t.Errorf("intervals of %d replicates hold the true value in %.3f of all tries, want 0.95", n, share)
		}
	}
}

func TestBootstrapNeedsReplicates(t *testing.T) {
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

func TestCenterIsThatOfEstimate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var r Replicates
		for range 1 + random.IntN(4) {
			var session []float64
			for range random.IntN(8) {
				session = append(session, random.Float64()*10)
			}
			r = append(r, session)
		}
		if a, b := r.Center(), r.Estimate().Center; math.Abs(a-b) > 1e-9*b && !(math.IsNaN(a) && math.IsNaN(b)) {
			t.Fatalf("%v: centre %g, of the estimate %g", r, a, b)
		}
	}
}

// Where nothing differs a test finds something in 1 case of 20, of few launches too and
// where each session is another hour; what is twice as long it finds.
func TestCompareDrawn(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	of := func(n int, hour float64) Drawn {
		shift := math.Exp(hour * random.NormFloat64())
		values := make([]float64, n)
		for i := range values {
			values[i] = 100 * shift * math.Exp(0.1*random.NormFloat64())
		}
		d := Drawn{Center: Replicates{values}.Center(), Replicates: n, Sessions: 1}
		for range 40 {
			again := make([]float64, n)
			for j := range again {
				again[j] = values[random.IntN(n)]
			}
			d.Values = append(d.Values, Replicates{again}.Center())
		}
		return d
	}
	for _, hour := range []float64{0, 0.2} {
		const tries = 500
		found, held, seen := 0, 0, 0
		for range tries {
			a, b := of(7, hour), of(11, hour)
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
	if d := (Test{}).CompareDrawn(of(7, 0), Drawn{Center: 50}); d.Tested || d.P != 1 || !(d.Ratio < 1) {
		t.Errorf("without samples: %+v", d)
	}
}
