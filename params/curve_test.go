package params

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestCurve(t *testing.T) {
	// Round numbers for calculations by hand.
	c := &Curve{Sizes: []int{1, 101, 201}, Taus: []int{1, 2, 4}, Times: [][]float64{{10, 12, 20}, {30, 40, 60}, {50, 70, 120}}}
	falling := &Curve{Sizes: []int{1, 2}, Taus: []int{1, 2}, Times: [][]float64{{10, 12}, {8, 6}}}
	steep := &Curve{Sizes: []int{8}, Taus: []int{1, 2}, Times: [][]float64{{10, 40}}}
	isolated := &Curve{Sizes: []int{8}, Taus: []int{2}, Times: [][]float64{{10}}}
	any := &Curve{Sizes: []int{8, 16}, Times: [][]float64{{10}, {20}}}
	try := func(rule string, c *Curve, m, tau int, want float64, wantBeyond bool) {
		t.Helper()
		got, beyond := c.At(m, tau)
		check.Near(t, got, want, 1e-9, "%s: t(%d,%d)", rule, m, tau)
		check.Equal(t, beyond, wantBeyond, "%s: t(%d,%d) is beyond", rule, m, tau)
	}
	try("measured", c, 101, 2, 40, false)
	try("between sizes", c, 51, 1, 20, false)
	try("between τ", c, 101, 3, 50, false)
	try("between both", c, 151, 3, (55.+90)/2, false)
	try("below the smallest size", c, 0, 2, 12, true)
	try("above the largest size", c, 301, 1, 70, true)
	try("above the largest size, between τ", c, 301, 3, (100.+180)/2, true)
	try("above the largest size, never below the last", falling, 3, 2, 6, true)
	try("one size, in proportion", isolated, 24, 2, 30, true)
	try("above the largest τ", c, 101, 6, 80, true)
	try("above the largest τ, never below the last", falling, 2, 4, 6, true)
	try("above the largest τ, never above serial", steep, 8, 4, 80, true)
	try("one τ, serial", isolated, 8, 6, 30, true)
	try("below the smallest τ", isolated, 8, 1, 10, true)
	try("above both", c, 301, 6, 260, true) // 100 at 2, 180 at 4
	try("any τ", any, 12, 1000, 15, false)
}

func TestOverhead(t *testing.T) {
	table := &Table{Transfers: Curve{Sizes: []int{1, 101}, Taus: []int{1}, Times: [][]float64{{1}, {2}}}, Overheads: []float64{10, 20}}
	for m, want := range map[int]float64{0: 10, 1: 10, 51: 15, 101: 20, 1000: 20} {
		got, beyond := table.O(m)
		check.True(t, got == want && beyond == (m > 101), "o(%d) = %v, %v; want %v", m, got, beyond, want)
	}
}

func TestGammaByName(t *testing.T) {
	curve := func(v float64) Curve { return Curve{Sizes: []int{1}, Times: [][]float64{{v}}} }
	g := &Gamma{Operators: []Operator{{"SUM_R", curve(1)}, {"SUM_I", curve(2)}, {"max", curve(3)}}}
	for op, want := range map[string]float64{"sum": 2, "SUM_R": 1, "sum_r": 1, "MAX": 3} {
		got, _ := must.Get(g.Operator(op)).At(1, 4)
		check.Equal(t, got, want, "γ of %s", op)
	}
	contains.Error(t, must.Err(g.Operator("land")), `"land"; measured are SUM_R, SUM_I, max`)
}

// Times at and next to a time of 0 are unknown.
func TestZero(t *testing.T) {
	c := Curve{Sizes: []int{1, 64, 128, 256}, Taus: []int{1, 2, 4}, Times: [][]float64{{0, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}}}
	one := Curve{Sizes: []int{1}, Times: [][]float64{{0}}}
	known := Curve{Sizes: []int{1}, Times: [][]float64{{1}}}
	for at, zero := range map[[2]int]bool{ // m and τ
		{1, 1}: true, {0, 1}: true, {2, 1}: true, {64, 1}: false, {65, 1}: false, {1, 2}: false, {1, 3}: false,
		{256, 4}: true, {256, 3}: true, {256, 2}: false, {300, 4}: true, {200, 8}: true, {128, 8}: false, {300, 1}: false,
	} {
		check.Equal(t, c.Zero(at[0], at[1]), zero, "m = %d, τ = %d", at[0], at[1])
	}
	check.True(t, one.Zero(9, 9) && !known.Zero(9, 9), "beyond a single time")
	for want, c := range map[string]*Curve{"L(1,1) and 1 more times are 0": &c, "L(1,1) is 0": &one, "": &known} {
		check.Equal(t, c.Zeros(), want, "Zeros")
	}
}
