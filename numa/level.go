package numa

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// A Level is a level of the horizontal memory hierarchy of mlog_nP (Tu et al., 2009, section
// II.B): the closest thing that two CPUs share, or the distance of their nodes.
type Level struct {
	Name string `json:"level"`
	// Groups are sets of CPUs that share it. The level of two CPUs is the first with both in one
	// group; groups of a distance between nodes overlap.
	Groups []CPUSet `json:"cpus"`
}

// Levels are the levels of a machine, the closest first.
type Levels []Level

// Of is the level of two CPUs, −1 if they have none.
func (ls Levels) Of(a, b int) int { return int(ls.Between([]int{a, b})[0][1]) }

// Channel is Of with levels closer than the last-level cache counted as that cache, because
// placements do not tell these apart.
func (ls Levels) Channel(a, b int) int { return int(ls.Channels([]int{a, b})[0][1]) }

// Between is Of for all pairs of CPUs, by their indexes.
func (ls Levels) Between(cpus []int) [][]int8 {
	levels, all := make([][]int8, len(cpus)), lists.Indices(len(cpus))
	for i := range levels {
		levels[i] = slices.Repeat([]int8{-1}, len(cpus))
	}
	for level := len(ls) - 1; level >= 0; level-- {
		for _, group := range ls[level].Groups {
			members := lists.Filter(all, func(i int) bool { return group.Contains(cpus[i]) })
			for _, a := range members {
				for _, b := range members {
					levels[a][b] = int8(level)
				}
			}
		}
	}
	return levels
}

// Channels is Channel for all pairs of CPUs, by their indexes.
func (ls Levels) Channels(cpus []int) [][]int8 {
	levels, cache := ls.Between(cpus), int8(0)
	for i, l := range ls {
		if strings.HasPrefix(l.Name, sharedCache) {
			cache = int8(i)
		}
	}
	for _, row := range levels {
		for b, level := range row {
			if level >= 0 {
				row[b] = max(level, cache)
			}
		}
	}
	return levels
}

// Siblings is the name of the level of SMT siblings.
const Siblings = "SMT siblings"

// sharedCache begins the names of levels that are caches.
const sharedCache = "shared L"

// Levels are the levels of all pairs of CPUs: SMT siblings, a shared data or unified cache, package
// and node in the order of their size, then nodes by distance.
func (m *Machine) Levels(cpus CPUSet) Levels {
	var all Levels
	add := func(name string, groups []CPUSet) {
		groups = lists.Map(groups, func(g CPUSet) CPUSet { return g.And(cpus) })
		all = append(all, Level{name, lists.Filter(groups, func(g CPUSet) bool { return g.Len() > 1 })})
	}
	add(Siblings, m.group(func(c CPU) int { return c.Core }))
	caches := make(map[int][]CPUSet)
	nodes := m.group(func(c CPU) int { return c.Node })
	for _, c := range m.dataCaches() {
		for _, node := range nodes { // a cache that spans nodes has slices in each
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
				continue // memory only
			}
			// Firmware may give another distance for the way back.
			d := max(m.Distance(a.ID, b.ID), m.Distance(b.ID, a.ID))
			distances[d] = append(distances[d], SetOf(append(slices.Clone(a.CPUs), b.CPUs...)...))
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(distances), func(a, b int) int {
		return cmp.Or(a, 1<<30) - cmp.Or(b, 1<<30) // the unknown last
	}) {
		name := printable.Either(d == 0, "other node", fmt.Sprintf("nodes %d apart", d))
		add(name, distances[d])
	}
	add("same machine", []CPUSet{cpus})
	// A level counts if it is the closest of some pair.
	closest := make(map[int8]bool)
	for a, row := range all.Between(cpus) {
		for _, level := range row[a+1:] {
			closest[level] = true
		}
	}
	var found Levels
	for i, level := range all {
		if closest[int8(i)] {
			found = append(found, level)
		}
	}
	return found
}

// group collects the CPUs with equal keys, in the order of the keys.
func (m *Machine) group(key func(CPU) int) []CPUSet {
	groups := make(map[int]CPUSet)
	for _, c := range m.CPUs {
		groups[key(c)] = append(groups[key(c)], c.ID)
	}
	return lists.Map(slices.Sorted(maps.Keys(groups)), func(key int) CPUSet { return groups[key] })
}

// CoreCPUs are the first allowed CPU of each core.
func (m *Machine) CoreCPUs() CPUSet {
	cores := lists.Groups(m.usable(), func(c CPU) int { return c.Core })
	return lists.Map(cores, func(core []CPU) int { return core[0].ID })
}
