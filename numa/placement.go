package numa

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Policy says which CPU a worker gets and on which node its buffers lie.
type Policy string

// The placements of the paper's section 5 and their counterparts, and one for each
// level at which transfers of neighbours may differ: within an L3 complex, within a
// node, between nodes of a package, between packages, between the nodes farthest apart.
// An L3 complex is the CPUs of a node that share an L3, or the last-level cache that
// there is.
const (
	Local  Policy = "local"  // fill node 0's cores, then node 1's, …
	Spread Policy = "spread" // deal workers round the nodes
	Remote Policy = "remote" // local, with intermediate buffers on the farthest node
	List   Policy = "cpus"   // the CPUs that were given, in their order

	L3             Policy = "l3"              // fill an L3 complex, then the nearest other one, …
	AcrossL3       Policy = "across-l3"       // deal workers round the L3 complexes of a node, then of the nearest, …
	AcrossNodes    Policy = "across-nodes"    // deal workers round the nodes of a package, then of the nearest, …
	AcrossPackages Policy = "across-packages" // deal workers round the packages
	Farthest       Policy = "farthest"        // deal workers round two nodes farthest apart, then round the next two, …
)

// Policies are the policies that need no list of CPUs.
var Policies = []Policy{Local, Spread, Remote, L3, AcrossL3, AcrossNodes, AcrossPackages, Farthest}

// About is a line for users.
func (p Policy) About() string {
	return map[Policy]string{
		Local:          "fill node 0's cores, then node 1's, …",
		Spread:         "deal workers round the NUMA nodes",
		Remote:         "local, with every intermediate buffer on the node farthest from its writer",
		List:           "the CPUs that were given, in their order",
		L3:             "fill the cores of an L3 complex, then of the nearest other one, …",
		AcrossL3:       "deal workers round the L3 complexes of a NUMA node, then of the nearest, …",
		AcrossNodes:    "deal workers round the NUMA nodes of a package, then of the nearest, …",
		AcrossPackages: "deal workers round the packages",
		Farthest:       "deal workers round two NUMA nodes farthest apart, then round the next two, …",
	}[p]
}

// ErrNoSuchLevel: the machine does not have the placement's level.
var ErrNoSuchLevel = errors.New("leave it out: taulop topo shows the levels that there are")

// A Placement says where each worker of a run is and where its buffers lie.
type Placement struct {
	Policy  Policy   `json:"policy"`
	Workers []Worker `json:"workers"`
	// Oversubscribed: workers outnumber allowed CPUs, so that they take turns
	// and what is measured is not concurrency.
	Oversubscribed bool `json:"oversubscribed"`
}

// A Worker is one line of a Placement.
type Worker struct {
	CPU
	UserNode         int `json:"user_node"`         // node of its user buffer
	IntermediateNode int `json:"intermediate_node"` // node of the intermediate buffer that it writes
	// Distance is from the worker's node to the intermediate buffer's, as in
	// Node.Distances; 0 when the machine does not say.
	Distance int `json:"distance"`
}

// Place puts tau workers on allowed CPUs: one on each core before any core gets
// a second, cores of one kind before any of another (see Concurrency), cores and nodes in
// the order of their numbers. User buffers lie on
// the worker's node, or where that has no memory on the nearest that has;
// intermediate buffers lie there too, under Remote on the node with memory that
// is farthest from the worker's. A machine without a placement's level is
// ErrNoSuchLevel.
func (m *Machine) Place(policy Policy, tau int) (Placement, error) {
	return m.PlaceFrom(-1, policy, tau)
}

