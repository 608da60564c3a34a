package params

import "testing"

// Times at and next to a time of 0 are unknown.
func TestZero(t *testing.T) {
	c := Curve{Sizes: []int{1, 64, 128, 256}, Taus: []int{1, 2, 4}, Times: [][]float64{{0, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}}}
	for _, tt := range []struct {
		m, tau int
		zero   bool
	}{
		{1, 1, true}, {0, 1, true}, {2, 1, true}, {64, 1, false}, {65, 1, false}, {1, 2, false}, {1, 3, false},
		{256, 4, true}, {256, 3, true}, {256, 2, false}, {300, 4, true}, {200, 8, true}, {128, 8, false}, {300, 1, false},
	} {
		if got := c.Zero(tt.m, tt.tau); got != tt.zero {
			t.Errorf("m = %d, τ = %d: %v", tt.m, tt.tau, got)
		}
	}
	if got, want := c.Zeros(), "L(1,1) and 1 more times are 0"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	known := Curve{Sizes: []int{1}, Times: [][]float64{{1}}}
	if known.Zeros() != "" || known.Zero(9, 9) {
		t.Error("zeros where there are none")
	}
	if zero := (&Curve{Sizes: []int{1}, Times: [][]float64{{0}}}); zero.Zeros() != "L(1,1) is 0" || !zero.Zero(9, 9) {
		t.Error(zero.Zeros())
	}
}
