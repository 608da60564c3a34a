// Package heuristic maps the processes of a program to the cores of a machine, processes that communicate
// most to the closest cores: the static mappings of M. K. Ferreira, V. S. Cruz, R.
// V. Kassick, P. O. A. Navaux and H. C. de Freitas, "Static Process Mapping Heuristics for MPI
// Parallel Processes in Homogeneous Multi-core Clusters", CLCAR 2011: maximum weighted perfect
// matching (MWPM), dual recursive bipartitioning (DRB) and exhaustive search (ES); and the two
// mappings of MPI libraries, block and cyclic.
//
// They minimise volume over the levels that cores share, without a model of time.
package heuristic

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mapping/comm"
)

// A Machine is a set of cores for one process each. Places are numbered from 0 over the cores of the first
// node, then of the next, of the same structure.
type Machine struct {
	Nodes  int
	Cores  int      // of a node
	Levels []string // what two cores share, from the closest level on; with several nodes the last is the network

	between []int8 // level of two cores of a node
	root    *group
	heights []int // level that joins the groups of a height, from the closest on
}

// A group is a set of cores that are closer to each other than to all others, with its subgroups, of equal
// height.
type group struct {
	height   int
	children []*group
	places   []int // in the order of the tree
}

// MaxPlaces is the maximum number of cores of a machine.
const MaxPlaces = comm.MaxRanks

// New is a machine of equal nodes; between is the level of two cores, an index in levels. Cores form a group
// if all pairs are within a level, lowest numbers first. If levels overlap, as distances of NUMA nodes
// may, a core is in the first such group. It fails for machines without a core and for too large ones.
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
	return m, nil
}

