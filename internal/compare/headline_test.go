package compare

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// noisy has the intervals of a file ten times as wide as its samples say.
func noisy(f *params.File) {
	for i := range f.Cells {
		t := &f.Cells[i].Time
		t.Lo, t.Hi = t.Center/10, 2*t.Center
	}
}

// The largest certain difference comes first, from whichever machine it is seen. A file too noisy to
// be a reference is none where another one can be; of files that all are too noisy that is said.
func TestHeadline(t *testing.T) {
	slow, quick := map[int]float64{1: 1000, 2: 2000}, map[int]float64{1: 500, 2: 550}
	for _, tt := range []struct {
		machines           []Machine
		reference, warning string
		headline           string
	}{
		{[]Machine{machine("a", slow), machine("b", quick)}, "a", "", "b moves 3.6 times the bytes of a: 29.8 against 8.19 GB/s (ring, placement local, in cache, m = 8K, τ = 2)."},
		{[]Machine{machine("b", quick), machine("a", slow)}, "b", "", "b moves 3.6 times the bytes of a: 29.8 against 8.19 GB/s (ring,"},
		{[]Machine{machine("a", slow), machine("b", map[int]float64{1: 900, 2: 1800})}, "a", "", "b moves 11 % more bytes than a: "},
		{[]Machine{machine("a", slow), machine("b", slow)}, "a", "", ""},
		{[]Machine{machine("a", slow, noisy), machine("b", quick)}, "b", "a: too noisy to compare with, its intervals are ±95 % in the median: ratios are to b", "b moves 3.6 times the bytes of a"},
		{[]Machine{machine("a", slow, few), machine("b", quick)}, "b", "a: most of its cells have too few samples for an interval: ratios are to b", ""},
		{[]Machine{machine("a", slow, few), machine("b", quick, few)}, "a", "", ""},
		{[]Machine{machine("a", slow), machine("b", quick, noisy)}, "a", "", "b moves 3.6 times the bytes of a"},
		{[]Machine{machine("a", slow, noisy), machine("b", slow, noisy)}, "a", "", "The files are too noisy to compare: their intervals are ±95 % (a), ±95 % (b) in the median. Measure again where nothing else runs."},
	} {
		c := must.Get(New(tt.machines, Choice{Test: &fit.Test{Least: 0.03}}))
		if got := c.Tables[0].Rows[0].Machine; got != tt.reference {
			t.Errorf("compared with %s, want %s", got, tt.reference)
		}
		if got := sentences(c.Warnings); !strings.Contains(got, tt.warning) || tt.warning == "" && strings.Contains(got, "too noisy") {
			t.Errorf("warnings %q, want %q", got, tt.warning)
		}
		if got := c.Verdict.Headline; !strings.HasPrefix(got, tt.headline) || (got == "") != (tt.headline == "") {
			t.Errorf("%q, want %q", got, tt.headline)
		}
	}
}
