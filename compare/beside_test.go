package compare

import (
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// Ratios of 2 and 8 have a geometric mean of 4; what only one machine has, and
// transfers, are left out.
func TestBeside(t *testing.T) {
	cell := func(kind params.Kind, variant string, ns float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: kind, Placement: "local", Tau: 1, Bytes: 64, Variant: variant},
			Time: fit.Estimate{Center: ns, Lo: 0.9 * ns, Hi: 1.1 * ns, N: 9}}
	}
	machine := func(name string, cells ...params.Cell) Machine {
		return Machine{Name: name, File: &params.File{Cells: cells}}
	}
	got := beside([]Machine{
		machine("a", cell(params.TransferCell, "", 7), cell(params.LevelCell, "L1-L2", 10), cell(params.LevelCell, "L2-L2", 10), cell(params.LevelCell, "L3-L3", 10),
			cell(params.PairCell, "0-1", 100), cell(params.PackCell, "4K8S", 5)),
		machine("b", cell(params.TransferCell, "", 9), cell(params.LevelCell, "L1-L2", 20), cell(params.LevelCell, "L2-L2", 80), cell(params.LevelCell, "L1-L1", 1),
			cell(params.PairCell, "0-1", 95)),
		machine("c"),
	})
	if len(got) != 2 || got[0].Kind != params.LevelCell || got[1].Kind != params.PairCell || len(got[0].Rows) != 1 {
		t.Fatalf("%+v", got)
	}
	if r := got[0].Rows[0]; r.Machine != "b" || r.Cells != 2 || math.Abs(r.Mean-4) > 1e-12 || r.Slower != 2 || r.Faster != 0 ||
		r.Farthest.Key.Variant != "L2-L2" || r.Farthest.Ratio != 8 {
		t.Errorf("%+v", r)
	}
	if r := got[1].Rows[0]; r.Slower != 0 || r.Faster != 0 { // [85.5, 104.5] and [90, 110]
		t.Errorf("%+v", r)
	}
}
