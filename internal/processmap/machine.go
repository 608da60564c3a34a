package processmap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping/heuristic"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Machine is nodes that are alike, with a place for a process on each core.
type Machine struct {
	*heuristic.Machine
	Name  string
	CPUs  []Core   // of a node, by its places
	Hosts []string // names of the nodes; none: they have none
	Mixed bool     // cores are of different kinds
}

// A Core is where a place is. Logical numbers are hwloc's, which counts what this process may
// use in the order of the machine's tree.
type Core struct {
	CPU     int `json:"cpu"`     // the first of the core that may be used, as the system numbers it
	Package int `json:"package"` // logical
	Core    int `json:"core"`    // logical, within its package
}

// OfTopology is equal nodes like a machine with a known topology.
func OfTopology(m *numa.Machine, name string, nodes int) (*Machine, error) {
	var cpus []numa.CPU
	for _, id := range m.CoreCPUs() {
		if cpu, online := m.CPU(id); online {
			cpus = append(cpus, cpu)
		}
	}
	of, err := machineOf(cpus, m.Levels(m.CoreCPUs()), name, nodes)
	if err != nil {
		return nil, err
	}
	of.Mixed = len(m.Kinds) > 1
	return of, nil
}

// errNoCPUs: the file does not say where its workers were.
var errNoCPUs = errors.New("it does not say what its CPUs share, as published tables and files of other programs do not: name a machine's topology beside it")

// OfFile is equal nodes like the machine of a parameter file, with the cores that a placement
// has workers on; places are their indexes among those workers. It fails if the file does not
// say what cores share.
func OfFile(f *params.File, placement numa.Policy, name string, nodes int) (m *Machine, places []int32, err error) {
	at := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == placement })
	if at < 0 {
		return nil, nil, errNoCPUs
	}
	type worker struct {
		numa.CPU
		place int
	}
	var workers []worker
	seen := make(map[int]bool)
	for i, w := range f.Placements[at].Workers {
		if !seen[w.Core] {
			seen[w.Core] = true
			workers = append(workers, worker{w.CPU, i})
		}
	}
	slices.SortFunc(workers, func(a, b worker) int { return a.ID - b.ID })
	var cpus []numa.CPU
	for _, w := range workers {
		cpus, places = append(cpus, w.CPU), append(places, int32(w.place))
	}
	if len(cpus) > 1 && len(f.Provenance.Levels) == 0 {
		return nil, nil, errNoCPUs
	}
	m, err = machineOf(cpus, f.Provenance.Levels, name, nodes)
	return m, places, err
}

// machineOf is nodes of cores, rising by their CPU.
func machineOf(cpus []numa.CPU, levels numa.Levels, name string, nodes int) (*Machine, error) {
	if len(cpus) == 0 {
		return nil, errors.New("there is no core that processes may be on")
	}
	if len(cpus) > heuristic.MaxPlaces/max(1, nodes) {
		return nil, fmt.Errorf("%d nodes of %d cores: processes are mapped to %d cores at the most", nodes, len(cpus), heuristic.MaxPlaces)
	}
	names := lists.Map(levels, func(l numa.Level) string { return l.Name })
	ids := lists.Map(cpus, func(cpu numa.CPU) int { return cpu.ID })
	between := levels.Between(ids)
	h, err := heuristic.New(nodes, len(cpus), names, func(a, b int) int { return int(between[a][b]) })
	if err != nil {
		return nil, err
	}
	m := &Machine{Machine: h, Name: name, CPUs: make([]Core, len(cpus))}
	packages, cores := make(map[int]int), make(map[int]int) // logical numbers, and cores so far
	for _, cpu := range cpus {
		if _, known := packages[cpu.Package]; !known {
			packages[cpu.Package] = len(packages)
		}
	}
	for _, place := range h.Order() {
		if place < len(cpus) {
			of := packages[cpus[place].Package]
			m.CPUs[place] = Core{CPU: cpus[place].ID, Package: of, Core: cores[of]}
			cores[of]++
		}
	}
	return m, nil
}

// Host is a node's name: localhost for one node without a name, and for several their numbers
// among the nodes that mpirun was given.
func (r *Result) Host(node int) string {
	switch {
	case node < len(r.Hosts):
		return r.Hosts[node]
	case r.Nodes == 1:
		return "localhost"
	}
	return fmt.Sprintf("+n%d", node)
}

// Place is where a process of a mapping is.
func (r *Result) Place(m *Mapping, process int) (node int, core Core) {
	place := m.Places[process]
	return place / len(r.Cores), r.Cores[place%len(r.Cores)]
}

// onNodes are the processes of each node, by their number.
func (r *Result) onNodes(m *Mapping) [][]int {
	nodes := make([][]int, r.Nodes)
	for process := range m.Places {
		node, _ := r.Place(m, process)
		nodes[node] = append(nodes[node], process)
	}
	return nodes
}
