package heuristic

import (
	"cmp"
	"errors"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mapping/matching"
)

// MWPM pairs processes by a maximum weighted perfect matching of their volumes, then pairs of processes, and
// so on up to the whole machine (section 4.2). For groups of n parts, an even n is halved by a matching;
// for an odd n a matching chooses the process that stays unpaired, and another one the pair that it joins.
//
// Free cores get a process without messages. Smaller groups are padded with dummy processes that must stay
// together. It fails if the padding would need many more processes than cores.
func (m *Machine) MWPM(matrix *comm.Matrix) (Mapping, error) {
	if err := m.Fits(matrix.Ranks()); err != nil {
		return nil, err
	}
	w := &mwpm{machine: m, processes: matrix.Ranks(), places: []int{none}}
	w.pad(m.root)
	if len(w.places) > max(2*MaxPlaces, 4*m.Places()) || len(w.places) > matching.MaxVertices {
		return nil, errors.New("the machine's groups of cores differ too much in size for matching level by level: take another mapping")
	}
	clusters := w.singles(matrix)
	for height, arity := range w.arities {
		w.size *= arity
		var err error
		if clusters, err = w.grouped(clusters, arity); err != nil {
			return nil, err
		}
		for _, c := range clusters {
			c.height = height + 1
		}
	}
	at := make(Mapping, w.processes)
	if !w.place(clusters[0], at, 0, len(w.places)) {
		return nil, errors.New("groups of cores that differ in size could not be matched: take another mapping")
	}
	return at, nil
}

const none = -1

type mwpm struct {
	machine   *Machine
	processes int
	arities   []int // of the groups of each height, the largest, from the closest on
	places    []int // of the machine, none where a group lacks one
	size      int   // slots of the groups being formed
	heavy     int64 // more than the volume of all processes
}

// pad pads the machine's tree so that all groups of a height have equally many children: places gets a slot for
// each leaf.
func (w *mwpm) pad(root *group) {
	w.arities = make([]int, root.height)
	var widen func(g *group)
	widen = func(g *group) {
		if g.height > 0 {
			w.arities[g.height-1] = max(w.arities[g.height-1], len(g.children))
		}
		for _, child := range g.children {
			widen(child)
		}
	}
	widen(root)
	slots := 1
	for _, arity := range w.arities {
		if slots *= arity; slots > matching.MaxVertices {
			w.places = make([]int, slots)
			return
		}
	}
	w.places = slices.Repeat([]int{none}, slots)
	var fill func(g *group, first, size int)
	fill = func(g *group, first, size int) {
		if g.height == 0 {
			w.places[first] = g.places[0]
			return
		}
		size /= w.arities[g.height-1]
		for i, child := range g.children {
			fill(child, first+i*size, size)
		}
	}
	fill(root, 0, slots)
	w.size = 1
}

// A cluster is a set of processes for the slots of a group.
type cluster struct {
	height int
	lowest int        // process, or what stands for one
	slot   int        // of a slot that is no place among its own; none if there is none
	parts  []*cluster // of the height below
	bytes  map[*cluster]int64
}

// singles are a cluster for each process, for each free core, and for each padded slot.
func (w *mwpm) singles(matrix *comm.Matrix) (all []*cluster) {
	for process := range w.machine.Places() {
		all = append(all, &cluster{lowest: process, slot: none, bytes: make(map[*cluster]int64)})
	}
	sum := lists.Sum(matrix.Volumes(), bytesOf)
	unit := 1 + sum/(2*matching.MaxWeight/matching.MaxVertices) // keeps weights within MaxWeight
	for process, volumes := range matrix.Volumes() {
		for _, v := range volumes {
			all[process].bytes[all[v.With]] = v.Bytes / unit
			w.heavy += v.Bytes / unit
		}
	}
	for slot, place := range w.places {
		if place == none {
			all = append(all, &cluster{lowest: len(all), slot: slot, bytes: make(map[*cluster]int64)})
		}
	}
	w.heavy++
	return all
}

// grouped forms groups of arity clusters each.
func (w *mwpm) grouped(clusters []*cluster, arity int) ([]*cluster, error) {
	complete := make([]*cluster, len(clusters)) // with a part for each
	wrapped := make(map[*cluster]*cluster)
	for i, c := range clusters {
		complete[i] = &cluster{lowest: c.lowest, slot: c.slot, parts: []*cluster{c}, bytes: make(map[*cluster]int64)}
		wrapped[c] = complete[i]
	}
	for i, c := range clusters {
		for other, bytes := range c.bytes {
			if to := wrapped[other]; to != nil { // other may be a part of one
				complete[i].bytes[to] += bytes
			}
		}
	}
	return w.joined(complete, arity)
}

// joined joins n clusters each, as pairs, pairs of pairs and so on.
func (w *mwpm) joined(clusters []*cluster, n int) ([]*cluster, error) {
	if n == 1 || len(clusters) == 0 {
		return clusters, nil
	}
	if settled, rest := w.settled(clusters, n); len(settled) > 0 {
		others, err := w.joined(rest, n)
		return append(settled, others...), err
	}
	pairs, singles, err := w.paired(clusters, n%2*(len(clusters)/n))
	if err != nil {
		return nil, err
	}
	groups, err := w.joined(pairs, n/2)
	if err != nil || n%2 == 0 {
		return groups, err
	}
	// Each single joins a group, by a bipartite matching.
	var edges []matching.Edge
	all := append(slices.Clone(singles), groups...)
	for i := range singles {
		for j := range groups {
			edges = append(edges, matching.Edge{U: i, V: len(singles) + j, Weight: w.weight(singles[i], groups[j])})
		}
	}
	partners, err := matching.Perfect(len(all), edges)
	if err != nil {
		return nil, err
	}
	return w.merged(all, partners), nil
}

