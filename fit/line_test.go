package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// Startup and bandwidth of the SP, the T3E and the O2K, from Table 4 of Kang et al.
// 1999, and a core of today.
func TestLineExact(t *testing.T) {
	for _, tt := range []struct{ startup, perByte float64 }{
		{54000, 1e3 / 50}, {29000, 1e3 / 100}, {85000, 1e3 / 15}, {250, 0.25},
		{0, 3}, // nothing but bytes
		{7, 0}, // nothing but a startup
	} {
		for _, ms := range [][]int{{1, 1024, 1 << 24}, {1024, 4096, 16384, 65536, 1 << 20, 1 << 22}, {8, 8, 64, 64, 4096}} {
			var times []float64
			for _, m := range ms {
				times = append(times, tt.startup+float64(m)*tt.perByte)
			}
			l := must.Get(LineOf(ms, times))
			if math.Abs(l.Startup.Value-tt.startup) > 1e-6*(tt.startup+1) || math.Abs(l.PerByte.Value-tt.perByte) > 1e-7*(tt.perByte+1) ||
				l.Residual > 1e-6 || l.N != len(ms) {
				t.Errorf("%v at %v: got %+v", tt, ms, l)
			}
			if want := tt.startup + 2e6*tt.perByte; math.Abs(l.At(2_000_000)-want) > 1e-6*want {
				t.Errorf("%v: At(2e6) = %g, want %g", tt, l.At(2_000_000), want)
			}
		}
	}
}

// What would fit best below 0 is held at 0, and says so.
func TestLineHolds(t *testing.T) {
	l, err := LineOf([]int{100, 1000, 10000}, []float64{10, 500, 9000})
	if err != nil || !l.Startup.Held || l.Startup.Value != 0 || l.PerByte.Held || !(l.PerByte.Value > 0) {
		t.Errorf("%+v, %v: want T_s held at 0", l, err)
	}
	l, err = LineOf([]int{100, 1000, 10000}, []float64{1000, 900, 800})
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
		{[]int{1, 2}, []float64{1, 2, 3}, "2 sizes for 3"},
		{[]int{1, 2, 2}, []float64{1, 2, 2}, "too few sizes"},
		{[]int{1, 2, 3}, []float64{1, 0, 3}, "2 bytes takes 0"},
		{[]int{1, 2, 3}, []float64{1, math.NaN(), 3}, "NaN"},
	} {
		if _, err := LineOf(tt.ms, tt.times); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt, err, tt.want)
		}
	}
}