// PlaceFrom is Place that begins at an allowed CPU, one of FirstCPUs, instead of the first one:
// at its L3 complex, its node and its package, and goes round.
func (m *Machine) PlaceFrom(start int, policy Policy, tau int) (Placement, error) {
	if policy == List {
		return Placement{}, fmt.Errorf("placement %s needs the CPUs to use: name them, or choose %s", List, names(Policies))
	}
	if !slices.Contains(Policies, policy) {
		return Placement{}, fmt.Errorf("there is no placement %q: choose %s", policy, names(Policies))
	}
	cpus, there := m.order(start, policy)
	if !there {
		return Placement{}, fmt.Errorf("placement %s is for a level that this machine does not have: %w", policy, ErrNoSuchLevel)
	}
	return m.place(policy, cpus, tau)
}

// Has reports whether the machine has a placement's level.
func (m *Machine) Has(policy Policy) bool {
	_, there := m.order(-1, policy)
	return there
}

func names(policies []Policy) string {
	all := lists.Map(policies, func(p Policy) string { return string(p) })
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// PlaceOn puts worker i on the i-th of the given CPUs, and begins again with the
// first when workers outnumber them; buffers lie as under Local.
func (m *Machine) PlaceOn(cpus []int, tau int) (Placement, error) {
	chosen := make([]CPU, len(cpus))
	for i, id := range cpus {
		cpu, online := m.CPU(id)
		switch {
		case !online:
			return Placement{}, fmt.Errorf("CPU %d does not exist or is offline: choose from %v", id, m.Allowed)
		case !m.Allowed.Contains(id):
			return Placement{}, fmt.Errorf("CPU %d may not be used by this process (affinity or cpuset): choose from %v", id, m.Allowed)
		}
		chosen[i] = cpu
	}
	return m.place(List, chosen, tau)
}

// BindIntermediate returns the placement with every intermediate buffer on one
// node; an error says which nodes have memory for this process.
func (m *Machine) BindIntermediate(p Placement, node int) (Placement, error) {
	if nodes := SetOf(m.memoryNodes()...); !nodes.Contains(node) {
		return Placement{}, fmt.Errorf("node %d has no memory that this process may use: choose from %v", node, nodes)
	}
	p.Workers = slices.Clone(p.Workers)
	for i := range p.Workers {
		w := &p.Workers[i]
		w.IntermediateNode, w.Distance = node, m.Distance(w.Node, node)
	}
	return p, nil
}

// MostWorkers is the largest number of a machine's CPUs, and fewer than the threads at which
// the Go runtime gives up.
const MostWorkers = maxCPU + 1

// mostByTurns is how many workers may outnumber the CPUs: each thread takes memory, and
// more of them say no more about taking turns.
const mostByTurns = 1 << 10

func (m *Machine) place(policy Policy, cpus []CPU, tau int) (Placement, error) {
	switch {
	case tau < 1:
		return Placement{}, fmt.Errorf("%d workers cannot be placed: ask for at least 1", tau)
	case tau > max(mostByTurns, m.Allowed.Len()):
		return Placement{}, fmt.Errorf("%d workers cannot be placed on %d CPUs: ask for at most %d", tau, m.Allowed.Len(), max(mostByTurns, m.Allowed.Len()))
	}
	if len(cpus) == 0 {
		return Placement{}, fmt.Errorf("no CPU to place workers on: choose from %v", m.Allowed)
	}
	memory := m.memoryNodes()
	if len(memory) == 0 {
		return Placement{}, fmt.Errorf("no node's memory may be used by this process: widen its cpuset (Mems_allowed)")
	}
	p := Placement{Policy: policy, Workers: make([]Worker, tau)}
	taken := make(map[int]bool)
	for i := range p.Workers {
		w := Worker{CPU: cpus[i%len(cpus)]}
		// Its own node where that has memory, else the first of the nearest.
		w.UserNode = slices.MinFunc(memory, func(a, b int) int { return m.span(w.Node, a) - m.span(w.Node, b) })
		w.IntermediateNode = w.UserNode
		if policy == Remote {
			w.IntermediateNode = m.farthest(w.Node, memory)
		}
		w.Distance = m.Distance(w.Node, w.IntermediateNode)
		p.Oversubscribed = p.Oversubscribed || taken[w.ID]
		taken[w.ID] = true
		p.Workers[i] = w
	}
	return p, nil
}

// turns says by CPU how many siblings of its core come before it: all of turn 0 are
// used before any of turn 1. Siblings that are not allowed do not count.
func turns(cpus []CPU) map[int]int {
	turn, used := make(map[int]int), make(map[int]int)
	for _, cpu := range cpus {
		turn[cpu.ID] = used[cpu.Core]
		used[cpu.Core]++
	}
	return turn
}

// allowed lists the CPUs in the order in which Local fills them, beginning at one of
// them, or at the first.
func (m *Machine) allowed(start int) []CPU {
	cpus := lists.Filter(m.CPUs, func(cpu CPU) bool { return m.Allowed.Contains(cpu.ID) })
	turn, rank := turns(cpus), m.rank()
	first, begun := m.CPU(start)
	round := func(before bool) int { // what comes before the start comes last
		if begun && before {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(cpus, func(a, b CPU) int {
		return cmp.Or(turn[a.ID]-turn[b.ID], rank[a.ID]-rank[b.ID], round(a.Node < first.Node)-round(b.Node < first.Node), a.Node-b.Node,
			round(a.Node == first.Node && a.Core < first.Core)-round(b.Node == first.Node && b.Core < first.Core), a.Core-b.Core)
	})
	return cpus
}

// A deal is the order in which a placement takes cores: round the units of a group, and when it
// has no free core round the next group's.
type deal struct {
	group, unit func(CPU) int
	filled      bool // neighbours share a unit, else they do not
	nearest     bool // groups follow each other by distance, else by number
	always      bool // every machine has it
}

// dealt is how a placement deals workers.
func (m *Machine) dealt(start int, policy Policy) deal {
	all := func(CPU) int { return 0 }
	node, pack := func(c CPU) int { return c.Node }, func(c CPU) int { return c.Package }
	switch policy {
	case Spread:
		return deal{group: all, unit: node, always: true}
	case L3:
		complexes := m.complexes()
		return deal{group: func(c CPU) int { return complexes[c.ID] }, unit: all, filled: true, nearest: true}
	case AcrossL3:
		complexes := m.complexes()
		both := func(c CPU) int { return c.Node<<20 + c.Package } // of a node that has several packages, of one
		return deal{group: both, unit: func(c CPU) int { return complexes[c.ID] }, nearest: true}
	case AcrossNodes:
		return deal{group: pack, unit: node, nearest: true}
	case AcrossPackages:
		return deal{group: all, unit: pack}
	case Farthest:
		pairs := m.farApart(start)
		return deal{group: func(c CPU) int { return pairs[c.Node] }, unit: node}
	}
	return deal{group: node, unit: all, filled: true, always: true}
}

// order lists the allowed CPUs as a placement takes them, and reports whether the machine
// has its level: a group in which two workers are as it wants them. Groups that are
// none come last.
func (m *Machine) order(start int, policy Policy) (cpus []CPU, there bool) {
	cpus = m.allowed(start)
	if len(cpus) == 0 {
		return nil, true // which is said where workers are placed
	}
	d := m.dealt(start, policy)
	type place struct{ turn, kind, lacks, span, group, round, unit int }
	var (
		turn    = turns(cpus)
		rank    = m.rank()
		groups  = make(map[int]int) // in the order in which the CPUs have them
		units   = make(map[int]int)
		span    = make(map[int]int)
		within  = make(map[[2]int]bool) // units by group, cores where neighbours share a unit
		several = make(map[int]int)     // number of units of a group
		dealt   = make(map[[4]int]int)
		at      = make(map[int]place)
	)
	for _, c := range cpus {
		g, u := d.group(c), d.unit(c)
		if _, known := groups[g]; !known {
			groups[g] = len(groups)
			if d.nearest {
				span[g] = m.span(cpus[0].Node, c.Node)
			}
		}
		if _, known := units[u]; !known {
			units[u] = len(units)
		}
		part := u
		if d.filled {
			part = c.Core
		}
		if !within[[2]int{g, part}] {
			within[[2]int{g, part}] = true
			several[g]++
		}
		there = there || several[g] > 1
	}
	for _, c := range cpus {
		g, u := d.group(c), d.unit(c)
		alike := [4]int{turn[c.ID], rank[c.ID], g, u}
		p := place{turn: turn[c.ID], kind: rank[c.ID], span: span[g], group: groups[g], round: dealt[alike], unit: units[u]}
		if several[g] < 2 && !d.always {
			p.lacks = 1
		}
		dealt[alike]++
		at[c.ID] = p
	}
	slices.SortStableFunc(cpus, func(a, b CPU) int {
		p, q := at[a.ID], at[b.ID]
		return cmp.Or(p.turn-q.turn, p.kind-q.kind, p.lacks-q.lacks, p.span-q.span, p.group-q.group, p.round-q.round, p.unit-q.unit)
	})
	return cpus, there || d.always
}

// Couple reorders a placement's workers so that the couples 0 and 1, 2 and 3, … are neighbours
// as the policy wants, as far as possible: within one L3 complex or node where these are
// filled, else in two of the units that workers are dealt round.
func (m *Machine) Couple(p Placement) Placement {
	if p.Policy == List {
		return p
	}
	start := -1
	if len(p.Workers) > 0 {
		start = p.Workers[0].ID
	}
	d, complexes := m.dealt(start, p.Policy), m.complexes()
	couples := func(a, b Worker) bool {
		return d.group(a.CPU) == d.group(b.CPU) && (d.unit(a.CPU) == d.unit(b.CPU)) == d.filled
	}
	closest := func(a, b Worker) bool { return couples(a, b) && complexes[a.ID] == complexes[b.ID] }
	left := slices.Clone(p.Workers)
	p.Workers = nil
	for _, fit := range []func(a, b Worker) bool{closest, couples} {
		units := make(map[int]int)
		for _, w := range left {
			units[d.unit(w.CPU)]++
		}
		var single []Worker
		for len(left) > 0 {
			first := left[0]
			left = left[1:]
			best, most := -1, 0 // of the unit that has most left, or some could not be dealt round
			for i, w := range left {
				if fit(first, w) && units[d.unit(w.CPU)] > most {
					best, most = i, units[d.unit(w.CPU)]
				}
			}
			units[d.unit(first.CPU)]--
			if best >= 0 {
				units[d.unit(left[best].CPU)]--
				p.Workers = append(p.Workers, first, left[best])
				left = slices.Delete(left, best, best+1)
				continue
			}
			single = append(single, first)
		}
		left = single
	}
	p.Workers = append(p.Workers, left...)
	return p
}

// memoryNodes are the nodes that buffers may lie on: all that may be used when
// no node's memory is known.
func (m *Machine) memoryNodes() []int {
	known := slices.ContainsFunc(m.Nodes, func(n Node) bool { return n.MemoryBytes > 0 })
	var ids []int
	for _, node := range m.Nodes {
		if !node.Forbidden && (node.MemoryBytes > 0 || !known) {
			ids = append(ids, node.ID)
		}
	}
	return ids
}

// farthest looks from the node upwards and then from 0, so that with equal distances not every
// worker's buffer falls on the same node.
func (m *Machine) farthest(from int, memory []int) int {
	start, _ := slices.BinarySearch(memory, from+1)
	round := append(slices.Clone(memory[start:]), memory[:start]...)
	return slices.MaxFunc(round, func(a, b int) int { return m.span(from, a) - m.span(from, b) })
}

// span is the distance for comparing: a node is closest to itself, and one at an
// unknown distance is beyond all others.
func (m *Machine) span(from, to int) int {
	if from == to {
		return 0
	}
	return cmp.Or(m.Distance(from, to), 1<<30)
}
