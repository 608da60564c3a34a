package params

import (
	"math"
	"reflect"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

func pairFile(cells ...Cell) *File {
	f := &File{Format: Format, Version: Version, Cells: cells}
	f.Provenance.Levels = numa.Levels{{Name: "shared L3", Groups: []numa.CPUSet{{0, 1, 2}}}, {Name: "nodes 21 apart", Groups: []numa.CPUSet{{0, 1, 2, 8}}}}
	return f
}

func pairCell(a, b, bytes int, ns float64) Cell {
	return Cell{Key: Key{Kind: PairCell, Placement: numa.List, Tau: 1, Bytes: bytes, Variant: PairOf(a, b, UnknownHome)}, Time: fit.Median([]float64{ns})}
}

// Pairs have levels, and levels have medians; missing times are NaN. Writing and reading keeps all of it.
func TestPairs(t *testing.T) {
	f := pairFile(pairCell(8, 0, 0, 200), pairCell(0, 1, 0, 50), pairCell(1, 2, 0, 54), pairCell(0, 2, 0, 52), pairCell(0, 1, 8192, 600))
	f = reread(t, written(t, f))
	p := must.Get(f.Pairs())
	levels := []PairLevel{{"shared L3", 3, []float64{52, 600}}, {"nodes 21 apart", 1, []float64{200, 0}}}
	check.Need(t, p.CPUs.String() == "0-2,8" && len(p.Pairs) == 4 && reflect.DeepEqual(p.Levels, levels), "%+v", p)
	last := p.Pairs[2]
	check.True(t, last.From == 0 && last.To == 8 && math.IsNaN(last.Times[1].Center), "%+v", last)
	near, far := p.Curve(0), p.Curve(1)
	at, beyond := near.At(4096, 1)
	check.True(t, !beyond && math.Abs(at-326e-9) <= 1e-15, "f(4K) = %g s", at) // half way from 52 to 600 ns
	at, _ = far.At(4096, 1)
	check.True(t, at >= 200e-9 && !math.IsInf(at, 0), "a level with null transfers alone: %g s", at)
	f.Provenance.Levels = nil
	p = must.Get(f.Pairs())
	check.True(t, len(p.Levels) == 1 && p.Levels[0].Pairs == 4, "without levels: %+v", p)
	invalid := Cell{Key: Key{Kind: PairCell, Placement: numa.List, Tau: 1}.Named("2-0")}
	for says, f := range map[string]*File{"no pairs": pairFile(), "has no pairs": pairFile(pairCell(0, 1, 64, 0)), "is no pair of CPUs": pairFile(invalid)} {
		contains.Error(t, must.Err(f.Pairs()), says)
	}
}

// Homes of the memory between two CPUs are separate, with their own levels. On one node the reader's home is the
// writer's, which comes first.
func TestHomes(t *testing.T) {
	at := func(a, b int, home Home, ns float64) Cell {
		return Cell{Key: Key{Kind: PairCell, Placement: numa.List, Tau: 1, Variant: PairOf(a, b, home)}, Time: fit.Median([]float64{ns})}
	}
	f := pairFile(at(0, 1, WriterHome, 50), at(0, 1, ThirdHome, 90), at(0, 8, ReaderHome, 111), at(0, 8, WriterHome, 176), at(1, 8, WriterHome, 178), at(1, 8, ReaderHome, 113))
	p := must.Get(f.Pairs())
	check.True(t, p.Home == WriterHome && len(p.Others) == 2 && len(p.Pairs) == 3, "%+v", p)
	reader, third := p.Others[0], p.Others[1]
	check.True(t, reader.Home == ReaderHome && len(reader.Pairs) == 3 && reader.Levels[0].Median[0] == 50 && reader.Levels[1].Median[0] == 112 && !reader.Measured(0) && reader.Measured(1),
		"%+v", reader)
	check.True(t, third.Home == ThirdHome && len(third.Pairs) == 1 && third.Levels[0].Median[0] == 90 && p.Levels[1].Median[0] == 177, "%+v", third)
	one, _ := p.Curve(1).At(1, 1)
	check.Near(t, one, 177e-9, 1e-15, "f(1), s")
}
