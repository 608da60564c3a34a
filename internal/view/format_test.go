package view

import "testing"

// What rounds to nothing has no sign.
func TestDigitsOfNothing(t *testing.T) {
	for _, tt := range []struct {
		v, uncertainty float64
		want           string
	}{{-0.3, 20, "0"}, {-0.04, 0.3, "0.0"}, {0, 1, "0"}, {-3, 20, "-3"}, {-0.4, 0.3, "-0.4"}, {-10, 200, "-10"}} {
		if got := Digits(tt.v, tt.uncertainty); got != tt.want {
			t.Errorf("Digits(%g, %g) = %q, want %q", tt.v, tt.uncertainty, got, tt.want)
		}
	}
}
