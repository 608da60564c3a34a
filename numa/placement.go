package numa

import (
	"cmp"
	"fmt"
	"slices"
)

// A Policy says which CPU a worker gets and on which node its buffers lie.
type Policy string

// The placements of the paper's section 5 and their counterparts.
const (
	Local  Policy = "local"  // fill node 0's cores, then node 1's, …
	Spread Policy = "spread" // deal workers round the nodes
	Remote Policy = "remote" // local, with intermediate buffers on the farthest node
	List   Policy = "cpus"   // the CPUs that were given, in their order
)

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
// a second, cores and nodes in the order of their numbers. User buffers lie on
// the worker's node, or where that has no memory on the nearest that has;
// intermediate buffers lie there too, under Remote on the node with memory that
// is farthest from the worker's.
func (m *Machine) Place(policy Policy, tau int) (Placement, error) {
	cpus := m.allowed()
	switch policy {
	case Local, Remote:
	case Spread:
		cpus = m.deal(cpus)
	case List:
		return Placement{}, fmt.Errorf("placement %s needs the CPUs to use: name them, or choose %s, %s or %s", List, Local, Spread, Remote)
	default:
		return Placement{}, fmt.Errorf("there is no placement %q: choose %s, %s or %s", policy, Local, Spread, Remote)
	}
	return m.place(policy, cpus, tau)
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

// MostWorkers is as many as a machine has CPUs at the most, and fewer than the threads
// at which the Go runtime gives up.
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
		w.UserNode = m.nearest(w.Node, memory)
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

// allowed lists the CPUs in the order in which Local fills them.
func (m *Machine) allowed() []CPU {
	var cpus []CPU
	for _, cpu := range m.CPUs {
		if m.Allowed.Contains(cpu.ID) {
			cpus = append(cpus, cpu)
		}
	}
	turn := turns(cpus)
	slices.SortStableFunc(cpus, func(a, b CPU) int {
		return cmp.Or(turn[a.ID]-turn[b.ID], a.Node-b.Node, a.Core-b.Core)
	})
	return cpus
}

// deal takes a CPU of each node in turn, and a core's second sibling only when
// no node has a free core.
func (m *Machine) deal(cpus []CPU) []CPU {
	turn := turns(cpus)
	round := make(map[int]int) // by CPU: how many of its node and turn come before it
	dealt := make(map[[2]int]int)
	for _, cpu := range cpus {
		key := [2]int{turn[cpu.ID], cpu.Node}
		round[cpu.ID] = dealt[key]
		dealt[key]++
	}
	slices.SortStableFunc(cpus, func(a, b CPU) int {
		return cmp.Or(turn[a.ID]-turn[b.ID], round[a.ID]-round[b.ID], a.Node-b.Node)
	})
	return cpus
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

// nearest is the node itself where it has memory, else the first of the nearest.
func (m *Machine) nearest(from int, memory []int) int {
	return slices.MinFunc(memory, func(a, b int) int { return m.span(from, a) - m.span(from, b) })
}

// farthest looks from the node upwards and then from 0, so that where all are
// equally far not every worker's buffer falls on the same node.
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
