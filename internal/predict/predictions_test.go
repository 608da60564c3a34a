package predict

import (
	"math"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

func TestMarkCheapest(t *testing.T) {
	p := Predictions{Rows: []Prediction{
		{Collective: "bcast", Algorithm: "a", P: 2, Bytes: 8, Microseconds: 3},
		{Collective: "bcast", Algorithm: "b", P: 2, Bytes: 8, Microseconds: 2},
		{Collective: "bcast", Algorithm: "c", P: 2, Bytes: 8, Microseconds: math.Nextafter(2, 3)},
		{Collective: "reduce", Algorithm: "a", P: 2, Bytes: 8, Microseconds: 1}, // the only one
		{Collective: "bcast", Algorithm: "a", P: 4, Bytes: 8, Microseconds: 5},
		{Collective: "bcast", Algorithm: "b", P: 4, Bytes: 8, Microseconds: 5}, // all are equal
		{Collective: "bcast", Algorithm: "a", P: 4, Bytes: 9, Microseconds: 0},
		{Collective: "bcast", Algorithm: "b", P: 4, Bytes: 9, Microseconds: 1},
	}}
	p.MarkCheapest()
	for i, want := range []bool{false, true, true, false, false, false, true, false} {
		check.Equal(t, p.Rows[i].Cheapest, want, "row %d: cheapest", i)
	}
}

// A row is tied with the cheapest if their costs are alike, or differ by less than their interval.
func TestMarkTies(t *testing.T) {
	for _, tt := range []struct {
		us    float64
		drawn []float64
		want  bool
	}{
		{1.009, nil, true},             // within 1 %, of published parameters
		{1.02, nil, false},             //
		{1.02, drawn(1, 0.01), true},   // ±3 % of the ratio
		{1.30, drawn(1, 0.01), false},  //
		{1.30, drawn(1, 0.15), true},   //
		{1.009, drawn(1, 0.001), true}, // within 1 %, although it is known better
	} {
		p := Predictions{ensemble: ensemble, Rows: []Prediction{
			{Algorithm: "a", Microseconds: 1, drawn: drawn(1, 0)},
			{Algorithm: "b", Microseconds: tt.us, drawn: tt.drawn},
			{Algorithm: "c", Microseconds: 9, drawn: drawn(1, 0)},
		}}
		p.MarkCheapest()
		if r := p.Rows; !r[0].Cheapest || r[1].Cheapest != tt.want || r[2].Cheapest {
			t.Errorf("%g µs, drawn %v: %v %v %v", tt.us, tt.drawn, r[0].Cheapest, r[1].Cheapest, r[2].Cheapest)
		}
	}
}
