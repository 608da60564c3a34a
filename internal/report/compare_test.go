package report

import (
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// Times, bandwidths and A(τ) of too few launches are marked.
func TestSideBySideOfFew(t *testing.T) {
	of := func(name string, launches ...float64) compare.Machine {
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, SegmentBytes: 8192}}
		for tau, setup := range map[int]string{1: params.Isolated, 2: params.Ring} {
			c := params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: "local", Tau: tau, Bytes: 8192}, K: 1, Transfers: 2, Samples: params.Samples(launches...)}
			c.Time = fit.Median(launches)
			f.Cells = append(f.Cells, c)
		}
		return compare.Machine{Name: name, File: f}
	}
	c := must.Get(compare.New([]compare.Machine{of("a", 2000, 2000, 2000, 2000, 2000, 2000), of("b", 4000, 4000, 4000)}, compare.Choice{}))
	contains.All(t, textOf(SideBySide(c)), "1  1000 ±0.0 %  ≈2000  2.00 ?", "1  8.19  ≈4.10", "2  2.00  ≈2.00", "b  ≈2000 ns  ≈2.00 of 2", "≈ too few launches for an interval")
}

// Of several tables those in which a machine is ahead are named, the others are counted.
func TestConclusions(t *testing.T) {
	of := func(name string, slower float64, launches int) compare.Machine {
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, SegmentBytes: 8192}}
		for _, bytes := range []int{1024, 8192, 65536} {
			for tau, setup := range map[int]string{1: params.Isolated, 2: params.Ring} {
				c := params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: "local", Tau: tau, Bytes: bytes}, K: 1, Transfers: 2}
				n := launches
				if bytes == 65536 {
					n = min(n, 5)
				}
				for i := range n {
					ns := 2000 + float64(i)
					if bytes == 8192 && tau == 2 {
						ns *= slower
					}
					c.Samples = append(c.Samples, params.Sample{NS: ns, Launch: int32(i)})
				}
				c.Time = c.Replicates(f).Estimate()
				f.Cells = append(f.Cells, c)
			}
		}
		f.Launches = make([]params.Launch, launches)
		return compare.Machine{Name: name, File: f}
	}
	c := must.Get(compare.New([]compare.Machine{of("a", 1, 8), of("b", 8, 8)}, compare.Choice{Sizes: []int{1024, 8192, 65536}}))
	contains.All(t, textOf(SideBySide(c)), "1002 ±0.1 %  1.00 ~", "1.00 ?", "8014 ±0.1 %  8.00", "S = 8K: a carries more transfers at once", "In 1 of 3 tables no machine carries", "In 1 of 3 tables which machine is ahead was not tested")
}
