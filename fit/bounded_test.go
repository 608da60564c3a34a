package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// In random problems no step from the answer within the bounds comes closer, and where the
// bounds do not bind the costs are the ones that made the times.
func TestBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 200 {
		n, rows := 1+r.IntN(5), 8+r.IntN(20)
		truth, most, first := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range n {
			truth[j], most[j] = r.Float64()*4, 1+r.Float64()*4
		}
		terms, times := make([][]float64, rows), make([]float64, rows)
		for i := range rows {
			terms[i] = make([]float64, n)
			for j := range n {
				terms[i][j] = r.Float64() * 3
				times[i] += truth[j] * terms[i][j]
			}
		}
		squares := func(cost []float64) (sum float64) {
			for i, row := range terms {
				e := 1.0
				for j := range n {
					e -= cost[j] * row[j] / times[i]
				}
				sum += e * e
			}
			return sum
		}
		all, err := Bounded(terms, times, times, first, most)
		if err != nil {
			t.Fatal(err)
		}
		cost, inside := make([]float64, n), true
		for j, u := range all {
			cost[j] = u.Value
			inside = inside && truth[j] < most[j]
			if u.Value < 0 || u.Value > most[j] {
				t.Fatalf("cost %d is %g, out of 0 … %g", j, u.Value, most[j])
			}
		}
		least := squares(cost)
		for range 50 {
			other := make([]float64, n)
			for j := range other {
				other[j] = min(max(cost[j]+r.NormFloat64()*0.01, 0), most[j])
			}
			if squares(other) < least-1e-7 {
				t.Fatalf("%v has squares of %g, and %v %g", cost, least, other, squares(other))
			}
		}
		if inside && least > 1e-6 {
			t.Errorf("costs %v are within the bounds, and found are %v", truth, cost)
		}
	}
}

// A cost that times do not determine stays and is marked; the others have standard errors.
func TestBoundedUndetermined(t *testing.T) {
	terms, times := make([][]float64, 40), make([]float64, 40)
	r := rand.New(rand.NewPCG(3, 5))
	for i := range terms {
		x := float64(i%10 + 1)
		terms[i] = []float64{x, 1, 1, 0} // the second and the third always come together
		times[i] = (2*x + 3) * (1 + 0.01*r.NormFloat64())
	}
	all, err := Bounded(terms, times, times, []float64{1, 1, 1, 5}, []float64{9, 9, 9, 9})
	if err != nil {
		t.Fatal(err)
	}
	if u := all[0]; !u.Determined || math.Abs(u.Value-2) > 4*u.Error || !(u.Error > 0 && u.Error < 0.05) {
		t.Errorf("the slope is %+v, want 2", u)
	}
	if all[1].Determined || all[2].Determined || all[3].Determined || all[3].Value != 5 {
		t.Errorf("%+v are determined, and nothing tells them apart", all[1:])
	}
	if _, err := Bounded(terms, times[1:], times, nil, nil); err == nil {
		t.Error("times that are fewer than rows are no error")
	}
}