// settled joins the clusters that belong to one group because of its padded slots.
func (w *mwpm) settled(clusters []*cluster, n int) (joined, rest []*cluster) {
	of := make(map[int][]int) // by group
	for i, c := range clusters {
		if c.slot != none {
			of[c.slot/w.size] = append(of[c.slot/w.size], i)
		}
	}
	partners := slices.Repeat([]int{none}, len(clusters))
	for i, c := range clusters {
		switch members := of[c.slot/w.size]; {
		case c.slot == none || len(members) != n:
			rest = append(rest, c)
		case i == members[0]:
			for _, member := range members[1:] {
				partners[member] = i
			}
			partners[i] = i
		}
	}
	return w.merged(clusters, partners), rest
}

// paired pairs all clusters except `single` of them, which it chooses.
func (w *mwpm) paired(clusters []*cluster, single int) (pairs, singles []*cluster, err error) {
	apart := slices.ContainsFunc(clusters, func(c *cluster) bool { return c.slot != none })
	n := len(clusters)
	var edges []matching.Edge
	var partners []int
	if single == 0 && !apart {
		// Clusters without common messages need no edge: unpaired ones may be paired arbitrarily.
		at := lists.Index(clusters, func(c *cluster) *cluster { return c })
		for i, c := range clusters {
			for other, bytes := range c.bytes {
				if j := at[other]; i < j {
					edges = append(edges, matching.Edge{U: i, V: j, Weight: bytes})
				}
			}
		}
		slices.SortFunc(edges, func(a, b matching.Edge) int { // the order of a map is random
			return cmp.Or(a.U-b.U, a.V-b.V)
		})
		if partners, err = matching.Maximum(n, edges); err != nil {
			return nil, nil, err
		}
		left := none
		for i, partner := range partners {
			switch {
			case partner != matching.Alone:
			case left == none:
				left = i
			default:
				partners[i], partners[left], left = left, i, none
			}
		}
		return w.merged(clusters, partners), nil, nil
	}
	for i, c := range clusters {
		for j := range clusters[:i] {
			edges = append(edges, matching.Edge{U: j, V: i, Weight: w.weight(clusters[j], c)})
		}
		for s := range single {
			edges = append(edges, matching.Edge{U: i, V: n + s})
		}
	}
	if partners, err = matching.Perfect(n+single, edges); err != nil {
		return nil, nil, err
	}
	for i, c := range clusters {
		if partners[i] >= n {
			singles = append(singles, c)
		}
	}
	return w.merged(clusters, partners), singles, nil
}

// weight is the volume of two clusters. Padded slots outweigh all volumes: slots of one group must stay together,
// slots of different groups apart.
func (w *mwpm) weight(a, b *cluster) int64 {
	bytes := a.bytes[b]
	if a.slot == none || b.slot == none {
		return bytes
	}
	if a.slot/w.size == b.slot/w.size {
		return bytes + w.heavy
	}
	return bytes - w.heavy
}

// merged merges the clusters with the same leader, the first partner, into one. A cluster whose partner is no
// cluster is left out.
func (w *mwpm) merged(clusters []*cluster, partners []int) (all []*cluster) {
	of := make(map[*cluster]*cluster)
	members := make(map[int][]*cluster) // by the first
	var leaders []int
	for i, c := range clusters {
		first := partners[i]
		if first < 0 || first >= len(clusters) {
			continue
		}
		if first = min(first, i); members[first] == nil {
			leaders = append(leaders, first)
		}
		members[first] = append(members[first], c)
	}
	for _, first := range leaders {
		whole := &cluster{lowest: clusters[first].lowest, slot: none, bytes: make(map[*cluster]int64)}
		for _, c := range members[first] {
			whole.lowest, whole.slot, whole.parts = min(whole.lowest, c.lowest), max(whole.slot, c.slot), append(whole.parts, c.parts...)
			of[c] = whole
		}
		all = append(all, whole)
	}
	// Volumes with clusters that are not merged stay.
	for i, first := range leaders {
		for _, part := range members[first] {
			for other, bytes := range part.bytes {
				switch to := of[other]; to {
				case all[i]:
				case nil:
					all[i].bytes[other] += bytes
					other.bytes[all[i]] += bytes
				default:
					all[i].bytes[to] += bytes
				}
			}
		}
	}
	return all
}

// place assigns the clusters of a group to its slots, of which there are size from first on, by lowest process,
// and reports whether all padded slots are in their places.
func (w *mwpm) place(c *cluster, at Mapping, first, size int) bool {
	if c.height == 0 {
		place := w.places[first]
		if c.slot != none || place == none {
			return c.slot == first
		}
		if c.lowest < w.processes {
			at[c.lowest] = place
		}
		return true
	}
	size /= len(c.parts)
	slots := make([]*cluster, len(c.parts))
	var others []*cluster
	for _, part := range c.parts {
		i := (part.slot - first) / size
		switch {
		case part.slot == none:
			others = append(others, part)
		case part.slot < first || i >= len(slots) || slots[i] != nil:
			return false
		default:
			slots[i] = part
		}
	}
	slices.SortFunc(others, func(a, b *cluster) int { return a.lowest - b.lowest })
	for i := range slots {
		if slots[i] == nil {
			slots[i], others = others[0], others[1:]
		}
		if !w.place(slots[i], at, first+i*size, size) {
			return false
		}
	}
	return true
}
