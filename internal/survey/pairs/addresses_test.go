package pairs

import (
	"testing"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/params"
)

// A pair that meets on several pages in turn has the median over them, and their spread.
func TestTypical(t *testing.T) {
	for _, tt := range []struct {
		ns         []float64
		want       float64
		low, large float64 // of the spread
	}{
		{[]float64{60}, 60, 0, 0},
		{[]float64{60, 90, 61, 62, 60.5}, 61, 0.2, 0.22},
		{[]float64{60, 60, 60}, 60, 0, 0},
	} {
		var all []engine.Reading
		for _, ns := range tt.ns {
			all = append(all, engine.Reading{Sample: params.Sample{NS: ns}})
		}
		if got := typical(all); got.NS != tt.want || float64(got.Spread) < tt.low || float64(got.Spread) > tt.large {
			t.Errorf("of %v: %+v; want %g and a spread from %g to %g", tt.ns, got, tt.want, tt.low, tt.large)
		}
	}
}

// On a real machine each page is a visit of its own, whose bytes are checked.
func TestAddresses(t *testing.T) {
	m := surveytest.Machine(t, 2)
	f := surveytest.Run(t, m, Survey, Request{CPUs: m.Allowed[:2], Sizes: []int{0, SegmentBytes}, Addresses: 3})
	p, err := f.Pairs()
	if err != nil || len(p.Pairs) != 1 || !(p.Pairs[0].Times[0].Center > 0) || !(p.Pairs[0].Times[1].Center > 0) {
		t.Errorf("%+v, %v", p, err)
	}
	one, three := Request{CPUs: m.Allowed[:2]}, Request{CPUs: m.Allowed[:2], Addresses: 3}
	if three.visit() != 3*one.visit() {
		t.Errorf("a sample on three pages takes %v, on one %v", three.visit(), one.visit())
	}
}
