package numa

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// A Policy chooses the CPU of each worker and the nodes of its buffers.
type Policy string

// The placements of the paper's section 5 and their counterparts, and one for each level at which
// transfers of neighbours may differ: within an L3 complex, within a node, between nodes of a
// package, between packages, between the nodes farthest apart. An L3 complex is the CPUs of a node
// that share an L3, or, without an L3, the last-level cache.
const (
	Local  Policy = "local"  // fill node 0's cores, then node 1's, …
	Spread Policy = "spread" // deal workers round the nodes
	Remote Policy = "remote" // local, with intermediate buffers on the farthest node
	List   Policy = "cpus"   // the given CPUs, in their order

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

// ErrNoSuchLevel: the machine has no such level as the placement's.
var ErrNoSuchLevel = errors.New("leave it out: taulop topo shows the levels that there are")

// A Placement is the CPUs of a run's workers and the nodes of their buffers.
type Placement struct {
	Policy  Policy   `json:"policy"`
	Workers []Worker `json:"workers"`
	// Oversubscribed: some CPU has several workers, which take turns instead of running
	// concurrently.
	Oversubscribed bool `json:"oversubscribed"`
}

// A Worker is one worker of a Placement.
type Worker struct {
	CPU
	UserNode         int `json:"user_node"`         // node of its user buffer
	IntermediateNode int `json:"intermediate_node"` // node of the intermediate buffer that it writes
	// Distance is from the worker's node to the intermediate buffer's, as in Node.Distances; 0:
	// unknown.
	Distance int `json:"distance"`
}

// Place puts tau workers on allowed CPUs: one on each core before any core gets a second, cores of
// one kind before any of another (see Concurrency), cores and nodes in the order of their numbers.
// User buffers lie on the nearest node with memory; intermediate buffers lie there too, or under
// Remote on the farthest node with memory. It fails with ErrNoSuchLevel on a machine without the
// placement's level.
func (m *Machine) Place(policy Policy, tau int) (Placement, error) {
	return m.PlaceFrom(-1, policy, tau)
}

// PlaceFrom is Place from another start, one of FirstCPUs: it begins at the CPU's L3 complex, node
// and package and wraps around. −1 is Place's own start.
func (m *Machine) PlaceFrom(start int, policy Policy, tau int) (Placement, error) {
	if policy == List {
		return Placement{}, fmt.Errorf("placement %s needs the CPUs to use: name them, or choose %s", List, names(Policies))
	}
	if !slices.Contains(Policies, policy) {
		return Placement{}, fmt.Errorf("there is no placement %q: choose %s", policy, names(Policies))
	}
	cpus, there := m.order(start, policy)
	if !there {
		among := printable.If(len(m.Kinds) > 1, " among the cores that workers take first")
		return Placement{}, fmt.Errorf("placement %s is for a level that this machine does not have%s: %w", policy, among, ErrNoSuchLevel)
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

// PlaceOn puts worker i on the i-th of the given CPUs, and starts again with the first CPU if there
// are more workers; buffers lie as under Local.
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

// BindIntermediate returns the placement with every intermediate buffer on one node; its error
// names the nodes with memory for this process.
func (m *Machine) BindIntermediate(p Placement, node int) (Placement, error) {
	if nodes := SetOf(m.MemoryNodes()...); !nodes.Contains(node) {
		return Placement{}, fmt.Errorf("node %d has no memory that this process may use: choose from %v", node, nodes)
	}
	p.Workers = slices.Clone(p.Workers)
	for i := range p.Workers {
		w := &p.Workers[i]
		w.IntermediateNode, w.Distance = node, m.Distance(w.Node, node)
	}
	return p, nil
}

// MostWorkers is the largest number of a machine's CPUs. It is less than the Go runtime's limit of
// threads.
const MostWorkers = maxCPU + 1

// mostByTurns is the largest number of workers on fewer CPUs: each thread needs memory.
const mostByTurns = 1 << 10

func (m *Machine) place(policy Policy, cpus []CPU, tau int) (Placement, error) {
	switch {
	case tau < 1:
		return Placement{}, fmt.Errorf("%d workers cannot be placed: ask for at least 1", tau)
	case tau > max(mostByTurns, m.Allowed.Len()):
		return Placement{}, fmt.Errorf("%d workers cannot be placed on %d CPUs: ask for at most %d", tau, m.Allowed.Len(), max(mostByTurns, m.Allowed.Len()))
	case len(cpus) == 0:
		return Placement{}, fmt.Errorf("no CPU to place workers on: choose from %v", m.Allowed)
	}
	memory := m.MemoryNodes()
	if len(memory) == 0 {
		return Placement{}, fmt.Errorf("no node's memory may be used by this process: widen its cpuset (Mems_allowed)")
	}
	p := Placement{Policy: policy, Workers: make([]Worker, tau)}
	for i := range p.Workers {
		w := Worker{CPU: cpus[i%len(cpus)]}
		w.UserNode = slices.MinFunc(memory, func(a, b int) int { return m.span(w.Node, a) - m.span(w.Node, b) })
		w.IntermediateNode = w.UserNode
		if policy == Remote {
			w.IntermediateNode = m.farthest(w.Node, memory)
		}
		w.Distance = m.Distance(w.Node, w.IntermediateNode)
		p.Workers[i] = w
	}
	p.Oversubscribed = len(lists.Counts(p.Workers, func(w Worker) int { return w.ID })) < tau
	return p, nil
}

// siblingRanks counts, by CPU, the allowed siblings before it: all CPUs of rank 0 are used before
// any of rank 1.
func siblingRanks(cpus []CPU) map[int]int {
	ranks, used := make(map[int]int), make(map[int]int)
	for _, cpu := range cpus {
		ranks[cpu.ID] = used[cpu.Core]
		used[cpu.Core]++
	}
	return ranks
}

// allowed lists the allowed CPUs in the order of Local, from the start's node and core on, or from
// the first.
func (m *Machine) allowed(start int) []CPU {
	cpus := m.usable()
	sibling, kind := siblingRanks(cpus), m.rank()
	first, started := m.CPU(start)
	wrapped := func(before bool) int { return lists.FalseFirst(started && before) } // CPUs before the start come last
	slices.SortStableFunc(cpus, func(a, b CPU) int {
		return cmp.Or(sibling[a.ID]-sibling[b.ID], kind[a.ID]-kind[b.ID], wrapped(a.Node < first.Node)-wrapped(b.Node < first.Node), a.Node-b.Node,
			wrapped(a.Node == first.Node && a.Core < first.Core)-wrapped(b.Node == first.Node && b.Core < first.Core), a.Core-b.Core)
	})
	return cpus
}

// A deal is the order in which a placement takes cores: round-robin over the units of a group,
// group after group.
type deal struct {
	group, unit func(CPU) int
	filled      bool // neighbours share a unit; else they are in different units
	nearest     bool // groups are in the order of distance, else of number
	always      bool // the placement exists on every machine
}

func (m *Machine) dealOf(start int, policy Policy) deal {
	all := func(CPU) int { return 0 }
	node, pack := func(c CPU) int { return c.Node }, func(c CPU) int { return c.Package }
	complexes := m.complexes()
	l3 := func(c CPU) int { return complexes[c.ID] }
	switch policy {
	case Spread:
		return deal{group: all, unit: node, always: true}
	case L3:
		return deal{group: l3, unit: all, filled: true, nearest: true}
	case AcrossL3:
		if len(m.dataCaches()) == 0 {
			l3 = all // unknown
		}
		// A node may have several packages.
		return deal{group: func(c CPU) int { return c.Node<<32 + c.Package }, unit: l3, nearest: true}
	case AcrossNodes:
		return deal{group: pack, unit: node, nearest: true}
	case AcrossPackages:
		return deal{group: all, unit: pack}
	case Farthest:
		pairs := m.farApart(start)
		return deal{group: func(c CPU) int { return pairs[c.ID] }, unit: node}
	}
	return deal{group: node, unit: all, filled: true, always: true}
}

// order lists the allowed CPUs in the order of a placement, and reports whether the machine has
// the placement's level, which is a group with two units, or where these are filled with two cores, of
// the kind of cores that workers take first. Other groups come last.
func (m *Machine) order(start int, policy Policy) (cpus []CPU, exists bool) {
	cpus = m.allowed(start)
	if len(cpus) == 0 {
		return nil, true // place reports it
	}
	d, sibling, kind := m.dealOf(start, policy), siblingRanks(cpus), m.rank()
	part := d.unit
	if d.filled {
		part = func(c CPU) int { return c.Core }
	}
	units := make(map[int]int) // index by unit, in the order of the CPUs
	for i, of := range lists.Groups(cpus, d.unit) {
		units[d.unit(of[0])] = i
	}
	keys := make(map[int][]int) // by CPU: what decides its position, the most important first
	for i, group := range lists.Groups(cpus, func(c CPU) [2]int { return [2]int{kind[c.ID], d.group(c)} }) {
		single, span := len(lists.Groups(group, part)) < 2, 0
		exists = exists || !single && kind[group[0].ID] == 0
		if d.nearest {
			span = m.span(cpus[0].Node, group[0].Node)
		}
		rounds := make(map[[2]int]int)
		for _, c := range group {
			equals := [2]int{sibling[c.ID], units[d.unit(c)]}
			keys[c.ID] = []int{sibling[c.ID], kind[c.ID], lists.FalseFirst(single && !d.always), span, i, rounds[equals], equals[1]}
			rounds[equals]++
		}
	}
	slices.SortStableFunc(cpus, func(a, b CPU) int { return slices.Compare(keys[a.ID], keys[b.ID]) })
	return cpus, exists || d.always
}

// Couple reorders workers so that as many as possible of the couples 0 and 1, 2 and 3, … are
// neighbours by the policy: within one unit where it fills units, else in two units of a group.
func (m *Machine) Couple(p Placement) Placement {
	if p.Policy == List || len(p.Workers) == 0 {
		return p
	}
	d, complexes := m.dealOf(p.Workers[0].ID, p.Policy), m.complexes()
	neighbours := func(a, b Worker) bool {
		return d.group(a.CPU) == d.group(b.CPU) && (d.unit(a.CPU) == d.unit(b.CPU)) == d.filled
	}
	closest := func(a, b Worker) bool { return neighbours(a, b) && complexes[a.ID] == complexes[b.ID] }
	left := slices.Clone(p.Workers)
	p.Workers = nil
	for _, fit := range []func(a, b Worker) bool{closest, neighbours} {
		units := lists.Counts(left, func(w Worker) int { return d.unit(w.CPU) })
		var single []Worker
		for len(left) > 0 {
			first := left[0]
			left = left[1:]
			best, most := -1, 0 // a worker of the unit with the most workers left, or those would find no partner
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

// MemoryNodes are the allowed nodes with memory, or all allowed nodes if no node's memory is known.
func (m *Machine) MemoryNodes() []int {
	known := slices.ContainsFunc(m.Nodes, func(n Node) bool { return n.MemoryBytes > 0 })
	usable := lists.Filter(m.Nodes, func(n Node) bool { return !n.Forbidden && (n.MemoryBytes > 0 || !known) })
	return lists.Map(usable, func(n Node) int { return n.ID })
}

// OtherMemory is a warning that names a node which has intermediate buffers of a placement and no CPUs; nil: none has.
func (m *Machine) OtherMemory(p Placement) error {
	for _, n := range m.Nodes {
		if n.CPUs.Len() == 0 && slices.ContainsFunc(p.Workers, func(w Worker) bool { return w.IntermediateNode == n.ID }) {
			return fmt.Errorf("NUMA node %d, where intermediate buffers lie, has no CPUs: its memory may be of another kind, such as CXL or HBM, and not another socket's", n.ID)
		}
	}
	return nil
}

// farthest looks from the node upwards and then from 0, so that at equal distances the workers'
// buffers lie on different nodes.
func (m *Machine) farthest(from int, memory []int) int {
	start, _ := slices.BinarySearch(memory, from+1)
	return slices.MaxFunc(slices.Concat(memory[start:], memory[:start]), func(a, b int) int { return m.span(from, a) - m.span(from, b) })
}

// span is the distance for comparisons: a node is closest to itself, and an unknown distance is
// greater than any other.
func (m *Machine) span(from, to int) int {
	if from == to {
		return 0
	}
	return cmp.Or(m.Distance(from, to), 1<<30)
}
