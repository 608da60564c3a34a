package published

import (
	"slices"
	"testing"

	"github.com/taulop/taulop/model"
)

// Parameters estimated from linear and chain broadcasts bring the trees nearer, of which
// nothing was estimated.
func TestTimings(t *testing.T) {
	table, f := measured(t, "orfeo-thin6126")
	timings, err := Timings(table, Choice{Collectives: []string{"bcast:basic_linear", "bcast:chain"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range timings {
		if name := one.Schedule.Algorithm.Name; name != "linear" && name != "chain" || one.Schedule.Call.P > 24 {
			t.Fatalf("%v among %d ranks is not what was asked for, or not on one node", one.Schedule.Algorithm, one.Schedule.Call.P)
		}
	}
	e, err := model.EstimateLevels(f, nil, timings)
	if err != nil {
		t.Fatal(err)
	}
	trees := func() Errors {
		c, err := Compare(table, f, model.Choice{}, Choice{Collectives: []string{"bcast:5", "bcast:6"}, Mappings: []string{"core"}})
		if err != nil {
			t.Fatal(err)
		}
		return ErrorsOf("trees", slices.DeleteFunc(c.Cells, func(cell Cell) bool { return cell.P < 3 || cell.Bytes < 64<<10 }))
	}
	before := trees()
	f.Cells = append(f.Cells, e.Cells()...)
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	after := trees()
	if after.Mean >= before.Mean || after.Within < before.Within || after.Mean > 0.15 {
		t.Errorf("with estimates the trees' error is %.3f, without %.3f", after.Mean, before.Mean)
	}
	if _, err := Timings(table, Choice{Collectives: []string{"bcast:chain"}, P: []int{48}}); err == nil {
		t.Error("ranks on two nodes are no timings to estimate from")
	}
}
