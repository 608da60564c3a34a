package report

import (
	"testing"

	"github.com/taulop/taulop/internal/verify"
)

// What rounds to no error has no sign that says it was too low.
func TestNoErrorHasOneSign(t *testing.T) {
	for off, want := range map[float64]string{-1e-9: "+0.0", 1e-9: "+0.0", -0.001: "-0.1", 0.001: "+0.1", -12: "-1200"} {
		if got := predicted([]verify.Prediction{{Model: "m", Ns: 1e3, Error: off}}, "m"); got[1] != want {
			t.Errorf("%g: %s, want %s", off, got[1], want)
		}
	}
}
