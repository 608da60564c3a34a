// Package numatest makes machines for tests.
package numatest

import "github.com/taulop/taulop/numa"

// EPYC is a machine like those of AMD's processors: packages of so many nodes (NPS1,
// NPS2, NPS4), nodes of so many L3 complexes, complexes of so many cores, cores of so
// many threads. Distances are 12 within a package and 32 beyond.
func EPYC(packages, nodes, complexes, cores, threads int) *numa.Machine {
	m := &numa.Machine{}
	all := packages * nodes * complexes * cores
	for node := range packages * nodes {
		n := numa.Node{ID: node, MemoryBytes: 64 << 30, FreeBytes: 60 << 30, Distances: make(map[int]int)}
		for to := range packages * nodes {
			switch {
			case to == node:
				n.Distances[to] = 10
			case to/nodes == node/nodes:
				n.Distances[to] = 12
			default:
				n.Distances[to] = 32
			}
		}
		m.Nodes = append(m.Nodes, n)
	}
	for id := range all * threads { // siblings are numbered after all cores
		core := id % all
		node := core / (complexes * cores)
		m.CPUs = append(m.CPUs, numa.CPU{ID: id, Core: core, Thread: id / all, Package: node / nodes, Node: node})
		m.Nodes[node].CPUs = append(m.Nodes[node].CPUs, id)
		m.Allowed = append(m.Allowed, id)
	}
	for _, kind := range []struct{ level, bytes, cores int }{{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 32 << 20, cores}} {
		for first := 0; first < all; first += kind.cores {
			var cpus []int
			for id := range all * threads {
				if id%all/kind.cores == first/kind.cores {
					cpus = append(cpus, id)
				}
			}
			name := "Unified"
			if kind.level == 1 {
				name = "Data"
			}
			m.Caches = append(m.Caches, numa.Cache{Level: kind.level, Type: name, Bytes: kind.bytes, LineBytes: 64, CPUs: numa.SetOf(cpus...)})
		}
	}
	return m
}
