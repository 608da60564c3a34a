package compare

import (
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Where a file's isolated transfers lack a size, what a ring of one worker takes is no L(m,1)
// in their place: A(τ) is not known there.
func TestConcurrencyWithoutIsolated(t *testing.T) {
	f := &params.File{Plan: params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Sizes: []int{1024, 8192}, Taus: []int{1, 2}, SegmentBytes: 8192}}
	add := func(setup string, tau, m int, ns float64) {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m},
			K: 1, Transfers: 1, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
	}
	add(params.Isolated, 1, 8192, 300)
	for _, m := range f.Plan.Sizes {
		add(params.Ring, 1, m, 80)
		add(params.Ring, 2, m, 400)
	}
	curves := must.Get(Curves("a", f))
	for _, c := range curves {
		p, _ := c.At(2)
		if c.Bytes == 1024 && !math.IsNaN(p.A.Center) || c.Bytes == 8192 && math.Abs(p.A.Center-1.5) > 1e-9 {
			t.Errorf("m = %d: A(2) = %g", c.Bytes, p.A.Center)
		}
	}
}
