package mapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// twoSockets is a node of two sockets of two NUMA nodes of two cores.
var twoSockets = numa.Levels{
	{Name: "same_numa", Groups: []numa.CPUSet{{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
	{Name: "same_socket", Groups: []numa.CPUSet{{0, 1, 2, 3}, {4, 5, 6, 7}}},
	{Name: "other_socket", Groups: []numa.CPUSet{{0, 1, 2, 3, 4, 5, 6, 7}}},
	{Name: "other_node"},
}

// interleaved is such a node whose cores are numbered across its sockets, and there across its NUMA nodes.
var interleaved = numa.Levels{
	{Name: "same_numa", Groups: []numa.CPUSet{{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
	{Name: "same_socket", Groups: []numa.CPUSet{{0, 2, 4, 6}, {1, 3, 5, 7}}},
	{Name: "other_socket", Groups: []numa.CPUSet{{0, 1, 2, 3, 4, 5, 6, 7}}},
	{Name: "other_node"},
}

// Placements of mpirun --map-by of Open MPI 4.1, from --report-bindings and the manual page, in hwloc's logical
// order. Without known cores each node gets one rank.
func TestBy(t *testing.T) {
	try := func(how string, levels numa.Levels, ranks, nodes int, want string) { // want: node.core of each rank
		t.Helper()
		m := must.Get(must.Get(By(how, levels, ranks, nodes)).Map(ranks, nodes))
		got := lists.Map(lists.Indices(ranks), func(rank int) string { return fmt.Sprintf("%d.%d", m.Node(rank), m.Core(rank)) })
		check.Equal(t, strings.Join(got, " "), want, "%s of %d ranks on %d nodes", how, ranks, nodes)
	}
	try("core", twoSockets, 3, 1, "0.0 0.1 0.2")
	try("core", twoSockets, 10, 2, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 1.0 1.1")
	try("socket", twoSockets, 5, 1, "0.0 0.4 0.1 0.5 0.2")
	try("socket", twoSockets, 10, 2, "0.0 0.4 0.1 0.5 0.2 0.6 0.3 0.7 1.0 1.4")
	try("numa", twoSockets, 5, 1, "0.0 0.2 0.4 0.6 0.1")
	try("node", twoSockets, 2, 2, "0.0 1.0")
	try("block", twoSockets, 5, 2, "0.0 0.1 0.2 1.0 1.1")
	try("block", twoSockets, 4, 1, "0.0 0.1 0.2 0.3")
	try("block", twoSockets, 10, 4, "0.0 0.1 0.2 1.0 1.1 1.2 2.0 2.1 3.0 3.1")
	try("node", twoSockets, 12, 2, "0.0 1.0 0.2 1.2 0.4 1.4 0.6 1.6 0.1 1.1 0.3 1.3")
	try("core", interleaved, 8, 1, "0.0 0.4 0.2 0.6 0.1 0.5 0.3 0.7")
	try("slot", interleaved, 8, 1, "0.0 0.4 0.2 0.6 0.1 0.5 0.3 0.7")
	try("block", interleaved, 8, 1, "0.0 0.4 0.2 0.6 0.1 0.5 0.3 0.7")
	try("socket", interleaved, 8, 1, "0.0 0.1 0.4 0.5 0.2 0.3 0.6 0.7")
	try("numa", interleaved, 8, 1, "0.0 0.2 0.1 0.3 0.4 0.6 0.5 0.7")
	try("core", nil, 2, 2, "0.0 1.0")
	try("node", nil, 2, 2, "0.0 1.0")
	try("block", nil, 2, 2, "0.0 1.0")
}

func TestByRefused(t *testing.T) {
	one := numa.Levels{{Name: "same numa", Groups: []numa.CPUSet{{0, 1, 2, 3}}}}
	try := func(how string, levels numa.Levels, ranks, nodes int, says string) {
		t.Helper()
		contains.Error(t, must.Err(By(how, levels, ranks, nodes)), says)
	}
	try("core", twoSockets, 9, 1, "9 ranks are more than the 8 cores of 1 node: take fewer")
	try("hwthread", twoSockets, 2, 1, "unknown mapping")
	try("", twoSockets, 2, 1, "unknown mapping")
	try("bysock", twoSockets, 2, 1, "unknown mapping")
	try("core", nil, 2, 1, "nothing says which cores")
	try("core", twoSockets, 2, 3, "2 ranks cannot be on 3 nodes")
	try("block", nil, 1, 2, "1 rank cannot be on 2 nodes")
	try("socket", one, 4, 1, "the parameters do not tell several sockets apart")
	try("l3cache", one, 4, 1, "the parameters do not tell several L3 caches apart")
	try("elsewhere", one, 4, 1, "unknown mapping")
	check.Error(t, must.Err(List([]int32{0, 2}, nil, 2)), "a list with a node that is not there")
	check.Error(t, must.Err(List([]int32{0, 1}, []int32{0}, 2)), "a list with fewer cores than ranks")
}
