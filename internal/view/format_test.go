package view

import (
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
)

// The uncertainty decides the number of digits; 0 has no sign.
func TestDigits(t *testing.T) {
	for _, tt := range []struct {
		v, uncertainty float64
		want           string
	}{
		{1234.567, 30, "1235"}, {95923, 20000, "96000"}, {2382, 150, "2380"}, {-14999, 1000, "-15000"}, {1234.567, 0.5, "1234.6"}, {12.345, 0.04, "12.35"}, {0.012345, 0.0001, "0.0123"}, {0.00049, 0.00002, "0.00049"},
		{3793, 0, "3793"}, {12.3456, math.Inf(1), "12.3"}, {math.NaN(), 1, "?"},
		{-0.3, 20, "0"}, {-0.04, 0.3, "0.0"}, {0, 1, "0"}, {-3, 20, "-3"}, {-0.4, 0.3, "-0.4"}, {-10, 200, "-10"},
	} {
		if got := Digits(tt.v, tt.uncertainty); got != tt.want {
			t.Errorf("Digits(%g, %g) = %q, want %q", tt.v, tt.uncertainty, got, tt.want)
		}
	}
}

// A number has two digits, unless its interval is twenty times as wide.
func TestRoughOfTheUnknown(t *testing.T) {
	for _, tt := range []struct {
		e    fit.Estimate
		want string
	}{{fit.Estimate{Center: 4.5e-5, Lo: 0, Hi: 6, N: 11}, "0"}, {fit.Estimate{Center: 1.7, Lo: 0, Hi: 3, N: 11}, "1.7"}, {fit.Estimate{Center: 183, Lo: 171, Hi: 223, N: 11}, "183"}} {
		if got := Rough(tt.e); got != tt.want {
			t.Errorf("Rough(%v) = %q, want %q", tt.e, got, tt.want)
		}
	}
}
