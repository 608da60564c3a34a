// Package mapping places ranks on the nodes of a cluster, and counts the messages of a schedule within and
// between nodes.
package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// An Order places ranks on nodes. Its zero value is block: consecutive ranks share a node. If the number of
// nodes does not divide the ranks, the first nodes have one more.
type Order struct {
	plane int      // consecutive ranks on each node, round-robin; 0: block
	list  []int32  // nodes of ranks, instead of plane
	names []string // of the nodes of a list
	cores []int32  // of the ranks of a list, in their nodes; nil: unknown
}

// Cyclic places ranks on the nodes round-robin.
var Cyclic = Order{plane: 1}

// Within is Slurm's distribution of a node's ranks over its sockets.
type Within string

// Values of Slurm's -m after the first colon.
const (
	AnyWithin    Within = ""
	BlockWithin  Within = "block"
	CyclicWithin Within = "cyclic"
)

// ParseOrder reads a value of Slurm's srun -m: block, cyclic or plane=SIZE, and after a colon, for the
// sockets of a node, block, cyclic or fcyclic; * is the default. known is false for any other word.
func ParseOrder(text string) (o Order, within Within, known bool, err error) {
	words := strings.Split(strings.ToLower(text), ":")
	size, plane := strings.CutPrefix(words[0], "plane=")
	switch {
	case plane:
		if o.plane, err = strconv.Atoi(size); err != nil || o.plane < 1 {
			return o, "", true, fmt.Errorf("%.40q is no number of ranks in a row: give one from 1, like plane=4", size)
		}
	case words[0] == "cyclic":
		o = Cyclic
	case words[0] == "arbitrary":
		return o, "", true, fmt.Errorf("arbitrary is whatever a file says: name that, with a line for each rank")
	case words[0] != "block" && (words[0] != "*" || len(words) == 1):
		return o, "", false, nil
	}
	for i, word := range words[1:] {
		switch {
		case i > 1 || word != "block" && word != "cyclic" && word != "fcyclic" && word != "*":
			return o, "", true, fmt.Errorf("%.40q is no order of a node's sockets or cores: take block, cyclic, fcyclic or *, like block:cyclic", word)
		case i > 0 || word == "*":
		case word == "block":
			within = BlockWithin
		default:
			within = CyclicWithin
		}
	}
	return o, within, true, nil
}

// List places each rank on one of count nodes, and on one of its cores unless cores is nil. It fails for
// nodes outside the range, negative cores, and slices of different lengths.
func List(nodes, cores []int32, count int) (Order, error) {
	o := Order{list: nodes, cores: cores}
	if cores != nil && len(cores) != len(nodes) {
		return o, fmt.Errorf("%d ranks have nodes and %d have cores", len(nodes), len(cores))
	}
	for rank, node := range nodes {
		if node < 0 || int(node) >= count || cores != nil && cores[rank] < 0 {
			return o, fmt.Errorf("rank %d cannot be on that node or core: nodes are 0 … %d", rank, count-1)
		}
	}
	o.names = lists.Map(lists.Indices(count), strconv.Itoa)
	return o, nil
}

// Nodes is the number of nodes of a list, 0 for orders of any number.
func (o Order) Nodes() int { return len(o.names) }

// Ranks is the number of ranks of a list, 0 for orders of any number.
func (o Order) Ranks() int { return len(o.list) }

func (o Order) String() string {
	switch {
	case o.list != nil:
		return fmt.Sprintf("a list of %d ranks", len(o.list))
	case o.plane > 1:
		return fmt.Sprintf("plane=%d", o.plane)
	case o.plane == 1:
		return "cyclic"
	}
	return "block"
}

// Map places ranks on nodes. It fails for more nodes than ranks, and for a list with fewer ranks or another
// number of nodes.
func (o Order) Map(ranks, nodes int) (*Map, error) {
	m := &Map{Ranks: ranks, Nodes: nodes, plane: o.plane}
	switch {
	case nodes < 1:
		return nil, fmt.Errorf("ranks need at least one node, got %d", nodes)
	case o.list != nil && nodes != len(o.names):
		return nil, fmt.Errorf("the list of ranks names %d nodes, not %d", len(o.names), nodes)
	case o.list != nil && ranks > len(o.list):
		return nil, fmt.Errorf("the list places ranks 0 … %d, and P = %d: take fewer ranks, or add a line for each of the others", len(o.list)-1, ranks)
	case o.list == nil && nodes > ranks:
		return nil, fmt.Errorf("%s cannot be on %d nodes: take fewer nodes, or more ranks", printable.Count(ranks, "rank"), nodes)
	case o.list != nil:
		m.list, m.slots = o.list[:ranks], make([]int32, ranks)
		next := make([]int32, nodes)
		for rank, node := range m.list {
			m.slots[rank] = next[node]
			next[node]++
		}
		if m.cores = o.cores; m.cores != nil {
			m.cores = m.cores[:ranks]
		}
	case o.plane == 0 && ranks%nodes == 0:
		m.plane = ranks / nodes
	}
	return m, nil
}

// A Map is a placement of the ranks 0 … Ranks−1.
type Map struct {
	Ranks, Nodes int

	plane int     // see Order; a block with equal numbers of ranks is a plane
	list  []int32 // node of each rank, for a list
	slots []int32 // of each rank, for a list
	cores []int32 // of each rank, for a list with cores
}

// Node is the node of a rank, from 0.
func (m *Map) Node(rank int) int {
	switch {
	case m.list != nil:
		return int(m.list[rank])
	case m.plane > 0:
		return rank / m.plane % m.Nodes
	}
	least, more := m.Ranks/m.Nodes, m.Ranks%m.Nodes
	if in := more * (least + 1); rank >= in {
		return more + (rank-in)/least
	}
	return rank / (least + 1)
}

// Slot is the number of lower ranks on the rank's node.
func (m *Map) Slot(rank int) int {
	switch {
	case m.list != nil:
		return int(m.slots[rank])
	case m.plane > 0:
		return rank/(m.plane*m.Nodes)*m.plane + rank%m.plane
	}
	return rank - m.first(m.Node(rank))
}

// Core is the rank's core on its node, or its Slot if cores are unknown.
func (m *Map) Core(rank int) int {
	if m.cores != nil {
		return int(m.cores[rank])
	}
	return m.Slot(rank)
}

// Cores is the number of cores that a node must have: the highest used one plus one.
func (m *Map) Cores() int {
	if m.cores == nil {
		return m.Largest()
	}
	return 1 + int(slices.Max(m.cores))
}

// Used is the number of nodes with ranks.
func (m *Map) Used() int {
	switch {
	case m.list != nil:
		return len(lists.Rising(m.list))
	case m.plane > 0:
		return min(m.Nodes, (m.Ranks+m.plane-1)/m.plane)
	}
	return m.Nodes
}

// Largest is the largest number of ranks on a node.
func (m *Map) Largest() int {
	switch round := m.plane * m.Nodes; {
	case m.list != nil:
		return lists.Most(m.slots, func(slot int32) int { return int(slot) + 1 })
	case m.plane > 0:
		return m.Ranks/round*m.plane + min(m.Ranks%round, m.plane)
	}
	return (m.Ranks + m.Nodes - 1) / m.Nodes
}

// first is the first rank of a node in block order; Ranks for the node after the last.
func (m *Map) first(node int) int { return node*(m.Ranks/m.Nodes) + min(node, m.Ranks%m.Nodes) }
