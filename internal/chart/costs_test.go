package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/test/must"
)

// costs are of two collectives, m from 1K to 4K, in µs as many as KB, of the second machine
// twice as many.
func costs(machines ...string) *predict.Machines {
	d := &predict.Machines{}
	for i, name := range machines {
		d.Machines = append(d.Machines, predict.Source{Machine: name, Model: "τ-Lop"})
		for _, of := range []string{"barrier:tree", "bcast:linear", "bcast:binomial"} {
			for bytes := 1 << 10; bytes <= 4<<10; bytes *= 2 {
				collective, algorithm, _ := strings.Cut(of, ":")
				r := predict.MachineCost{Machine: name, Of: of, Prediction: predict.Prediction{Collective: collective, Algorithm: algorithm, P: 4, Bytes: bytes, Microseconds: float64(bytes>>10) * float64(i+1)}}
				if lo, hi := r.Microseconds/2, r.Microseconds*2; algorithm == "linear" {
					r.Lo, r.Hi = &lo, &hi
				}
				if collective == "barrier" {
					r.Bytes = 0
				}
				d.Rows = append(d.Rows, r)
			}
		}
	}
	return d
}

func TestCosts(t *testing.T) {
	c := must.Get(Costs(costs("a"), Choice{}))
	var names []string
	for _, s := range c.Panels[0].Series {
		names = append(names, s.Name)
	}
	both := costs("a")
	for _, r := range both.Rows {
		if r.Algorithm == "linear" {
			r.Collective, r.Of = "scatter", "scatter:linear"
			both.Rows = append(both.Rows, r)
		}
	}
	if two, err := Costs(both, Choice{}); err != nil || !slices.Equal(two.Omitted, []string{"scatter"}) || len(c.Omitted) > 0 {
		t.Errorf("%+v (%v) omits not scatter, or that of bcast alone omits %q", two, err, c.Omitted)
	}
	first := c.Panels[0].Series[0].Points
	if !slices.Equal(names, []string{"linear", "binomial"}) || c.Title != "Predicted cost: bcast" || len(first) != 3 || first[2].Y.Center != 4000 || first[2].Y.Lo != 2000 || first[2].Y.Hi != 8000 {
		t.Errorf("%s: %v %+v", c.Title, names, first)
	}
	c = must.Get(Costs(costs("a", "b"), Choice{Algorithms: []string{"bcast:linear"}, Bandwidth: true}))
	slow := c.Panels[0].Series[1]
	// 4 KiB in 8 µs, which may be 4 or 16.
	if y := slow.Points[2].Y; slow.Name != "b" || y.Center != 0.512 || y.Lo != 0.256 || y.Hi != 1.024 || c.Panels[0].Y.Quantity != Bandwidths {
		t.Errorf("%+v", slow)
	}
}
