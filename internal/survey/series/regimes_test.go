package series

import (
	"fmt"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// Two CPUs with an L2 of 512 KB each and a shared L3 of 32 MB: beside intermediate buffers of 16 KB, a
// user buffer of 256 KB fits L2, two of 8 MB fit L3.
func TestRegimes(t *testing.T) {
	both := &numa.Machine{CPUs: []numa.CPU{{ID: 0}, {ID: 1, Core: 1}}, Allowed: numa.SetOf(0, 1), Nodes: []numa.Node{{CPUs: numa.SetOf(0, 1)}}, Caches: []numa.Cache{
		{Level: 1, Type: "Data", Bytes: 32 << 10, CPUs: numa.SetOf(0)}, {Level: 1, Type: "Data", Bytes: 32 << 10, CPUs: numa.SetOf(1)},
		{Level: 2, Type: "Unified", Bytes: 512 << 10, CPUs: numa.SetOf(0)}, {Level: 2, Type: "Unified", Bytes: 512 << 10, CPUs: numa.SetOf(1)},
		{Level: 3, Type: "Unified", Bytes: 32 << 20, CPUs: numa.SetOf(0, 1)},
	}}
	place := must.Get(both.Place(numa.Local, 2))
	var rows []Row
	for i, k := range K {
		L := float64(100 * (i + 1))
		rows = append(rows, Row{K: k, Bytes: k * 8192, Transfer: fit.Estimate{Center: L, Lo: L - 10, Hi: L + 10, N: 6}})
	}
	unknown := *both
	unknown.Caches = both.Caches[:2]
	for _, tt := range []struct {
		m       *numa.Machine
		request Request
		want    string
	}{
		{both, Request{SegmentBytes: 8192}, "L2 k [1 32] m [8192 262144] 350 [340 360]; L3 k [64 1024] m [524288 8388608] 900 [890 910]; memory k [2048 12288] m [16777216 100663296] 1350 [1340 1360]; "},
		{both, Request{SegmentBytes: 8192, ArenaBytes: 64 << 20}, "memory k [1 12288] m [8192 100663296] 800 [790 810]; "},
		{both, Request{}, ""},
		{&unknown, Request{SegmentBytes: 8192}, ""},
	} {
		tt.request.Segments, tt.request.Placement = 2, place
		got := ""
		for _, r := range tt.request.Regimes(tt.m, rows) {
			got += fmt.Sprintf("%s k %v m %v %g [%g %g]; ", r.Level, r.K, r.Bytes, r.L.Center, r.L.Lo, r.L.Hi)
		}
		if got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
