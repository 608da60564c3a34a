package mapping

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// By places ranks as mpirun --map-by of Open MPI, on nodes with these levels:
//
//	core    core by core, node after node; slot likewise
//	socket  round-robin over the sockets of a node, node after node; numa, l3 … likewise
//	node    round-robin over the nodes, and there over the NUMA nodes
//	block   equally many ranks on each node, core by core
//
// A node is filled in the order of Cores. A rank that is bound to a whole socket or NUMA node is placed on
// its next free core. It fails for other words, for levels without the one named, and for more ranks than
// cores.
func By(how string, levels numa.Levels, ranks, nodes int) (Order, error) {
	cores := Cores(levels)
	block := strings.EqualFold(how, "block")
	switch {
	case len(cores) == 0 && block && nodes > 0: // cores cannot be told apart
		cores = lists.Indices((ranks + nodes - 1) / nodes)
	case len(cores) == 0 && nodes < ranks:
		return Order{}, fmt.Errorf("mapping %.40q: nothing says which cores a node has: take parameters of a machine that says so, of taulop sweep or of tables of messages", how)
	case len(cores) == 0: // one rank a node
		cores = numa.CPUSet{0}
	case ranks > nodes*len(cores):
		return Order{}, fmt.Errorf("%d ranks are more than the %d cores of %s: take fewer ranks, or more nodes", ranks, nodes*len(cores), printable.Count(nodes, "node"))
	}
	turns := []numa.CPUSet{cores}
	if part := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(how), "by"), "cache"); !block && part != "core" && part != "slot" {
		if part == "node" {
			turns = groupsOf(levels, "numa", cores)
		} else if turns = groupsOf(levels, part, nil); turns == nil {
			if what, known := shared[part]; known {
				return Order{}, fmt.Errorf("mapping %.40q: the parameters do not tell several %ss apart, nor which cores share one: take parameters of a machine that do", how, what)
			}
			return Order{}, fmt.Errorf("unknown mapping %.40q: it is by core, socket, numa or node, or block", how)
		}
	}
	turns = lists.Map(turns, func(g numa.CPUSet) numa.CPUSet { return logical(g, levels) })
	slices.SortStableFunc(turns, func(a, b numa.CPUSet) int { return slices.Index(cores, a[0]) - slices.Index(cores, b[0]) })
	order := RoundRobin(turns)
	blocks, err := Order{}.Map(ranks, nodes)
	if err != nil {
		return Order{}, err
	}
	node, core := make([]int32, ranks), make([]int32, ranks)
	for rank := range ranks {
		on, slot := rank/len(order), rank%len(order)
		switch {
		case strings.HasSuffix(strings.ToLower(how), "node"):
			on, slot = rank%nodes, rank/nodes
		case block:
			on, slot = blocks.Node(rank), blocks.Slot(rank)
		}
		node[rank], core[rank] = int32(on), int32(order[slot])
	}
	return List(node, core, nodes)
}

// Cores are the cores of levels in mpirun's order, hwloc's logical one: all cores of a group before those of
// the next, whatever the operating system's numbers.
func Cores(levels numa.Levels) numa.CPUSet {
	cores := slices.Concat(lists.Concat(levels, func(l numa.Level) []numa.CPUSet { return l.Groups })...)
	return logical(numa.SetOf(cores...), levels)
}

// shared are the words of a mapping for a resource that cores share.
var shared = map[string]string{
	"socket": "socket", "package": "socket", "numa": "NUMA node",
	"l1": "L1 cache", "l2": "L2 cache", "l3": "L3 cache",
}

// groupsOf are the groups of the level with this name. For a socket or NUMA node without such a level they are
// the largest groups of which there are several; else the one group otherwise, or nil without it.
func groupsOf(levels numa.Levels, part string, otherwise numa.CPUSet) []numa.CPUSet {
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

// logical sorts cores by their groups from the widest level down, each group by its lowest core.
func logical(cores numa.CPUSet, levels numa.Levels) numa.CPUSet {
	lowestOf := make(map[int][]int, len(cores)) // for each core, the lowest core of each of its groups
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
			lowestOf[core] = append(lowestOf[core], lowest)
		}
		lowestOf[core] = append(lowestOf[core], core)
	}
	ordered := slices.Clone(cores)
	slices.SortFunc(ordered, func(a, b int) int { return slices.Compare(lowestOf[a], lowestOf[b]) })
	return ordered
}

// between reports whether a rune separates the words of a level's name: same_numa, same L3.
func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// RoundRobin takes one core of each group in turn.
func RoundRobin[Group ~[]int](groups []Group) (cores []int) {
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
