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
