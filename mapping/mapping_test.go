package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// nodes are the nodes of a map's ranks, from 0 to 9, as text.
func nodes(m *Map) string {
	return strings.Join(lists.Map(lists.Indices(m.Ranks), func(rank int) string { return fmt.Sprint(m.Node(rank)) }), "")
}

func list(t testing.TB, text string) Order { return must.Get(Read(strings.NewReader(text), "list")) }

func TestMap(t *testing.T) {
	try := func(order string, ranks, n int, want string) {
		t.Helper()
		o, _, known, err := ParseOrder(order)
		check.Need(t, err == nil && known, "%v", err)
		m := must.Get(o.Map(ranks, n))
		check.Equal(t, nodes(m), want, "%s of %d ranks on %d nodes", order, ranks, n)
		slots := make(map[int]int)
		for rank := range m.Ranks {
			check.Equal(t, m.Slot(rank), slots[m.Node(rank)], "%s of %d ranks on %d nodes: slot of rank %d", order, ranks, n, rank)
			slots[m.Node(rank)]++
		}
		check.Equal(t, m.Largest(), slices.Max(slices.Collect(maps.Values(slots))), "%s of %d ranks on %d nodes: the largest", order, ranks, n)
		check.Equal(t, o.String(), order, "name of an order")
	}
	try("block", 8, 2, "00001111")
	try("block", 10, 4, "0001112233") // as Slurm: the first nodes have one more
	try("block", 4, 4, "0123")
	try("block", 5, 1, "00000")
	try("cyclic", 8, 2, "01010101")
	try("cyclic", 5, 3, "01201")
	try("plane=2", 8, 2, "00110011")
	try("plane=2", 7, 3, "0011220")
	try("plane=4", 6, 3, "000011") // Slurm's too leaves the last node empty
}

func TestParseOrder(t *testing.T) {
	try := func(text string, wantWithin Within, wantKnown bool, says string) {
		t.Helper()
		_, within, known, err := ParseOrder(text)
		contains.Error(t, err, says)
		check.True(t, within == wantWithin && known == wantKnown, "%q: %q, %v", text, within, known)
	}
	try("block", "", true, "")
	try("BLOCK:Cyclic", CyclicWithin, true, "")
	try("cyclic:block", BlockWithin, true, "")
	try("block:fcyclic", CyclicWithin, true, "")
	try("*:cyclic", CyclicWithin, true, "")
	try("block:*:cyclic", AnyWithin, true, "")
	try("plane=4:block", BlockWithin, true, "")
	try("ranks.txt", "", false, "")
	try("*", "", false, "")
	try("", "", false, "")
	try("plane=0", "", true, "is no number of ranks in a row")
	try("plane=x", "", true, "is no number of ranks in a row")
	try("arbitrary", "", true, "name that, with a line for each rank")
	try("block:round", "", true, `"round" is no order of a node's sockets`)
	try("block:block:block:block", "", true, "is no order of a node's sockets")
}

func TestMapRefused(t *testing.T) {
	of := list(t, "n1\nn1\nn2\nn2\n")
	contains.Error(t, must.Err(Order{}.Map(4, 5)), "4 ranks cannot be on 5 nodes")
	contains.Error(t, must.Err(Cyclic.Map(4, 0)), "at least one node")
	contains.Error(t, must.Err(of.Map(4, 3)), "names 2 nodes, not 3")
	contains.Error(t, must.Err(of.Map(5, 2)), "places ranks 0 … 3, and P = 5")
}

// The first is from the manual page of Open MPI 4.1, the second from its mailing list, the
// third what srun takes as SLURM_HOSTFILE.
var files = []struct{ text, want string }{
	{"rank 0=aa slot=1:0-2\nrank 1=bb slot=0:0,1\nrank 2=cc slot=1-2\n", "012"},
	{"# two sockets\nrank 1=host1 slot=1:0\nrank 0=host1 slot=0:0\n\nrank 2=host2 slot=0:*\nrank 3=host2 slots=p1:0\n", "0011"},
	{"node1\nnode2\nnode1\nnode3\n", "0102"},
	{"\ufeff0\r\n0\r\n1\r\n1", "0011"},
	{"node1:2\nnode2:1 # MPICH\nnode3\nnode1:1\n", "00120"},
	{"node1 slots=2\tmax_slots=4\nnode2\tslots = 2\n", "0011"},
	{"rank 0=+n0 slot=0\nrank 1=+n1 slot=0\nrank 2=+n1 slot=1 # relative\n", "011"},
}

func TestRead(t *testing.T) {
	for _, tt := range files {
		o := list(t, tt.text)
		check.Equal(t, nodes(must.Get(o.Map(o.Ranks(), o.Nodes()))), tt.want, "%q", tt.text)
	}
	for _, tt := range []struct{ text, says string }{
		{"", "f:1: no rank"},
		{"# nothing\n", "f:1: no rank"},
		{"rank 0=a slot=0\nrank 2=a slot=1\n", "f:2: rank 1 is missing"},
		{"rank 0=a slot=0\nrank 0=b slot=1\n", "f:2: rank 0 is there twice, first in line 1"},
		{"rank 0=a\n", "f:1: \"rank 0=a\" is no line of an Open MPI rankfile"},
		{"rank 0=a slot=zero\n", "is no slot"},
		{"rank 99999999=a slot=0\n", "the most that is read is 4194304 ranks"},
		{"rank 99999999999999999999=a slot=0\n", "the most that is read is 4194304 ranks"},
		{"n[1-2]\n", "is no name of a node"},
		{"node1:4:core\n", "is no name of a node"},
		{"node1:5000000\n", "the most that is read is 4194304 ranks"},
		{"node1:0\n", "no rank"},
		{"node1\nrank 1=a slot=0\n", "f:2: \"rank 1=a slot=0\" is no name of a node"},
		{strings.Repeat("a", 300), "is no name of a node"},
		{"a\n" + strings.Repeat("a", 5000), "f:2: a line of more than 4096 bytes"},
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(tt.text), "f")), tt.says)
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range files {
		f.Add([]byte(file.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Read(strings.NewReader(string(data)), "f")
		if err != nil {
			check.True(t, strings.HasPrefix(err.Error(), "f:") && !strings.Contains(err.Error(), "\n"), "error without file and line: %q", err)
			return
		}
		m := must.Get(o.Map(o.Ranks(), o.Nodes()))
		on := make([]int, m.Nodes)
		for rank := range m.Ranks {
			check.Need(t, m.Slot(rank) == on[m.Node(rank)], "rank %d is in slot %d of node %d, want %d", rank, m.Slot(rank), m.Node(rank), on[m.Node(rank)])
			on[m.Node(rank)]++
		}
		for node, ranks := range on {
			check.True(t, ranks != 0, "node %d has no rank", node)
		}
	})
}

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
