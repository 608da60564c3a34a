package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/test/check"
)

// A mapping that saves nothing is not called the cheapest.
func TestMapsThatTie(t *testing.T) {
	for _, tt := range []struct {
		best                  string
		overBlock, overCyclic float64
		want                  string
	}{
		{"mwpm", 0.0004, 0, "The order makes no difference: block and cyclic have the hop-bytes of the best mapping found, within 0.1 %."},
		{"mwpm", 0.0004, 0.1, "No mapping found is cheaper than block by 0.1 %."},
		{"block", 0, 0.1, "No mapping found is cheaper than block."},
		{"mwpm", 0.02, 0.1, "The cheapest mapping is mwpm: it saves 2.0 % of block's hop-bytes, 10.0 % of cyclic's."},
	} {
		r := &processmap.Result{Pairs: 1, Best: tt.best, Mappings: []processmap.Mapping{{Method: tt.best, OverBlock: &tt.overBlock, OverCyclic: &tt.overCyclic}}}
		said, _, _ := strings.Cut(textOf(ProcessMap(r)), "\n")
		check.Equal(t, said, tt.want, "%+v", tt)
	}
}

// A loss has the sign that other tables have.
func TestGain(t *testing.T) {
	for share, want := range map[float64]string{0.263: "26.3", -0.357: "-35.7", -0.0001: "0.0"} {
		check.Equal(t, gain(&share), want, "gain of %g", share)
	}
	check.Equal(t, gain(nil), "–", "gain that is not known")
}
