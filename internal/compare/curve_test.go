package compare

import (
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A ring of two workers whose segments are copied twice: l = 2k·L.
func TestCurves(t *testing.T) {
	f := &params.File{Plan: params.Plan{SegmentBytes: 8192}}
	cell := func(setup string, tau, m, k int, samples ...float64) {
		f.Cells = append(f.Cells, params.Cell{
			Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m}, K: k, Transfers: 2,
			Time: fit.Estimate{Center: samples[1], Lo: samples[0], Hi: samples[2], N: len(samples)}, Samples: params.Samples(samples...),
		})
	}
	cell("ring", 2, 8192, 1, 2900, 3000, 3100)
	cell("ring", 1, 8192, 1, 1, 2, 3) // isolated is there instead
	cell("isolated", 1, 8192, 1, 1900, 2000, 2100)
	cell("ring", 2, 65536, 8, 23000, 24000, 25000)
	cell("ring", 1, 65536, 8, 7900, 8000, 8100) // is no L(m,1) in place of the isolated transfers'
	curves, err := Curves("a", f)
	if err != nil || len(curves) != 2 {
		t.Fatalf("%d curves, %v", len(curves), err)
	}
	c := curves[0]
	if want := (Channel{"ring", numa.Local, false, 8192}); c.Channel != want || !c.Segment || len(c.Points) != 2 || c.Machine != "a" {
		t.Errorf("%+v", c)
	}
	two, _ := c.At(2)
	close := func(got fit.Estimate, center, lo, hi float64) bool {
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }
		return near(got.Center, center) && near(got.Lo, lo) && near(got.Hi, hi)
	}
	// L = l/2, A = 2·1000/1500 between 2·950/1550 and 2·1050/1450, 16384 bytes in 1500 ns.
	if !close(two.L, 1500, 1450, 1550) || !close(two.A, 4./3, 1900./1550, 2100./1450) || !close(two.Bandwidth, 16384/1500., 16384/1550., 16384/1450.) {
		t.Errorf("τ = 2: %+v", two)
	}
	if two.Replicates.Launches() != 3 || two.Replicates[0][0] != 1450 {
		t.Errorf("replicates %v", two.Replicates)
	}
	if one, _ := c.At(1); !close(one.A, 1, 1, 1) || one.L.Center != 1000 {
		t.Errorf("τ = 1: %+v", one)
	}
	c = curves[1]
	if p, _ := c.At(2); c.Segment || !math.IsNaN(p.A.Center) || p.L.Center != 12000 {
		t.Errorf("64K: %+v", c)
	}
	if _, err := Curves("b", &params.File{}); err == nil {
		t.Error("no transfers: no error")
	}
}
