// Package heuristic maps the processes of a program to the cores of a machine so that processes
// that send each other most share most: the static mappings of M. K. Ferreira, V. S. Cruz, R.
// V. Kassick, P. O. A. Navaux and H. C. de Freitas, "Static Process Mapping Heuristics for MPI
// Parallel Processes in Homogeneous Multi-core Clusters", CLCAR 2011: maximum weighted perfect
// matching (MWPM), dual recursive bipartitioning (DRB) and exhaustive search (ES); and the two
// mappings of MPI libraries, block and cyclic.
//
// They know what two cores of a machine share, and how many bytes two processes of a program
// send each other. They do not know what a mapping costs in time.
package heuristic

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mapping/comm"
)

// A Machine is cores that processes may be on, one each. Places 0 … are the first node's cores,
// then the next node's, which is like it.
type Machine struct {
	Nodes  int
	Cores  int      // of a node
	Levels []string // what two cores share at the closest, from the closest on; of several nodes the last is the network

	between []int8 // level of two cores of a node
	root    *group
	heights []int // level at which the groups of a height come together, from the closest on
	order   []int // places in the order of the tree
}

// A group is cores that are closer to each other than to all others, and the groups that
// it is made of. All are as high.
type group struct {
	height   int
	children []*group
	places   []int // in the order of the tree
}

// MaxPlaces is the most cores that processes are mapped to.
const MaxPlaces = comm.MaxRanks

// New is a machine of equal nodes, whose cores share what between says, as an index in levels.
// Cores form a group if every two are as close, lowest numbers first; where levels overlap, as
// distances of NUMA nodes may, a core is in the first group that has it. It fails for machines
// without a core and for too large ones.
func New(nodes, cores int, levels []string, between func(a, b int) int) (*Machine, error) {
	if nodes < 1 || cores < 1 || nodes > MaxPlaces/cores {
		return nil, fmt.Errorf("%d nodes of %d cores: processes are mapped to 1 to %d cores", nodes, cores, MaxPlaces)
	}
	m := &Machine{Nodes: nodes, Cores: cores, Levels: slices.Clone(levels), between: make([]int8, cores*cores)}
	if len(levels) == 0 {
		m.Levels = []string{"same machine"}
	}
	last := len(m.Levels) - 1
	for a := range cores {
		for b := range cores {
			if level := between(a, b); a != b && level >= 0 && level < last {
				m.between[a*cores+b] = int8(level)
			} else {
				m.between[a*cores+b] = int8(last)
			}
		}
	}
	if nodes > 1 {
		m.Levels = append(m.Levels, "other node")
	}
	m.grow()
	m.order = m.root.places
	return m, nil
}

// grow makes the tree.
func (m *Machine) grow() {
	var groups []*group
	for core := range m.Cores {
		groups = append(groups, &group{places: []int{core}})
	}
	for level := 0; len(groups) > 1; level++ {
		var joined []*group
		for _, g := range groups {
			at := slices.IndexFunc(joined, func(j *group) bool { return m.within(level, j, g) })
			if at < 0 {
				at = len(joined)
				joined = append(joined, &group{height: len(m.heights) + 1})
			}
			joined[at].children = append(joined[at].children, g)
			joined[at].places = append(joined[at].places, g.places...)
		}
		if len(joined) < len(groups) {
			m.heights = append(m.heights, level)
			groups = joined
		}
	}
	m.root = groups[0]
	if m.Nodes == 1 {
		return
	}
	m.heights = append(m.heights, len(m.Levels)-1)
	node := m.root
	m.root = &group{height: len(m.heights)}
	for n := range m.Nodes {
		of := node.moved(n * m.Cores)
		m.root.children = append(m.root.children, of)
		m.root.places = append(m.root.places, of.places...)
	}
}

// within reports whether all cores of two groups are at a level or closer.
func (m *Machine) within(level int, a, b *group) bool {
	for _, p := range a.places {
		for _, q := range b.places {
			if int(m.between[p*m.Cores+q]) > level {
				return false
			}
		}
	}
	return true
}

// moved is a group of another node.
func (g *group) moved(by int) *group {
	other := &group{height: g.height}
	for _, place := range g.places {
		other.places = append(other.places, place+by)
	}
	for _, child := range g.children {
		other.children = append(other.children, child.moved(by))
	}
	return other
}

// Places is how many cores there are.
func (m *Machine) Places() int { return m.Nodes * m.Cores }

// Level is what two places share, an index in Levels.
func (m *Machine) Level(a, b int) int {
	if a/m.Cores != b/m.Cores {
		return len(m.Levels) - 1
	}
	return int(m.between[a%m.Cores*m.Cores+b%m.Cores])
}

// Order is the places in the order in which the machine is built: what is closest is
// neighbours. It must not be changed.
func (m *Machine) Order() []int { return m.order }

