package numa

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// complexes maps each CPU to the first CPU of its node that shares its L3, or its last-level
// cache where there is no L3.
func (m *Machine) complexes() map[int]int {
	level := 0
	for _, c := range m.Caches {
		if c.Type != "Instruction" && level != 3 {
			level = max(level, c.Level)
		}
		if c.Level == 3 {
			level = 3
		}
	}
	of := make(map[int]int)
	for _, c := range m.CPUs {
		of[c.ID] = c.ID
	}
	for _, cache := range m.Caches {
		if cache.Type == "Instruction" || cache.Level != level {
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
			of[id] = first[c.Node]
		}
	}
	return of
}

// farApart numbers pairs of nodes with allowed CPUs: first two that are as far apart as
// any, the node of the start among them if it can be, then the others, each with the
// farthest that is left. Nodes at unknown distances are alone.
func (m *Machine) farApart(start int) map[int]int {
	var left []int
	for _, c := range m.allowed(start) {
		if !slices.Contains(left, c.Node) {
			left = append(left, c.Node)
		}
	}
	apart := func(a, b int) int { return max(m.Distance(a, b), m.Distance(b, a)) }
	partner := func(from int, of []int) int { // the first of the farthest, else the node itself
		best := from
		for _, to := range of {
			if to != from && apart(from, to) > 0 && (best == from || apart(from, to) > apart(from, best)) {
				best = to
			}
		}
		return best
	}
	most := 0
	for i, a := range left {
		for _, b := range left[i+1:] {
			most = max(most, apart(a, b))
		}
	}
	first := slices.IndexFunc(left, func(a int) bool { return most > 0 && apart(a, partner(a, left)) == most })
	left = slices.Concat(left[max(first, 0):], left[:max(first, 0)])
	pairs := make(map[int]int)
	for number := 0; len(left) > 0; number++ {
		a := left[0]
		b := partner(a, left)
		pairs[a], pairs[b] = number, number
		left = slices.DeleteFunc(left, func(n int) bool { return n == a || n == b })
	}
	return pairs
}

// FirstCPUs are the CPUs at which placements may begin: the first CPU of each L3 complex that
// is like, by topology, the one at which Place begins, in the order in which Local fills them.
func (m *Machine) FirstCPUs() (all []int) {
	complexes, rank, first := m.complexes(), m.rank(), ""
	seen := make(map[int]bool)
	for _, c := range m.allowed(-1) {
		if seen[complexes[c.ID]] || rank[c.ID] > 0 {
			continue
		}
		seen[complexes[c.ID]] = true
		position := m.position(c, complexes)
		if first = cmp.Or(first, position); position == first {
			all = append(all, c.ID)
		}
	}
	return all
}

// position is all that tells a CPU's L3 complex from others by topology: its own CPUs and
// caches, the complexes of its node, and how the node lies among the others.
func (m *Machine) position(of CPU, complexes map[int]int) string {
	type size struct{ cpus, cores int }
	sizes := make(map[int]size) // by complex of the node
	cores := make(map[int]bool)
	pack := make(map[int]int) // CPUs of the package, by node
	for _, c := range m.CPUs {
		if !m.Allowed.Contains(c.ID) {
			continue
		}
		if c.Package == of.Package {
			pack[c.Node]++
		}
		if c.Node == of.Node {
			s := sizes[complexes[c.ID]]
			if s.cpus++; !cores[c.Core] {
				cores[c.Core] = true
				s.cores++
			}
			sizes[complexes[c.ID]] = s
		}
	}
	var beside []string
	for _, s := range sizes {
		beside = append(beside, fmt.Sprint(s))
	}
	slices.Sort(beside)
	var caches []string
	for _, c := range m.Caches {
		if slices.ContainsFunc(c.CPUs, func(id int) bool { return complexes[id] == complexes[of.ID] && m.Allowed.Contains(id) }) {
			caches = append(caches, fmt.Sprint(c.Level, c.Type, c.Bytes))
		}
	}
	slices.Sort(caches)
	memory := slices.Contains(m.memoryNodes(), of.Node)
	distances := lists.Map(m.Nodes, func(n Node) int { return m.Distance(of.Node, n.ID) })
	slices.Sort(distances)
	return fmt.Sprint(sizes[complexes[of.ID]], beside, caches, memory, distances, slices.Sorted(maps.Values(pack)))
}
