// Package machine describes the virtual machines. The host builds them from the description, and the
// guest compares itself with it.
package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/lists"
)

// Limit is the time after which a machine ends.
const Limit = 25 * time.Minute

// A Machine is NUMA nodes with CPUs and memory.
type Machine struct {
	Name    string
	About   string
	Nodes   []Node
	Threads int // SMT siblings of a core, equal on all nodes with CPUs
	Dies    int // L3 complexes of a node; 0: one
	// Distances from node to node, in units of the firmware's SLIT: 10 is local.
	Distances [][]int
}

// A Node is a NUMA node: memory only without CPUs.
type Node struct {
	CPUs     int
	MemoryMB int
}

// All are the machines.
var All = []Machine{
	{
		Name: "1node", About: "4 CPUs on one node", Threads: 1,
		Nodes:     []Node{{4, 768}},
		Distances: [][]int{{10}},
	},
	{
		Name: "complexes", About: "8 CPUs on one node, in 4 L3 complexes", Threads: 1, Dies: 4,
		Nodes:     []Node{{8, 768}},
		Distances: [][]int{{10}},
	},
	{
		Name: "2nodes", About: "4 CPUs on 2 nodes", Threads: 1,
		Nodes:     []Node{{2, 512}, {2, 512}},
		Distances: [][]int{{10, 21}, {21, 10}},
	},
	{
		Name: "4nodes", About: "8 CPUs on 4 nodes in a row, at unequal distances", Threads: 1,
		Nodes: []Node{{2, 384}, {2, 384}, {2, 384}, {2, 384}},
		Distances: [][]int{
			{10, 15, 20, 25},
			{15, 10, 16, 21},
			{20, 16, 10, 17},
			{25, 21, 17, 10},
		},
	},
	{
		Name: "smt", About: "8 CPUs on 4 cores of 2 siblings, 2 nodes", Threads: 2,
		Nodes:     []Node{{4, 512}, {4, 512}},
		Distances: [][]int{{10, 20}, {20, 10}},
	},
	{
		Name: "memoryonly", About: "4 CPUs on 2 nodes, and a node without CPUs far from both", Threads: 1,
		Nodes: []Node{{2, 512}, {2, 512}, {0, 512}},
		Distances: [][]int{
			{10, 20, 40},
			{20, 10, 30},
			{40, 30, 10},
		},
	},
	{
		Name: "nomemory", About: "4 CPUs on 2 nodes, one of them without memory", Threads: 1,
		Nodes:     []Node{{2, 768}, {2, 0}},
		Distances: [][]int{{10, 20}, {20, 10}},
	},
	{
		Name: "small", About: "4 CPUs on 2 nodes, one of them with too little memory", Threads: 1,
		Nodes:     []Node{{2, 768}, {2, 96}},
		Distances: [][]int{{10, 20}, {20, 10}},
	},
}

// Lookup finds a machine by name.
func Lookup(name string) (Machine, error) {
	names := lists.Map(All, func(m Machine) string { return m.Name })
	if i := slices.Index(names, name); i >= 0 {
		return All[i], nil
	}
	return Machine{}, fmt.Errorf("there is no machine %q: choose from %s", name, strings.Join(names, ", "))
}

// CPUs is the number of CPUs.
func (m Machine) CPUs() (n int) {
	for _, node := range m.Nodes {
		n += node.CPUs
	}
	return n
}

// ComplexCPUs is the number of CPUs of an L3 complex.
func (m Machine) ComplexCPUs() int { return m.CPUs() / len(m.CPUNodes()) / max(1, m.Dies) }

// CPUNodes are the nodes with CPUs, each in a package of its own.
func (m Machine) CPUNodes() []int { return m.with(func(n Node) int { return n.CPUs }) }

// MemoryNodes are the nodes with memory.
func (m Machine) MemoryNodes() []int { return m.with(func(n Node) int { return n.MemoryMB }) }

func (m Machine) with(what func(Node) int) (ids []int) {
	for id, node := range m.Nodes {
		if what(node) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// FirstCPU is the number of a node's first CPU: they are numbered node by node.
func (m Machine) FirstCPU(node int) (cpu int) {
	for _, before := range m.Nodes[:node] {
		cpu += before.CPUs
	}
	return cpu
}

// QEMU is the machine's part of QEMU's command line.
func (m Machine) QEMU() []string {
	packages, dies := len(m.CPUNodes()), max(1, m.Dies) // QEMU has an L3 for each die
	memory := 0
	var args []string
	for id, node := range m.Nodes {
		numa := []string{"node", fmt.Sprintf("nodeid=%d", id)}
		if first := m.FirstCPU(id); node.CPUs > 0 {
			numa = append(numa, fmt.Sprintf("cpus=%d-%d", first, first+node.CPUs-1))
		}
		if node.MemoryMB > 0 {
			args = append(args, "-object", fmt.Sprintf("memory-backend-ram,id=node%d,size=%dM", id, node.MemoryMB))
			numa = append(numa, fmt.Sprintf("memdev=node%d", id))
			memory += node.MemoryMB
		}
		args = append(args, "-numa", strings.Join(numa, ","))
	}
	for from, row := range m.Distances {
		for to, distance := range row {
			args = append(args, "-numa", fmt.Sprintf("dist,src=%d,dst=%d,val=%d", from, to, distance))
		}
	}
	smp := fmt.Sprintf("cpus=%d,sockets=%d,dies=%d,cores=%d,threads=%d", m.CPUs(), packages, dies, m.CPUs()/packages/dies/m.Threads, m.Threads)
	return slices.Concat([]string{"-smp", smp, "-m", fmt.Sprintf("%dM", memory)}, args)
}
