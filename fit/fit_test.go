package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

func close(a, b, rel float64) bool { return math.Abs(a-b) <= rel*math.Abs(b) }

// Of rows of taulop-2015, Fig. 18b: k and l(k,4) in ns, bcast. Package report's tests have L of them.
func TestSlopeFig18(t *testing.T) {
	k := []int{1, 2, 8192, 12288}
	l := lists.Map([]float64{3793, 7666, 31205259, 47056028}, func(l float64) Estimate { return Estimate{Center: l, Lo: l * 0.999, Hi: l * 1.001, N: 9} })
	s := Slope(k, l)
	check.True(t, close(s.Center, 3820, 0.01) && s.Lo < s.Center && s.Center < s.Hi, "slope = %+v, want about 3820 ns a segment", s)
	// The slope of a line does not depend on its startup.
	k, l = nil, nil
	for i := 1; i <= 4096; i *= 2 {
		k = append(k, i)
		v := 500 + 100*float64(i)
		l = append(l, Estimate{Center: v, Lo: v, Hi: v, N: 6})
	}
	s = Slope(k, l)
	check.True(t, close(s.Center, 100, 1e-9) && close(s.Lo, 100, 1e-9), "slope of 500 + 100k = %+v", s)
	for _, bad := range [][]int{{1}, {3, 3}} {
		s := Slope(bad, l[:len(bad)])
		check.True(t, !s.Known(), "slope over k = %v is known: %+v", bad, s)
	}
}

func TestMedian(t *testing.T) {
	six := []float64{6, 1, 5, 2, 4, 3}
	check.Equal(t, Median(six), Estimate{Center: 3.5, Lo: 1, Hi: 6, N: 6}, "the range of six: 1 − 2·(1/2)⁶ = 96.9 %%")
	check.Equal(t, six[0], 6, "the first sample after Median")
	check.Equal(t, Median([]float64{1, 2, 3, 4, 5}), Estimate{Center: 3, Lo: math.Inf(-1), Hi: math.Inf(1), N: 5}, "five, too few for 95 %%")
	check.Equal(t, Median([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), Estimate{Center: 5.5, Lo: 2, Hi: 9, N: 10}, "second and ninth of ten: 97.9 %%")
	e := Median(nil)
	check.True(t, !e.Known() && math.IsInf(e.Width(), 1), "Median of nothing = %+v", e)
}

func TestArithmetic(t *testing.T) {
	L := Estimate{Center: 3000, Lo: 2900, Hi: 3100, N: 20}
	y := Estimate{Center: 200, Lo: 190, Hi: 230, N: 12}
	check.Equal(t, Copy(L, y), (Estimate{Center: 2800, Lo: 2670, Hi: 2910, N: 12}), "c")
	check.Equal(t, Mean([]Estimate{L, y}), (Estimate{Center: 1600, Lo: 1545, Hi: 1665, N: 12}), "mean")
	few, none := Unbounded(4000), Median(nil)
	check.Equal(t, Mean([]Estimate{few, y, none}), (Estimate{Center: 2100, Lo: 1995, Hi: 2415, N: 12}), "mean with one of too few samples")
	mean := Mean([]Estimate{few, few})
	check.True(t, mean.Center == 4000 && !mean.Known(), "mean of too few samples = %+v", mean)
	m := Mean(nil)
	check.True(t, math.IsNaN(m.Center) && !m.Known(), "mean of nothing = %+v", m)
	both := Estimate{Center: 2, Lo: 1, Hi: 4, N: 12, Sessions: 2}
	check.Equal(t, both.Rate(8), (Estimate{Center: 4, Lo: 2, Hi: 8, N: 12, Sessions: 2}), "8 bytes in 2 ns")
	w := L.Width()
	check.True(t, close(w, 1.0/30, 1e-12), "width = %g", w)
	check.True(t, !L.Differ(Estimate{Center: 3200, Lo: 3050, Hi: 3300, N: 6}), "overlapping intervals differ")
	check.True(t, L.Differ(y) && !L.Differ(Median([]float64{1})), "Differ is not about disjoint known intervals")
	// Perfect, serial and in between, for τ = 4.
	for _, tt := range []struct{ L4, A float64 }{{100, 4}, {400, 1}, {200, 2}} {
		A := Concurrency(4, Estimate{Center: 100, Lo: 100, Hi: 100, N: 6}, Estimate{Center: tt.L4, Lo: tt.L4, Hi: tt.L4, N: 6})
		check.Equal(t, A.Center, tt.A, "A(4) with L = %g", tt.L4)
	}
}

func TestBounds(t *testing.T) {
	at := func(v float64) Estimate { return Estimate{Center: v, Lo: v * 0.95, Hi: v * 1.05, N: 10} }
	try := func(name string, a int, L1, La float64, isBelow, isAbove bool) {
		t.Helper()
		below, above := Bounds(a, at(L1), at(La))
		check.True(t, (below < 0.05) == isBelow && (above < 0.05) == isAbove, "%s: below %v above %v", name, below, above)
	}
	try("perfect", 4, 100, 100, false, false)
	try("serial", 4, 100, 400, false, false)
	try("worse than serial", 4, 100, 500, false, true)
	try("within the noise of serial", 4, 100, 420, false, false)
	try("params of Metropolis, m = 1: L(1,1) and L(1,2) in ns", 2, 289.4, 147.725, true, false)
}

func TestEstimateJSON(t *testing.T) {
	for _, e := range []Estimate{{Center: 1.5, Lo: 1, Hi: 2, N: 7}, Median([]float64{3}), Median(nil)} {
		var back Estimate
		data := must.Get(json.Marshal(e))
		must.Do(json.Unmarshal(data, &back))
		check.Equal(t, fmt.Sprint(back), fmt.Sprint(e), "what became %s", data)
	}
}
