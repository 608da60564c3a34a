package strides

import (
	"fmt"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// o_mw is the time of the same size contiguous, at the same level and state of the cache; l_mw is the
// time that the stride adds. Numbers have the proportions of mlognp-2009, Fig. 2.
func TestPackRows(t *testing.T) {
	packed := func(variant string, bytes int, off bool, ns float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: params.PackCell, Placement: numa.Local, OffCache: off, Tau: 1, Bytes: bytes}.Named(variant),
			Time: fit.Estimate{Center: ns, Lo: ns - 1, Hi: ns + 1, N: 6}}
	}
	rows := PackRows([]params.Cell{
		packed("4K8S-L3", 4096, false, 1778), packed("4K4S-L3", 4096, false, 1039), packed("4K4S", 4096, false, 25), packed("4K8S", 4096, false, 300),
		packed("4K8S", 4096, true, 900), packed("16K8S-L3", 16384, false, 5174), packed("9Q-L3", 9, false, 1),
	})
	value := func(e *fit.Estimate) float64 { // 0: unknown
		if e == nil {
			return 0
		}
		return e.Center
	}
	got := lists.Map(rows, func(r PackRow) string {
		return fmt.Sprintf("%s %q %v %g %g", r.Message, r.Level, r.OffCache, value(r.Contiguous), value(r.Latency))
	})
	check.Slices(t, got, []string{
		`4K4S "" false 25 0`, `4K8S "" false 25 0`, `4K4S "L3" false 1039 0`, `4K8S "L3" false 1039 739`, `16K8S "L3" false 0 0`, `4K8S "" true 0 0`,
	}, "messages, levels, off cache, contiguous and latencies")
}

// The messages of mlognp-2009, contiguous ones included. Invalid messages are rejected.
func TestMessages(t *testing.T) {
	messages := must.Get(Messages([]int{1 << 10, 4 << 10, 16 << 10}, []int{8, 64, 512}, 4, 16<<20))
	check.True(t, len(messages) == 12 && messages[0].String() == "1K4S" && messages[11].String() == "16K512S", "%v", messages)
	for _, tt := range []struct {
		size, stride, element, array int
		want                         string
	}{{1 << 10, 64, 4, 1 << 10, "beyond the array"}, {2, 8, 4, 1 << 20, "smaller than an element"}, {1 << 10, 2, 4, 1 << 20, "overlap"}} {
		contains.Error(t, must.Err(Messages([]int{tt.size}, []int{tt.stride}, tt.element, tt.array)), tt.want)
	}
}

// A pair's level is the closest thing that its CPUs share.
func TestPairs(t *testing.T) {
	m := &numa.Machine{CPUs: []numa.CPU{{ID: 0}, {ID: 1, Core: 1}}, Allowed: numa.SetOf(0, 1),
		Caches: []numa.Cache{{Level: 3, Type: "Unified", Bytes: 60 << 20, CPUs: numa.SetOf(0, 1)}}}
	pairs := Pairs(m)
	check.True(t, len(pairs) == 1 && pairs[0] == (Pair{"L3", [2]int{0, 1}}), "%+v", pairs)
	// A sibling, a core of the same package, one in another package, and one on another node.
	m.CPUs = []numa.CPU{{ID: 0}, {ID: 1, Core: 0, Thread: 1}, {ID: 2, Core: 1}, {ID: 3, Core: 2, Package: 1}, {ID: 4, Core: 3, Package: 2, Node: 1}}
	m.Caches = []numa.Cache{{Level: 2, Type: "Unified", Bytes: 1 << 20, CPUs: numa.SetOf(0, 1, 2)}}
	m.Allowed = numa.SetOf(0, 1, 2, 3, 4)
	want := []Pair{{"smt", [2]int{0, 1}}, {"L2", [2]int{0, 2}}, {"node", [2]int{0, 3}}, {"machine", [2]int{0, 4}}}
	check.Slices(t, Pairs(m), want, "Pairs")
	// Two nodes of one package: models use the name of the machine's level.
	m.CPUs = []numa.CPU{{ID: 0}, {ID: 1, Core: 1}, {ID: 2, Core: 2, Node: 1}, {ID: 3, Core: 3, Node: 1}}
	m.Caches, m.Allowed = nil, numa.SetOf(0, 1, 2, 3)
	want = []Pair{{"node", [2]int{0, 1}}, {"package", [2]int{0, 2}}}
	check.Slices(t, Pairs(m), want, "Pairs")
}
