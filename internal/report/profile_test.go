package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestProfiles(t *testing.T) {
	cell := func(kind params.Kind, variant string, bytes int, ns float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: kind, Placement: numa.Local, Tau: 1, Bytes: bytes}.Named(variant), Time: fit.Median([]float64{ns})}
	}
	file := &params.File{Cells: []params.Cell{
		cell(params.LevelCell, "L2-memory", 8192, 200),
		cell(params.LevelCell, "L2-memory", 64, 10), // X rises
		cell(params.AccessCell, "read-float64-4", 1024*4*8, 2048),
		cell(params.AccessCell, "read-float64-1", 1024*8, 1024),
		cell(params.AccessCell, "read-float64-1", 2048*8, 1024), // another N
		cell(params.AccessCell, "fly-float64-1", 2048*8, 1024),  // of a newer version
		cell(params.PackCell, "4K8S", 4096, 900),
		cell(params.PackCell, "4K16S-L3", 4096, 2000),
		cell(params.DiskCell, "read-direct", 4096, 90e3),
		cell(params.PairCell, "0-1", 0, 60),
		{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: 2, Bytes: 64}, K: 1, Transfers: 2, Time: fit.Median([]float64{5})},
	}}
	var got []string
	for _, p := range Profiles(file) {
		text := fmt.Sprintf("%s: %s: %s (%d) over %s:", p.Kind, p.Panel, p.Line, p.Size, p.Over)
		for _, q := range p.Points {
			text += fmt.Sprintf(" %d %g", q.X, q.Y.Center)
		}
		got = append(got, text)
	}
	want := []string{
		"access: float64, N = 1K: read (0) over stride, elements: 1 1 4 2",
		"access: float64, N = 2K: read (0) over stride, elements: 1 0.5",
		"disk: page cache out: read (0) over m, bytes: 4096 90000",
		"level: τ = 1: L2 → memory (0) over m, bytes: 64 10 8192 200",
		"pack: packing: 4K (4096) over stride d, bytes: 8 900",
		"pack: one way, L3: 4K (4096) over stride d, bytes: 16 2000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
