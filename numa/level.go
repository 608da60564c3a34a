package numa

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Level is what two CPUs share at the closest: the horizontal memory hierarchy of
// mlog_nP (Tu et al., 2009, section II.B), as far as the kernel describes it.
type Level struct {
	Name string `json:"level"`
	// Groups are sets of CPUs that share it. Two CPUs are at the first level that has
	// both in one group; groups of nodes a distance apart overlap.
	Groups []CPUSet `json:"cpus"`
}

// Levels are a machine's, from the closest on.
type Levels []Level

// Of is the level of two CPUs, −1 if they have none.
func (ls Levels) Of(a, b int) int { return int(ls.Between([]int{a, b})[0][1]) }

// Channel is Of as placements tell levels apart: levels closer than the last-level cache count
// as sharing it.
func (ls Levels) Channel(a, b int) int { return int(ls.Channels([]int{a, b})[0][1]) }

// Between is Of for every two of the CPUs, by their indexes.
func (ls Levels) Between(cpus []int) [][]int8 {
	of := make([][]int8, len(cpus))
	for i := range of {
		of[i] = slices.Repeat([]int8{-1}, len(cpus))
	}
	for level := len(ls) - 1; level >= 0; level-- {
		for _, group := range ls[level].Groups {
			var members []int
			for i, cpu := range cpus {
				if group.Contains(cpu) {
					members = append(members, i)
				}
			}
			for _, a := range members {
				for _, b := range members {
					of[a][b] = int8(level)
				}
			}
		}
	}
	return of
}

// Channels is Channel of any two of some CPUs, by their indexes.
func (ls Levels) Channels(cpus []int) [][]int8 {
	of, cache := ls.Between(cpus), int8(0)
	for i, l := range ls {
		if strings.HasPrefix(l.Name, sharedCache) {
			cache = int8(i)
		}
	}
	for _, row := range of {
		for b, level := range row {
			if level >= 0 {
				row[b] = max(level, cache)
			}
		}
	}
	return of
}

// Siblings is the name of the level of SMT siblings.
const Siblings = "SMT siblings"

// sharedCache begins the names of levels that are a cache.
const sharedCache = "shared L"

// Levels are the levels of all pairs of the given CPUs: SMT siblings, a shared cache, package
// and node in the order of their size, then nodes by distance. Instruction caches do not count.
func (m *Machine) Levels(of CPUSet) Levels {
	var found Levels
	apart := len(of) * (len(of) - 1) / 2 // pairs that have no level yet
	index := make(map[int]int)
	together := make([]bool, len(of)*len(of)) // the others
	for i, cpu := range of {
		index[cpu] = i
	}
	add := func(name string, groups []CPUSet) {
		level := Level{Name: name}
		more := false
		for _, g := range groups {
			if g = g.And(of); g.Len() < 2 {
				continue
			}
			level.Groups = append(level.Groups, g)
			for i, a := range g {
				for _, b := range g[i+1:] {
					if at := index[a]*len(of) + index[b]; !together[at] {
						together[at], more = true, true
						apart--
					}
				}
			}
		}
		if more {
			found = append(found, level)
		}
	}
	add(Siblings, m.group(func(c CPU) int { return c.Core }))
	caches := make(map[int][]CPUSet)
	nodes := m.group(func(c CPU) int { return c.Node })
	for _, c := range m.Caches {
		if c.Type == "Instruction" {
			continue
		}
		for _, node := range nodes { // of a cache that spans nodes, each has its slices
			caches[c.Level] = append(caches[c.Level], c.CPUs.And(node))
		}
	}
	for _, level := range slices.Sorted(maps.Keys(caches)) {
		add(fmt.Sprint(sharedCache, level), caches[level])
	}
	packages := m.group(func(c CPU) int { return c.Package })
	if len(packages) < len(nodes) { // several nodes in a package
		add("same node", nodes)
		add("same package", packages)
	} else {
		add("same package", packages)
		add("same node", nodes)
	}
	distances := make(map[int][]CPUSet)
	for i, a := range m.Nodes {
		for _, b := range m.Nodes[i+1:] {
			if len(a.CPUs) == 0 || len(b.CPUs) == 0 {
				continue // memory alone
			}
			// Firmware may say another distance there than back.
			d := max(m.Distance(a.ID, b.ID), m.Distance(b.ID, a.ID))
			distances[d] = append(distances[d], SetOf(append(slices.Clone(a.CPUs), b.CPUs...)...))
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(distances), func(a, b int) int {
		return cmp.Or(a, 1<<30) - cmp.Or(b, 1<<30) // unknown is beyond all others
	}) {
		name := fmt.Sprintf("nodes %d apart", d)
		if d == 0 {
			name = "other node"
		}
		add(name, distances[d])
	}
	if apart > 0 {
		add("same machine", []CPUSet{of})
	}
	return found
}

// group collects CPUs that are alike in something.
func (m *Machine) group(by func(CPU) int) []CPUSet {
	groups := make(map[int]CPUSet)
	for _, c := range m.CPUs {
		groups[by(c)] = append(groups[by(c)], c.ID)
	}
	return lists.Map(slices.Sorted(maps.Keys(groups)), func(key int) CPUSet { return groups[key] })
}

// CoreCPUs are the CPUs that this process may use, of each core the first.
func (m *Machine) CoreCPUs() CPUSet {
	var first CPUSet
	seen := make(map[int]bool)
	for _, c := range m.CPUs {
		if m.Allowed.Contains(c.ID) && !seen[c.Core] {
			seen[c.Core] = true
			first = append(first, c.ID)
		}
	}
	return first
}
