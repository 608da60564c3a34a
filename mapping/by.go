package mapping

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// By places ranks as mpirun --map-by of Open MPI does, on nodes whose cores share what levels say:
//
//	core    one core after another, node after node; slot likewise
//	socket  on the sockets of a node in turn, node after node; numa, l3 … likewise
//	node    on the nodes in turn, and there on its NUMA nodes in turn
//	block   as many on one node as on another, one core after another
//
// A node is filled in the order of Cores. A rank that is bound to all cores of a socket or a
// NUMA node counts as on the next of them that has none yet. It fails for another word, for
// levels that lack what it says, and for more ranks than cores.
func By(how string, levels numa.Levels, ranks, nodes int) (Order, error) {
	cores := Cores(levels)
	block := strings.EqualFold(how, "block")
	switch {
	case len(cores) == 0 && block && nodes > 0: // cores cannot be told apart
		for core := range (ranks + nodes - 1) / nodes {
			cores = append(cores, core)
		}
	case len(cores) == 0 && nodes < ranks:
		return Order{}, fmt.Errorf("mapping %.40q: nothing says which cores a node has: take parameters of a machine that says so, of taulop sweep or of tables of messages", how)
	case len(cores) == 0: // one rank a node
		cores = numa.CPUSet{0}
	case ranks > nodes*len(cores):
		return Order{}, fmt.Errorf("%d ranks are more than the %d cores of %s", ranks, nodes*len(cores), printable.Count(nodes, "node"))
	}
	turns := []numa.CPUSet{cores}
	if part := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(how), "by"), "cache"); !block && part != "core" && part != "slot" {
		if part == "node" {
			turns = deal(levels, "numa", cores)
		} else if turns = deal(levels, part, nil); turns == nil {
			if what, known := shared[part]; known {
				return Order{}, fmt.Errorf("mapping %.40q: the parameters do not tell several %ss apart, nor which cores share one: take those of a machine that do", how, what)
			}
			return Order{}, fmt.Errorf("unknown mapping %.40q: it is by core, socket, numa or node, or block", how)
		}
	}
	turns = slices.Clone(turns)
	for i, g := range turns {
		turns[i] = logical(g, levels)
	}
	slices.SortStableFunc(turns, func(a, b numa.CPUSet) int { return slices.Index(cores, a[0]) - slices.Index(cores, b[0]) })
	order := dealt(turns)
	blocks, err := Order{}.Map(ranks, nodes)
	if err != nil {
		return Order{}, err
	}
	node, core := make([]int32, ranks), make([]int32, ranks)
	for rank := range ranks {
		on, at := rank/len(order), rank%len(order)
		switch {
		case strings.HasSuffix(strings.ToLower(how), "node"):
			on, at = rank%nodes, rank/nodes
		case block:
			on, at = blocks.Node(rank), blocks.Slot(rank)
		}
		node[rank], core[rank] = int32(on), int32(order[at])
	}
	return List(node, core, nodes)
}

// Cores are the cores of levels in the order in which mpirun fills them: all cores of a part
// before the next part's, as hwloc numbers them, whatever the system's numbers.
func Cores(levels numa.Levels) numa.CPUSet {
	var cores numa.CPUSet
	for _, l := range levels {
		cores = append(cores, slices.Concat(l.Groups...)...)
	}
	return logical(numa.SetOf(cores...), levels)
}

// shared is what cores may share, as words of a mapping have it.
var shared = map[string]string{
	"socket": "socket", "package": "socket", "numa": "NUMA node",
	"l1": "L1 cache", "l2": "L2 cache", "l3": "L3 cache",
}

// deal are the groups of a level that is called so: of the nearest part of a machine, else of
// the largest parts that there are several of; otherwise nil.
func deal(levels numa.Levels, part string, otherwise numa.CPUSet) []numa.CPUSet {
	var largest []numa.CPUSet
	for _, l := range levels {
		if len(l.Groups) > 1 {
			largest = l.Groups
			if slices.Contains(strings.FieldsFunc(strings.ToLower(l.Name), between), part) {
				return l.Groups
			}
		}
	}
	switch {
	case largest != nil && (part == "socket" || part == "package" || part == "numa"):
		return largest
	case otherwise != nil:
		return []numa.CPUSet{otherwise}
	}
	return nil
}

// logical is cores by the parts that they are in, from the widest level down, each part where
// its lowest core is.
func logical(cores numa.CPUSet, levels numa.Levels) numa.CPUSet {
	at := make(map[int][]int, len(cores)) // of each core the lowest one of its parts
	for _, core := range cores {
		for _, l := range slices.Backward(levels) {
			if len(l.Groups) == 0 { // between nodes
				continue
			}
			lowest := core
			for _, g := range l.Groups {
				if g.Contains(core) {
					lowest = min(lowest, g[0])
				}
			}
			at[core] = append(at[core], lowest)
		}
		at[core] = append(at[core], core)
	}
	ordered := slices.Clone(cores)
	slices.SortFunc(ordered, func(a, b int) int { return slices.Compare(at[a], at[b]) })
	return ordered
}

// between tells what is between the words of a level's name: same_numa, same L3.
func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// dealt is one core of each group in turn.
func dealt(groups []numa.CPUSet) (cores []int) {
	for i := 0; ; i++ {
		before := len(cores)
		for _, g := range groups {
			if i < len(g) {
				cores = append(cores, g[i])
			}
		}
		if len(cores) == before {
			return cores
		}
	}
}
