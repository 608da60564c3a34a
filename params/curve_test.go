package params

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestCurve(t *testing.T) {
	// Round numbers for calculations by hand.
	c := &Curve{
		Sizes: []int{1, 101, 201},
		Taus:  []int{1, 2, 4},
		Times: [][]float64{
			{10, 12, 20},
			{30, 40, 60},
			{50, 70, 120},
		},
	}
	falling := &Curve{Sizes: []int{1, 2}, Taus: []int{1, 2}, Times: [][]float64{{10, 12}, {8, 6}}}
	steep := &Curve{Sizes: []int{8}, Taus: []int{1, 2}, Times: [][]float64{{10, 40}}}
	isolated := &Curve{Sizes: []int{8}, Taus: []int{2}, Times: [][]float64{{10}}}
	any := &Curve{Sizes: []int{8, 16}, Times: [][]float64{{10}, {20}}}
	for _, tt := range []struct {
		rule   string
		c      *Curve
		m, tau int
		want   float64
		beyond bool
	}{
		{"measured", c, 101, 2, 40, false},
		{"between sizes", c, 51, 1, 20, false},
		{"between τ", c, 101, 3, 50, false},
		{"between both", c, 151, 3, (55. + 90) / 2, false},
		{"below the smallest size", c, 0, 2, 12, true},
		{"above the largest size", c, 301, 1, 70, true},
		{"above the largest size, between τ", c, 301, 3, (100. + 180) / 2, true},
		{"above the largest size, never below the last", falling, 3, 2, 6, true},
		{"one size, in proportion", isolated, 24, 2, 30, true},
		{"above the largest τ", c, 101, 6, 80, true},
		{"above the largest τ, never below the last", falling, 2, 4, 6, true},
		{"above the largest τ, never above serial", steep, 8, 4, 80, true},
		{"one τ, serial", isolated, 8, 6, 30, true},
		{"below the smallest τ", isolated, 8, 1, 10, true},
		{"above both", c, 301, 6, 260, true}, // 100 at 2, 180 at 4
		{"any τ", any, 12, 1000, 15, false},
	} {
		got, beyond := tt.c.At(tt.m, tt.tau)
		check.Near(t, got, tt.want, 1e-9, "%s: t(%d,%d)", tt.rule, tt.m, tt.tau)
		check.Equal(t, beyond, tt.beyond, "%s: t(%d,%d) is beyond", tt.rule, tt.m, tt.tau)
	}
}

func TestOverhead(t *testing.T) {
	table := &Table{
		Transfers: Curve{Sizes: []int{1, 101}, Taus: []int{1}, Times: [][]float64{{1}, {2}}},
		Overheads: []float64{10, 20},
	}
	for _, tt := range []struct {
		m      int
		want   float64
		beyond bool
	}{{0, 10, false}, {1, 10, false}, {51, 15, false}, {101, 20, false}, {1000, 20, true}} {
		if got, beyond := table.O(tt.m); got != tt.want || beyond != tt.beyond {
			t.Errorf("o(%d) = %v, %v; want %v, %v", tt.m, got, beyond, tt.want, tt.beyond)
		}
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
	for _, tt := range []struct {
		c      Curve
		m, tau int
		zero   bool
	}{
		{c, 1, 1, true}, {c, 0, 1, true}, {c, 2, 1, true}, {c, 64, 1, false}, {c, 65, 1, false}, {c, 1, 2, false}, {c, 1, 3, false},
		{c, 256, 4, true}, {c, 256, 3, true}, {c, 256, 2, false}, {c, 300, 4, true}, {c, 200, 8, true}, {c, 128, 8, false}, {c, 300, 1, false},
		{one, 9, 9, true}, {known, 9, 9, false},
	} {
		check.Equal(t, tt.c.Zero(tt.m, tt.tau), tt.zero, "%v, m = %d, τ = %d", tt.c, tt.m, tt.tau)
	}
	for want, c := range map[string]*Curve{"L(1,1) and 1 more times are 0": &c, "L(1,1) is 0": &one, "": &known} {
		check.Equal(t, c.Zeros(), want, "Zeros")
	}
}
