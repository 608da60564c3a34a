package series

import (
	"fmt"
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Means are over the rows that were reached; those with too few launches for an interval are named.
func TestShort(t *testing.T) {
	try := func(launches []int, L float64, over, want string) { // launches: for k = 1, 2, 4; 0: not reached
		t.Helper()
		r := Request{Setup: "ring", Placement: numa.Placement{Policy: numa.Local, Workers: make([]numa.Worker, 2)}, Segments: 2, SegmentBytes: 8192, K: []int{1, 2, 4}}
		f := &params.File{}
		for i, n := range launches {
			if n == 0 {
				continue
			}
			k := r.K[i]
			c := params.Cell{Key: r.key(params.TransferCell, k), K: k, Transfers: 1}
			for range n {
				c.Samples = append(c.Samples, params.Sample{NS: float64(100 * (i + 1) * k)})
			}
			c.Time = fit.Median(c.Values())
			f.Cells = append(f.Cells, c)
		}
		res := r.Conclude(&numa.Machine{}, f)
		short := ""
		if err := r.Short(res); err != nil {
			short = err.Error()
		}
		check.True(t, res.L.Center == L && fmt.Sprint(res.Over) == over && short == want,
			"launches %v: L = %v over %v, %q; want %v over %s, %q", launches, res.L.Center, res.Over, short, L, over, want)
	}
	try([]int{6, 6, 6}, 200, "[]", "")
	try([]int{6, 3, 6}, 200, "[]", "of 3 rows 1 has too few launches for an interval (k = 2)")
	try([]int{6, 0, 0}, 100, "[1]", "of 3 rows 2 were not reached (k = 2, 4): means are over k = 1")
	try([]int{6, 2, 0}, 150, "[1 2]", "of 3 rows 1 was not reached (k = 4) and 1 has too few launches for an interval (k = 2): means are over k = 1, 2")
	try([]int{2, 1, 0}, 150, "[1 2]", "of 3 rows 1 was not reached (k = 4) and 2 have too few launches for an interval (k = 1, 2): means are over k = 1, 2")
	try([]int{1, 1, 1}, 200, "[]", "of 3 rows 3 have too few launches for an interval (k = 1, 2, 4)")
}

// Two CPUs with an L2 of 512 KB each and a shared L3 of 32 MB: beside intermediate buffers of 16 KB, a
// user buffer of 256 KB fits L2, two of 8 MB fit L3.
func TestRegimes(t *testing.T) {
	both := numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 2, Threads: 1, L2: 512 << 10, L3: 32 << 20}.Machine()
	place := must.Get(both.Place(numa.Local, 2))
	var rows []Row
	for i, k := range K {
		L := float64(100 * (i + 1))
		rows = append(rows, Row{K: k, Bytes: k * 8192, Transfer: fit.Estimate{Center: L, Lo: L - 10, Hi: L + 10, N: 6}})
	}
	unknown := *both
	unknown.Caches = both.Caches[:4] // L1
	two := *both
	two.Caches = both.Caches[:6]
	try := func(m *numa.Machine, request Request, want string) {
		t.Helper()
		request.Segments, request.Placement = 2, place
		got := ""
		for _, r := range request.Regimes(m, rows) {
			got += fmt.Sprintf("%s k %v m %v %g [%g %g]; ", r.Level, r.K, r.Bytes, r.L.Center, r.L.Lo, r.L.Hi)
		}
		check.Equal(t, got, want, "got")
	}
	try(both, Request{SegmentBytes: 8192}, "L2 k [1 32] m [8192 262144] 350 [340 360]; L3 k [64 1024] m [524288 8388608] 900 [890 910]; memory k [2048 12288] m [16777216 100663296] 1350 [1340 1360]; ")
	try(both, Request{SegmentBytes: 8192, ArenaBytes: 64 << 20}, "memory k [1 12288] m [8192 100663296] 800 [790 810]; ")
	try(&two, Request{SegmentBytes: 8192}, "L2 k [1 32] m [8192 262144] 350 [340 360]; beyond L2 k [64 12288] m [524288 100663296] 1100 [1090 1110]; ")
	try(&two, Request{SegmentBytes: 8192, ArenaBytes: 64 << 20}, "memory k [1 12288] m [8192 100663296] 800 [790 810]; ")
	try(both, Request{}, "")
	try(&unknown, Request{SegmentBytes: 8192}, "")
}

// Rows without an interval have the bounds of others in the same cache; a mean of which no row in memory has one has
// none.
func TestMean(t *testing.T) {
	few, known := fit.Unbounded(100), fit.Estimate{Center: 100, Lo: 90, Hi: 120, N: 12}
	try := func(memory fit.Estimate, want bool) {
		t.Helper()
		res := Result{Rows: []Row{{K: 1, Transfer: few}, {K: 2, Transfer: known}, {K: 4, Transfer: memory}},
			By: []Regime{{K: [2]int{1, 2}}, {K: [2]int{4, 4}}}}
		mean := res.mean(func(row Row) fit.Estimate { return row.Transfer })
		check.True(t, mean.Known() == want && math.Abs(mean.Center-(200+memory.Center)/3) < 1e-9, "memory %+v: the mean is %+v", memory, mean)
		check.True(t, !want || math.Abs(mean.Lo-0.9*mean.Center) < 1e-9, "memory %+v: the mean is %+v", memory, mean)
	}
	try(known, true)
	try(few, false)
	try(fit.Unbounded(10), true)
	check.True(t, math.IsNaN(new(Result{Rows: []Row{{Transfer: fit.Median(nil)}}}).mean(func(row Row) fit.Estimate { return row.Transfer }).Center), "a mean of nothing")
}
