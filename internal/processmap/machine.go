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

// A Machine is equal nodes with a place for a process on each core.
type Machine struct {
	*heuristic.Machine
	Name  string
	CPUs  []Core   // of a node, by place
	Hosts []string // names of the nodes; nil: unknown
	Mixed bool     // cores are of different kinds
	Part  bool     // there are cores beside these, of unknown packages: logical numbers are unknown
}

// A Core is the core of a place. Logical numbers are hwloc's: the cores of the process's cpuset, allowed
// by its affinity or not, in the order of the machine's tree.
type Core struct {
	CPU     int `json:"cpu"`     // the core's first allowed CPU, by the system's number
	Package int `json:"package"` // logical
	Core    int `json:"core"`    // logical, within its package
}

// OfTopology is nodes with the topology of a machine.
func OfTopology(m *numa.Machine, name string, nodes int) (*Machine, error) {
	ids := m.CoreCPUs()
	cpus := lists.Filter(m.CPUs, func(c numa.CPU) bool { return ids.Contains(c.ID) })
	machine, err := machineOf(cpus, m.Levels(ids), name, nodes)
	if err != nil {
		return nil, err
	}
	machine.Mixed = len(m.Kinds) > 1
	whole := *m
	if whole.Allowed = m.Confined; len(m.Confined) == 0 {
		whole.Allowed = m.Online()
	}
	if len(whole.Allowed) == len(m.Allowed) {
		return machine, nil
	}
	all, err := OfTopology(&whole, name, 1)
	if err != nil {
		return nil, err
	}
	core := func(c Core) int { cpu, _ := m.CPU(c.CPU); return cpu.Core }
	for i, c := range machine.CPUs {
		same := all.CPUs[slices.IndexFunc(all.CPUs, func(o Core) bool { return core(o) == core(c) })]
		machine.CPUs[i] = Core{CPU: c.CPU, Package: same.Package, Core: same.Core}
	}
	return machine, nil
}

// errNoCPUs: the file has no placements of workers.
var errNoCPUs = errors.New("it does not say what its CPUs share, as published tables and files of other programs do not: name a machine's topology beside it")

// OfFile is nodes with the topology of a parameter file, with the cores of a placement's workers;
// places are the workers' indexes by core. It fails if the file does not tell what cores share.
func OfFile(f *params.File, placement numa.Policy, name string, nodes int) (m *Machine, places []int32, err error) {
	p := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == placement })
	if p < 0 {
		return nil, nil, errNoCPUs
	}
	workers := f.Placements[p].Workers
	cores := lists.Groups(lists.Indices(len(workers)), func(i int) int { return workers[i].Core })
	firsts := lists.Map(cores, func(of []int) int { return of[0] })
	slices.SortFunc(firsts, func(a, b int) int { return workers[a].ID - workers[b].ID })
	cpus := lists.Map(firsts, func(i int) numa.CPU { return workers[i].CPU })
	places = lists.Map(firsts, func(i int) int32 { return int32(i) })
	if len(cpus) > 1 && len(f.Provenance.Levels) == 0 {
		return nil, nil, errNoCPUs
	}
	if m, err = machineOf(cpus, f.Provenance.Levels, name, nodes); err != nil {
		return nil, nil, err
	}
	allowed := f.Provenance.Allowed.Len() // cores
	if siblings := lists.Find(f.Provenance.Levels, func(l numa.Level) bool { return l.Name == numa.Siblings }); siblings != nil {
		allowed -= lists.Sum(siblings.Groups, func(core numa.CPUSet) int { return len(core) - 1 })
	}
	m.Part = len(cpus) < allowed
	return m, places, nil
}

// machineOf is nodes of cores, whose CPUs rise.
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
	packages, cores := make(map[int]int), make(map[int]int) // logical numbers, and their cores so far
	for _, place := range h.Order() {
		if place < len(cpus) {
			logical, known := packages[cpus[place].Package]
			if !known {
				logical = len(packages)
				packages[cpus[place].Package] = logical
			}
			m.CPUs[place] = Core{CPU: cpus[place].ID, Package: logical, Core: cores[logical]}
			cores[logical]++
		}
	}
	return m, nil
}

// Host is a node's name: without names localhost for one node, and for several their relative numbers
// for mpirun, +n0, +n1 ….
func (r *Result) Host(node int) string {
	switch {
	case node < len(r.Hosts):
		return r.Hosts[node]
	case r.Nodes == 1:
		return "localhost"
	}
	return fmt.Sprintf("+n%d", node)
}

// Place is the node and core of a process.
func (r *Result) Place(m *Mapping, process int) (node int, core Core) {
	place := m.Places[process]
	return place / len(r.Cores), r.Cores[place%len(r.Cores)]
}
