package doubt

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Eq. (8) does not compare an isolated message with a ring off cache, which receives into another buffer.
func TestBoundsOfRingOffCache(t *testing.T) {
	for _, tt := range []struct {
		setup string
		off   bool
		want  int
	}{{params.Ring, true, 0}, {params.Ring, false, 1}, {params.Sendrecv, true, 1}} {
		f := &params.File{Plan: params.Plan{Setups: []string{tt.setup}, Policies: []numa.Policy{numa.Local}, Sizes: []int{8192}, Taus: []int{1, 2}, Caches: []bool{tt.off}}}
		for _, c := range []params.Cell{
			{Key: params.Key{Kind: params.TransferCell, Setup: params.Isolated, Tau: 1}, Time: exactly(2000)},
			{Key: params.Key{Kind: params.TransferCell, Setup: tt.setup, Tau: 2}, Time: exactly(1000)},
		} {
			c.Placement, c.OffCache, c.Bytes, c.K, c.Transfers = numa.Local, tt.off, 8192, 1, 1
			f.Cells = append(f.Cells, c)
		}
		if got := Bounds(f.Transfers()); len(got) != tt.want {
			t.Errorf("%s, off cache %v: %v, want %d", tt.setup, tt.off, got, tt.want)
		}
	}
}

func exactly(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6} }

// The first two times are of metropolis. Without intervals every difference counts.
func TestBoundsOfPublishedFile(t *testing.T) {
	table := &params.Table{Transfers: params.Curve{Sizes: []int{1}, Taus: []int{1, 2, 3}, Times: [][]float64{{289.4e-9, 147.725e-9, 900e-9}}}, Overheads: []float64{0}}
	all := Bounds(params.FromText(table, nil).Transfers())
	var got []string
	for _, v := range all {
		got = append(got, v.Error())
	}
	if want := []string{
		"eq. (8) is broken (published, placement published, in cache): L(1,2) = 147.72 ns is below L(1,1) = 289.4 ns, with fewer transfers at once",
		"eq. (8) is broken (published, placement published, in cache): L(1,3) = 900 ns is above 3 times L(1,1) = 289.4 ns: worse than one after the other",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// Only breaches beyond the intervals count, and none with too few samples.
func TestBoundsWithinIntervals(t *testing.T) {
	f := &params.File{Plan: params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Caches: []bool{false}}}
	for tau, ns := range map[int]float64{2: 240, 4: 480} {
		f.Cells = append(f.Cells, params.Cell{K: 1, Transfers: 2, Time: exactly(ns),
			Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: tau, Bytes: 64}})
	}
	if got := Bounds(f.Transfers()); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	four := &f.Cells[slices.IndexFunc(f.Cells, func(c params.Cell) bool { return c.Tau == 4 })] // L = 240, twice L(64,2)
	four.Time = fit.Estimate{Center: 500, Lo: 470, Hi: 520, N: 6}
	if got := Bounds(f.Transfers()); len(got) != 0 {
		t.Errorf("within its interval: got %v", got)
	}
	four.Time = fit.Estimate{Center: 500, Lo: 490, Hi: 520, N: 6}
	got := Bounds(f.Transfers())
	if len(got) != 1 || got[0].Tau != 2 || got[0].A != 2 || !got[0].Above || got[0].Many.Center != 250 ||
		!strings.Contains(got[0].Error(), "L(64,4) = 250 [245, 260] ns is above 2 times L(64,2) = 120 ns") {
		t.Errorf("got %v", got)
	}
	four.Time = fit.Median([]float64{900, 901})
	if got := Bounds(f.Transfers()); len(got) != 0 {
		t.Errorf("of two samples: got %v", got)
	}
}

// Data count as in a cache if half of the launches at a placement and τ found them there, not one launch
// alone.
func TestInCache(t *testing.T) {
	launch := func(loads ...params.Loads) params.Launch { return params.Launch{Loads: loads} }
	next := func(tau int, ns float64) params.Loads {
		return params.Loads{Placement: numa.Local, Tau: tau, Next: ns, Flushed: 116, Cached: 4.4}
	}
	memory, cache := func(tau int) params.Loads { return next(tau, 112) }, func(tau int) params.Loads { return next(tau, 60) }
	for _, tt := range []struct {
		launches []params.Launch
		want     string
	}{
		{nil, ""},
		{[]params.Launch{launch(), launch()}, ""},
		{[]params.Launch{launch(memory(1), memory(2)), launch(memory(1), cache(2)), launch(memory(2), memory(1))}, ""},
		{[]params.Launch{launch(memory(1), cache(2)), launch(cache(2), cache(1)), launch(memory(1), memory(2))},
			"in placement local, τ = 2: a cache held 50 % of the next messages' data; a read took 60 ns, from memory 116 ns"},
		{[]params.Launch{launch(cache(1), cache(2))}, "in placement local, τ = 1, and in 1 more"},
	} {
		f := &params.File{Launches: tt.launches}
		err := InCache(f)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.launches, err, tt.want)
		}
	}
}