// Groups are a node's groups, level by level: the closest cores first, then groups of groups,
// up to the node.
func (m *Machine) Groups() (all [][][]int) {
	of := []*group{m.root}
	for of[0].height > 0 {
		if of[0].places[len(of[0].places)-1] < m.Cores {
			var groups [][]int
			for _, g := range of {
				if g.places[0] < m.Cores {
					groups = append(groups, g.places)
				}
			}
			all = append(all, groups)
		}
		var children []*group
		for _, g := range of {
			children = append(children, g.children...)
		}
		of = children
	}
	slices.Reverse(all)
	return all
}

// Parts are the places of what a machine falls into first: its nodes, or of one node the
// packages, say. They must not be changed.
func (m *Machine) Parts() (parts [][]int) {
	g := m.root
	for len(g.children) == 1 {
		g = g.children[0]
	}
	for _, child := range g.children {
		parts = append(parts, child.places)
	}
	return parts
}

// A Mapping is the place of each process.
type Mapping []int

// Hops is how many levels up two places of a level meet: 1 of the closest.
func Hops(level int) int { return level + 1 }

// A Share is what processes send each other at one level.
type Share struct {
	Bytes    int64 `json:"bytes"`
	Messages int64 `json:"messages"`
}

// Shares are what is sent at each level.
func (m *Machine) Shares(matrix *comm.Matrix, at Mapping) []Share {
	shares := make([]Share, len(m.Levels))
	for from, e := range matrix.All() {
		s := &shares[m.Level(at[from], at[e.To])]
		s.Bytes, s.Messages = s.Bytes+e.Bytes, s.Messages+e.Messages
	}
	return shares
}

// HopBytes is the sum of all bytes, times the hops that they go.
func HopBytes(shares []Share) (sum int64) {
	for level, s := range shares {
		sum += int64(Hops(level)) * s.Bytes
	}
	return sum
}

// Fits refuses more processes than there are places.
func (m *Machine) Fits(processes int) error {
	if places := m.Places(); processes > places {
		return fmt.Errorf("%d processes and %d cores: processes that share a core take turns; take more nodes, or fewer processes", processes, places)
	}
	return nil
}

// Block puts processes in a row on the cores of a node, then of the next, as many on each node, as
// Slurm's block does, and mpirun where the nodes are full; of a node it fills the closest cores first.
// Where the number of nodes does not divide the processes the first nodes have one more.
func (m *Machine) Block(processes int) (Mapping, error) { return m.ordered(processes, mapping.Order{}) }

// Cyclic deals processes round the nodes, or of one node round what that falls into.
func (m *Machine) Cyclic(processes int) (Mapping, error) {
	if m.Nodes > 1 {
		return m.ordered(processes, mapping.Cyclic)
	}
	if err := m.Fits(processes); err != nil {
		return nil, err
	}
	var dealt Mapping
	parts := m.Parts()
	for round := 0; len(dealt) < processes; round++ {
		if len(parts) == 0 { // one core
			return Mapping{0}, nil
		}
		for _, part := range parts {
			if round < len(part) && len(dealt) < processes {
				dealt = append(dealt, part[round])
			}
		}
	}
	return dealt, nil
}

func (m *Machine) ordered(processes int, order mapping.Order) (Mapping, error) {
	if err := m.Fits(processes); err != nil {
		return nil, err
	}
	on, err := order.Map(processes, min(m.Nodes, processes))
	if err != nil {
		return nil, err
	}
	at := make(Mapping, processes)
	for rank := range at {
		at[rank] = m.order[on.Node(rank)*m.Cores+on.Slot(rank)]
	}
	return at, nil
}

// Tidy is a mapping as a reader expects it: of parts of the machine that are alike, the
// first has the lowest process. Where levels do not overlap it costs the same.
func (m *Machine) Tidy(at Mapping) Mapping {
	on := make(map[int]int)
	for process, place := range at {
		on[place] = process
	}
	tidy := make(Mapping, len(at))
	type part struct {
		group  *group
		lowest int
	}
	lowest := func(g *group) int {
		least := len(at) // of none
		for _, place := range g.places {
			if process, there := on[place]; there {
				least = min(least, process)
			}
		}
		return least
	}
	// put moves what is in one group to another that is alike.
	var put func(from, to *group)
	put = func(from, to *group) {
		if from.height == 0 {
			if process, there := on[from.places[0]]; there {
				tidy[process] = to.places[0]
			}
			return
		}
		byShape := make(map[string][]part)
		for _, child := range from.children {
			shape := child.shape()
			byShape[shape] = append(byShape[shape], part{child, lowest(child)})
		}
		for _, parts := range byShape {
			slices.SortFunc(parts, func(a, b part) int { return a.lowest - b.lowest })
		}
		for _, child := range to.children {
			shape := child.shape()
			put(byShape[shape][0].group, child)
			byShape[shape] = byShape[shape][1:]
		}
	}
	put(m.root, m.root)
	return tidy
}

// shape is the same of groups that are alike.
func (g *group) shape() string {
	if g.height == 0 {
		return "."
	}
	text := "("
	for _, child := range g.children {
		text += child.shape()
	}
	return text + ")"
}
