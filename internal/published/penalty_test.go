package published

import (
	"math"
	"testing"
)

// One slow case of three moves the arithmetic mean further than the geometric one.
func TestPenaltyOf(t *testing.T) {
	p := penaltyOf([]float64{0, 0, 7})
	if math.Abs(p.Geometric-1) > 1e-9 || math.Abs(p.Mean-7./3) > 1e-9 || p.Worst != 7 || math.Abs(p.Best-2./3) > 1e-9 {
		t.Errorf("times of 1, 1 and 8 over the best: %+v", p)
	}
}
