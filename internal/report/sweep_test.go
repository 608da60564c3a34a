package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestSweep(t *testing.T) {
	at := func(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.02 * ns, N: 9} }
	f := &params.File{Seconds: 60, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: []int{64, 8192, 65536, 1 << 18, 1 << 19}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}}
	cell := func(setup string, tau, m, k, transfers int, l float64) {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m},
			K: k, Transfers: transfers, Time: at(l)})
	}
	cell("isolated", 1, 64, 1, 2, 300)
	cell("isolated", 1, 8192, 1, 2, 2000)
	cell("isolated", 1, 65536, 8, 2, 16000)
	cell("isolated", 1, 1<<19, 64, 2, 12560)
	cell("ring", 2, 1<<19, 64, 2, 9900)
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NullCell, Setup: "isolated", Placement: numa.Local, Tau: 1}, Time: at(40)})
	cell("ring", 2, 64, 1, 2, 400)
	cell("ring", 2, 8192, 1, 2, 1600)
	cell("ring", 2, 1<<18, 32, 2, 18000)
	f.Cells = append(f.Cells,
		params.Cell{Key: params.Key{Kind: params.MessageCell, Placement: numa.Local, Tau: 1, Bytes: 64, Variant: params.Segmented}, Time: at(380)},
		params.Cell{Key: params.Key{Kind: params.MessageCell, Placement: numa.Local, Tau: 1, Bytes: 8192, Variant: params.Segmented}, Time: at(1950)},
		params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1}.Named("0-1"), Time: at(50)},
		params.Cell{Key: params.Key{Kind: params.AccessCell, Placement: numa.Local, Tau: 1, Bytes: 4096}.Named("read-int32-1"), Time: at(2048)})
	f.Launches = []params.Launch{{Relative: map[numa.Policy]float64{numa.Local: 0.98}}, {FirstCPU: 8, Relative: map[numa.Policy]float64{numa.Local: 1.078}}}
	var b bytes.Buffer
	Sweep(f, Reach{}).WriteText(&b)
	if n := strings.Count(b.String(), "o(m) in ns"); n != 1 {
		t.Errorf("o(m) of one state of the cache is in %d tables", n)
	}
	contains.All(t, b.String(),
		"the same o(m) is taken for placement local, off cache, of which no message was measured\n",
		"\nNot measured yet: ring, placement local, off cache.\n",
		"  256K          9000\n", // and no A(τ) without L(m,1)
		"    0  50\n",
		"first CPU  launches  local\n          0         1  0.980\n          8         1  1.078\nlocal: from CPU 8 on transfers take 10.0 % longer than from CPU 0 on\n",
		"1024 elements, in cache: ns an element",
		"read       int32  2.00  2.00",
		"L(m,τ) in ns, ring, placement local, in cache; segments of 8K",
		"     m  L(m,1)   τ=2  A(τ)",
		"    64     130   200  1.30",   // A = 2·(150−20)/200
		"    8K     980   800  2.45 ↑", // 2·(1000−20)/800, at least 2.35
		"   64K    7840\n",             // 8000 − 8·20, and the rest is not there yet
		"L(m,1) is one transfer between two workers, less half of y(1) = 40.0 ns for each transfer; A(τ)",
		"  512K    5000  4950  2.02 ?\n", // 2·(6280−64·20)/4950, at least 1.9
		"↑ more than τ",
		"? outside 1 … τ by chance",
		"o(m) in ns, placement local, in cache: what T(m), one message alone, takes beyond its transfers",
		"   m  T(m)  o(m)  95 % interval of o\n  64   380   120  [106, 134]\n  8K  1950   -10  [-90, 70]\n",
		"13 cells in 60 s, 2 launches of one session\n",
		"95 % intervals within ±2 % for half of them, ±2 % for 9 of 10",
	)
}

// A published table has no segments, no duration and no launches.
func TestMeasuredOfPublishedTable(t *testing.T) {
	table := &params.Table{Transfers: params.Curve{Sizes: []int{8}, Taus: []int{1}, Times: [][]float64{{1e-6}}}, Overheads: []float64{0}}
	var b strings.Builder
	Measured(params.FromText(table, nil)).WriteText(&b)
	contains.All(t, b.String(), "L(m,τ) in ns, published, placement published, in cache\n  m   τ=1\n  8  1000\n", "\n2 cells, no launches\n")
}

// A sweep begins with its numbers, whether the file is fit for use, and advice.
func TestSweepAnswer(t *testing.T) {
	at := func(ns, width float64) fit.Estimate {
		return fit.Estimate{Center: ns, Lo: (1 - width) * ns, Hi: (1 + width) * ns, N: 9}
	}
	file := func(width float64) *params.File {
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{8192}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}}}
		key := params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: 2, Bytes: 8192}
		one, none := key, key
		one.Setup, one.Tau = "isolated", 1
		none.Kind, none.Bytes = params.NullCell, 0
		f.Cells = []params.Cell{{Key: one, K: 1, Transfers: 2, Time: at(1600, width)}, {Key: key, K: 1, Transfers: 2, Time: at(1600, width)}, {Key: none, Time: at(40, width)}}
		return f
	}
	for _, tt := range []struct {
		width float64
		reach Reach
		want  string
	}{
		{0.02, Reach{Cells: 3, Again: "again"}, "L(8KB,2) = 800 ns [784, 816], y(2) = 40.0 ns [39.2, 40.8], A(2) = 2.00 [1.92, 2.08]\nFit for use: all 3 cells measured, 95 % intervals within ±2 % for half of them, ±2 % for 9 of 10.\nagain\n\nL(m,τ)"},
		{0.5, Reach{Cells: 3, More: "more"}, "\nNot fit for use: 95 % intervals within ±50 % for half of them, ±50 % for 9 of 10.\nmore\n\n"},
		{0.02, Reach{Cells: 9, Missing: errors.New("of 9 cells 6 were not reached"), Rest: "rest"}, "\nNot fit for use: of 9 cells 6 were not reached; half of those measured are within ±2 %.\nrest\n\n"},
		{0.02, Reach{Cells: 6, Missing: errors.New("of 6 cells 3 were not reached"), Rest: "rest"}, "\nFit for use where it has intervals: of 6 cells 3 were not reached; half of those measured are within ±2 %.\nrest\n\n"},
		{0.5, Reach{Cells: 9, Missing: errors.New("of 9 cells 6 were not reached"), Rest: "rest"}, "\nNot fit for use: of 9 cells 6 were not reached; half of those measured are within ±50 %.\nrest\n\n"},
	} {
		var b bytes.Buffer
		Sweep(file(tt.width), tt.reach).WriteText(&b)
		contains.All(t, b.String(), tt.want)
	}
}