// grow builds the tree of groups.
func (m *Machine) grow() {
	groups := lists.Map(lists.Indices(m.Cores), func(core int) *group { return &group{places: []int{core}} })
	for level := 0; len(groups) > 1; level++ {
		var joined []*group
		for _, g := range groups {
			i := slices.IndexFunc(joined, func(j *group) bool { return m.within(level, j, g) })
			if i < 0 {
				i = len(joined)
				joined = append(joined, &group{height: len(m.heights) + 1})
			}
			joined[i].children = append(joined[i].children, g)
			joined[i].places = append(joined[i].places, g.places...)
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
	first := m.root
	m.root = &group{height: len(m.heights)}
	for n := range m.Nodes {
		node := first.moved(n * m.Cores)
		m.root.children = append(m.root.children, node)
		m.root.places = append(m.root.places, node.places...)
	}
}

// within reports whether all cores of two groups are at a level or closer.
func (m *Machine) within(level int, a, b *group) bool {
	return !slices.ContainsFunc(a.places, func(p int) bool {
		return slices.ContainsFunc(b.places, func(q int) bool { return int(m.between[p*m.Cores+q]) > level })
	})
}

// moved is the same group of another node, `by` places farther.
func (g *group) moved(by int) *group {
	return &group{
		height:   g.height,
		places:   lists.Map(g.places, func(place int) int { return place + by }),
		children: lists.Map(g.children, func(child *group) *group { return child.moved(by) }),
	}
}

// Places is the number of cores.
func (m *Machine) Places() int { return m.Nodes * m.Cores }

// Level is the closest level that two places share, an index in Levels.
func (m *Machine) Level(a, b int) int {
	if a/m.Cores != b/m.Cores {
		return len(m.Levels) - 1
	}
	return int(m.between[a%m.Cores*m.Cores+b%m.Cores])
}

// Order are the places group by group, close ones next to each other. It must not be changed.
func (m *Machine) Order() []int { return m.root.places }

// Groups are a node's groups, level by level, from the closest cores up to the node.
func (m *Machine) Groups() (all [][][]int) {
	level := []*group{m.root}
	for level[0].height > 0 {
		if level[0].places[len(level[0].places)-1] < m.Cores {
			inside := lists.Filter(level, func(g *group) bool { return g.places[0] < m.Cores })
			all = append(all, lists.Map(inside, func(g *group) []int { return g.places }))
		}
		level = lists.Concat(level, func(g *group) []*group { return g.children })
	}
	slices.Reverse(all)
	return all
}

// Parts are the places of the largest parts of the machine: its nodes, or of a single node such as its
// packages. They must not be changed.
func (m *Machine) Parts() (parts [][]int) {
	g := m.root
	for len(g.children) == 1 {
		g = g.children[0]
	}
	return lists.Map(g.children, func(child *group) []int { return child.places })
}

// A Mapping is the place of each process.
type Mapping []int

// Hops is the number of levels up to where two places of a level meet: 1 for the closest level.
func Hops(level int) int { return level + 1 }

// A Share is the communication at one level.
type Share struct {
	Bytes    int64 `json:"bytes"`
	Messages int64 `json:"messages"`
}

// Shares are the bytes and messages by level.
func (m *Machine) Shares(matrix *comm.Matrix, at Mapping) []Share {
	shares := make([]Share, len(m.Levels))
	for from, e := range matrix.All() {
		s := &shares[m.Level(at[from], at[e.To])]
		s.Bytes, s.Messages = s.Bytes+e.Bytes, s.Messages+e.Messages
	}
	return shares
}

// HopBytes is the sum of bytes times hops.
func HopBytes(shares []Share) (sum int64) {
	for level, s := range shares {
		sum += int64(Hops(level)) * s.Bytes
	}
	return sum
}

// Fits fails for more processes than places.
func (m *Machine) Fits(processes int) error {
	if places := m.Places(); processes > places {
		return fmt.Errorf("%d processes and %s: processes that share a core take turns; take more nodes, or fewer processes", processes, printable.Count(places, "core"))
	}
	return nil
}

// Block places consecutive processes on a node, equally many on each, as Slurm's block does, and mpirun on full
// nodes; it fills the closest cores of a node first. If the number of nodes does not divide the
// processes, the first nodes have one more.
func (m *Machine) Block(processes int) (Mapping, error) { return m.ordered(processes, mapping.Order{}) }

// Cyclic places processes round-robin on the nodes, or on the Parts of a single node.
func (m *Machine) Cyclic(processes int) (Mapping, error) {
	if m.Nodes > 1 {
		return m.ordered(processes, mapping.Cyclic)
	}
	if err := m.Fits(processes); err != nil {
		return nil, err
	}
	if m.Cores == 1 { // it has no parts
		return Mapping{0}, nil
	}
	return mapping.RoundRobin(m.Parts())[:processes], nil
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
		at[rank] = m.root.places[on.Node(rank)*m.Cores+on.Slot(rank)]
	}
	return at, nil
}

// Tidy permutes groups of equal shape so that the first has the lowest process, for readers. If levels do not
// overlap, the cost is the same.
func (m *Machine) Tidy(at Mapping) Mapping {
	on := lists.Index(at, func(place int) int { return place })
	tidy := make(Mapping, len(at))
	lowest := func(g *group) int {
		least := len(at) // without processes
		for _, place := range g.places {
			if process, occupied := on[place]; occupied {
				least = min(least, process)
			}
		}
		return least
	}
	// put moves the processes of a group to another of equal shape.
	var put func(from, to *group)
	put = func(from, to *group) {
		if from.height == 0 {
			if process, occupied := on[from.places[0]]; occupied {
				tidy[process] = to.places[0]
			}
			return
		}
		byShape := make(map[string][]*group)
		for _, child := range from.children {
			shape := child.shape()
			byShape[shape] = append(byShape[shape], child)
		}
		for _, parts := range byShape {
			slices.SortFunc(parts, func(a, b *group) int { return lowest(a) - lowest(b) })
		}
		for _, child := range to.children {
			shape := child.shape()
			put(byShape[shape][0], child)
			byShape[shape] = byShape[shape][1:]
		}
	}
	put(m.root, m.root)
	return tidy
}

// shape is equal for groups of the same structure.
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
