package numa

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// complexes maps each CPU to the first CPU of its L3 complex: the CPUs of its node that share its
// L3, or, without an L3, its last-level cache. Without a known cache it is the core.
func (m *Machine) complexes() map[int]int {
	complexes := make(map[int]int)
	for _, core := range m.group(func(c CPU) int { return c.Core }) {
		for _, cpu := range core {
			complexes[cpu] = core[0]
		}
	}
	for _, cache := range m.dataCaches() { // levels rise
		if cache.Level > 3 {
			continue
		}
		first := make(map[int]int) // by node
		for _, id := range cache.CPUs {
			c, online := m.CPU(id)
			if !online {
				continue
			}
			if _, known := first[c.Node]; !known {
				first[c.Node] = id
			}
			complexes[id] = first[c.Node]
		}
	}
	return complexes
}

// farApart numbers pairs of nodes with allowed CPUs of a kind of cores, by CPU: first a pair at the
// greatest distance, with the start's node if possible, then the first remaining node and the one
// farthest from it, and so on. A node with unknown distances has no partner.
func (m *Machine) farApart(start int) map[int]int {
	var left []int
	distance := func(a, b int) int { return max(m.Distance(a, b), m.Distance(b, a)) }
	partner := func(from int) int { // the first of the farthest, else the node itself
		best := from
		for _, to := range left {
			if to != from && distance(from, to) > 0 && (best == from || distance(from, to) > distance(from, best)) {
				best = to
			}
		}
		return best
	}
	kind, number, pairs := m.rank(), 0, make(map[int]int)
	for _, cpus := range lists.Groups(m.allowed(start), func(c CPU) int { return kind[c.ID] }) {
		left = lists.Unique(lists.Map(cpus, func(c CPU) int { return c.Node }))
		most, first := 0, 0
		for i, a := range left {
			if b := partner(a); b != a && distance(a, b) > most {
				most, first = distance(a, b), i
			}
		}
		left = slices.Concat(left[first:], left[:first])
		for ; len(left) > 0; number++ {
			pair := []int{left[0], partner(left[0])}
			for _, c := range cpus {
				if slices.Contains(pair, c.Node) {
					pairs[c.ID] = number
				}
			}
			left = slices.DeleteFunc(left, func(n int) bool { return slices.Contains(pair, n) })
		}
	}
	return pairs
}

// FirstCPUs are the CPUs at which placements may begin: the first CPU of each L3 complex that
// topology does not tell from the one at which Place begins, in the order of Local.
func (m *Machine) FirstCPUs() (all []int) {
	complexes, rank, first := m.complexes(), m.rank(), ""
	usual := lists.Filter(m.allowed(-1), func(c CPU) bool { return rank[c.ID] == 0 })
	for _, of := range lists.Groups(usual, func(c CPU) int { return complexes[c.ID] }) {
		position := m.position(of[0], complexes)
		if first = cmp.Or(first, position); position == first {
			all = append(all, of[0].ID)
		}
	}
	return all
}

// position describes the topology of a CPU's L3 complex, equal for complexes that are alike: its
// CPUs and caches, the complexes of its node, and the node's memory and distances.
func (m *Machine) position(cpu CPU, complexes map[int]int) string {
	members := make(map[int]CPUSet) // by complex of the node
	nodeCPUs := make(map[int]int)   // of the package, by node
	for _, c := range m.usable() {
		if c.Package == cpu.Package {
			nodeCPUs[c.Node]++
		}
		if c.Node == cpu.Node {
			members[complexes[c.ID]] = append(members[complexes[c.ID]], c.ID)
		}
	}
	own := members[complexes[cpu.ID]]
	size := func(cpus CPUSet) string { return fmt.Sprint(cpus.Len(), m.cores(cpus)) }
	neighbours := lists.Map(slices.Collect(maps.Values(members)), size)
	slices.Sort(neighbours)
	shared := lists.Filter(m.Caches, func(c Cache) bool { return len(c.CPUs.And(own)) > 0 })
	caches := lists.Map(shared, func(c Cache) string { return fmt.Sprint(c.Level, c.Type, c.Bytes) })
	slices.Sort(caches)
	memory := slices.Contains(m.MemoryNodes(), cpu.Node)
	distances := lists.Map(m.Nodes, func(n Node) int { return m.Distance(cpu.Node, n.ID) })
	slices.Sort(distances)
	return fmt.Sprint(size(own), neighbours, caches, memory, distances, slices.Sorted(maps.Values(nodeCPUs)))
}
