// Package numatest makes machines for tests, of up to 512 cores on 16 nodes.
package numatest

import (
	"fmt"

	"github.com/taulop/taulop/numa"
)

// A Shape is a machine in numbers. Packages, nodes and L3 caches have equal numbers of cores. Nodes are
// 12 apart within a package, and 32 apart beyond.
type Shape struct {
	Packages, Nodes, L3s, Cores, Threads int // Threads: of a core
	L3, L2                               int // bytes of each cache; L3 0: unknown
	Memory                               int64
}

func (s Shape) String() string {
	return fmt.Sprintf("%d packages, %d nodes, %d L3 of %d MB, %d cores of %d threads", s.Packages, s.Nodes, s.L3s, s.L3>>20, s.Cores, s.Threads)
}

// Shapes are real machines, and the largest for which taulop is made.
var Shapes = []Shape{
	{1, 1, 1, 2, 1, 32 << 20, 512 << 10, 24 << 30},      // a guest with two cores of an EPYC
	{1, 1, 1, 4, 1, 0, 1 << 20, 4 << 30},                // a board without an L3
	{1, 1, 1, 64, 1, 32 << 20, 1 << 20, 256 << 30},      // Graviton3
	{1, 1, 1, 96, 1, 36 << 20, 2 << 20, 384 << 30},      // Graviton4
	{1, 1, 1, 128, 1, 0, 1 << 20, 512 << 30},            // Altra Max, whose kernel does not report the system-level cache
	{2, 2, 2, 112, 2, 105 << 20, 2 << 20, 512 << 30},    // two Xeon 8480
	{2, 2, 16, 128, 2, 32 << 20, 512 << 10, 512 << 30},  // two EPYC 7763, a node each
	{2, 8, 16, 128, 2, 32 << 20, 512 << 10, 512 << 30},  // the same, four nodes each
	{2, 2, 24, 192, 2, 96 << 20, 1 << 20, 1536 << 30},   // two EPYC 9684X
	{2, 6, 6, 256, 1, 168 << 20, 2 << 20, 1024 << 30},   // two Xeon 6980P, approximately
	{8, 8, 8, 224, 2, 39 << 20, 1 << 20, 6144 << 30},    // eight Xeon 8280
	{2, 2, 64, 512, 1, 32 << 20, 1 << 20, 1024 << 30},   // many small caches
	{16, 16, 64, 512, 2, 32 << 20, 1 << 20, 2048 << 30}, // the largest
	{16, 16, 16, 512, 1, 1 << 30, 2 << 20, 64 << 30},    // much cache and little memory
}

// EPYC is a machine like AMD's, with 64 GB a node: nodes per package (NPS1, NPS2, NPS4), L3 complexes per
// node, cores per complex, threads per core.
func EPYC(packages, nodes, complexes, cores, threads int) *numa.Machine {
	nodes *= packages
	complexes *= nodes
	s := Shape{Packages: packages, Nodes: nodes, L3s: complexes, Cores: complexes * cores, Threads: threads,
		L3: 32 << 20, L2: 1 << 20, Memory: int64(nodes) * 64 << 30}
	return s.Machine()
}

// Machine is a machine of the shape with all CPUs allowed and a sixteenth of the memory used. Siblings
// are numbered after all cores.
func (s Shape) Machine() *numa.Machine {
	m := &numa.Machine{}
	nodes := make([]numa.CPUSet, s.Nodes)
	for t := range s.Threads {
		for core := range s.Cores {
			cpu := numa.CPU{ID: t*s.Cores + core, Core: core, Thread: t, Package: core * s.Packages / s.Cores, Node: core * s.Nodes / s.Cores}
			m.CPUs = append(m.CPUs, cpu)
			nodes[cpu.Node] = append(nodes[cpu.Node], cpu.ID)
			m.Allowed = append(m.Allowed, cpu.ID)
		}
	}
	for id, cpus := range nodes {
		distances := make(map[int]int)
		for to := range s.Nodes {
			switch {
			case to == id:
				distances[to] = 10
			case to*s.Packages/s.Nodes == id*s.Packages/s.Nodes:
				distances[to] = 12
			default:
				distances[to] = 32
			}
		}
		memory := s.Memory / int64(s.Nodes)
		m.Nodes = append(m.Nodes, numa.Node{ID: id, CPUs: cpus, MemoryBytes: memory, FreeBytes: memory - memory/16, Distances: distances})
	}
	caches := func(level, number, bytes int, kind string) {
		sets := make([]numa.CPUSet, number)
		for _, cpu := range m.CPUs {
			cache := cpu.Core * number / s.Cores
			sets[cache] = append(sets[cache], cpu.ID)
		}
		for _, cpus := range sets {
			m.Caches = append(m.Caches, numa.Cache{Level: level, Type: kind, Bytes: bytes, LineBytes: 64, CPUs: cpus})
		}
	}
	caches(1, s.Cores, 32<<10, "Data")
	caches(1, s.Cores, 32<<10, "Instruction")
	caches(2, s.Cores, s.L2, "Unified")
	if s.L3 > 0 {
		caches(3, s.L3s, s.L3, "Unified")
	}
	return m
}
