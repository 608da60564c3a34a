package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// Coefficients that would be negative are held at 0.
func TestLineHolds(t *testing.T) {
	exact := must.Get(LineOf([]int{8, 8, 64, 4096}, []float64{29080, 29080, 29640, 69960})) // the T3E of Kang et al. 1999, Table 4
	if got := exact.At(2_000_000); math.Abs(got-20_029_000) > 1 || exact.N != 4 || exact.Startup.Held {
		t.Errorf("%+v: 2 MB take %g ns, want 20.029 ms", exact, got)
	}
	l, err := LineOf([]int{100, 1000, 10000}, []float64{1000, 900, 800})
	if err != nil || !l.PerByte.Held || l.PerByte.Value != 0 || l.Startup.Held || math.Abs(l.Startup.Value-900) > 30 {
		t.Errorf("%+v, %v: want τ_d held at 0", l, err)
	}
}

func TestBadLine(t *testing.T) {
	for _, tt := range []struct {
		ms    []int
		times []float64
		want  string
	}{
		{[]int{1, 2, 3}, []float64{1, 2}, "3 rows of terms for 2 times"},
		{[]int{1, 2, 2}, []float64{1, 2, 2}, "too few sizes"},
		{[]int{1, 2, 3}, []float64{1, 0, 3}, "0 is no time to fit"},
		{[]int{1, 2, 3}, []float64{1, math.NaN(), 3}, "NaN"},
	} {
		if _, err := LineOf(tt.ms, tt.times); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt, err, tt.want)
		}
	}
}
