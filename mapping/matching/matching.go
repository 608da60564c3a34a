// Package matching finds the heaviest matching of a general graph: edges no two of which share
// a vertex.
//
// It is Edmonds' algorithm with blossoms and duals (J. Edmonds, "Maximum matching and a
// polyhedron with 0,1-vertices", 1965) with the bookkeeping of Z. Galil, "Efficient algorithms
// for finding maximum matching in graphs", ACM Computing Surveys, 1986: stages of one
// augmentation each, O(n³) in all. Weights and duals are whole numbers, so the result is exact.
package matching

import (
	"fmt"
	"math"
	"slices"
)

// An Edge joins two vertices. Weights may be below zero.
type Edge struct {
	U, V   int
	Weight int64
}

// Limits of graphs within which no dual overflows. Duals of a perfect matching may grow by an
// edge's weight with every vertex, so the limit there is four times MaxWeight over the number
// of vertices.
const (
	MaxVertices = 1 << 14
	MaxWeight   = 1 << 58 // of an edge, either way
)

// Alone is the partner of a vertex that has none.
const Alone = -1

// Maximum finds a matching of the greatest weight among n vertices and returns the partner
// of each. It fails for edges that are no edges.
func Maximum(n int, edges []Edge) (partners []int, err error) {
	s, err := newSolver(n, edges, false)
	if err != nil {
		return nil, err
	}
	s.solve()
	return s.partners(), nil
}

// Perfect finds the heaviest of the matchings that leave no vertex alone, and returns the
// partner of each. It fails where there is none.
func Perfect(n int, edges []Edge) (partners []int, err error) {
	s, err := newSolver(n, edges, true)
	if err != nil {
		return nil, err
	}
	s.solve()
	partners = s.partners()
	for v, partner := range partners {
		if partner == Alone {
			return nil, fmt.Errorf("vertex %d of %d has no partner: the graph has no perfect matching", v, n)
		}
	}
	return partners, nil
}

// A label is how an alternating tree reached a vertex or a blossom.
type label uint8

const (
	free  label = iota
	outer       // even distance from a vertex that has no partner
	inner       // odd distance
	seen  = outer | 4
)

// none is no edge, end, blossom or vertex.
const none = -1

// A solver is one run. Vertices are 0 … n−1, blossoms n … 2n−1; both have duals, labels
// and parents. An end is a side of an edge: of edge k the ends 2k and 2k+1 are its U and V,
// and end^1 is the other side.
type solver struct {
	n       int
	edges   []Edge
	perfect bool
	at      []int32 // vertex of an end
	around  [][]int32
	mate    []int32 // far end of the matched edge of a vertex, or none

	label    []label
	via      []int32 // end through which a tree reached it, or none
	in       []int32 // outermost blossom of a vertex
	parent   []int32
	children [][]int32
	links    [][]int32 // ends that join child i and i+1
	base     []int32
	best     []int32 // edge of least slack to another outer blossom, or of a free vertex to an outer one
	bests    [][]int32
	unused   []int32
	dual     []int64 // doubled for vertices, simple for blossoms
	tight    []bool  // edges without slack
	queue    []int32
	bestTo   []int32 // by blossom, while one is made
	leaves   []int32
}

func newSolver(n int, edges []Edge, perfect bool) (*solver, error) {
	if n < 0 || n > MaxVertices {
		return nil, fmt.Errorf("%d vertices: give 0 to %d", n, MaxVertices)
	}
	if len(edges) > math.MaxInt32/2 {
		return nil, fmt.Errorf("%d edges: give %d at the most", len(edges), math.MaxInt32/2)
	}
	s := &solver{n: n, edges: edges, perfect: perfect, at: make([]int32, 2*len(edges)), around: make([][]int32, n)}
	limit := int64(MaxWeight)
	if perfect {
		limit = min(limit, 4*MaxWeight/int64(max(1, n)))
	}
	degree := make([]int, n)
	most := int64(0)
	for k, e := range edges {
		if e.U < 0 || e.V < 0 || e.U >= n || e.V >= n || e.U == e.V {
			return nil, fmt.Errorf("edge %d joins vertices %d and %d: give two that differ, from 0 to %d", k, e.U, e.V, n-1)
		}
		if e.Weight > limit || e.Weight < -limit {
			return nil, fmt.Errorf("edge %d weighs %d: give %d at the most", k, e.Weight, limit)
		}
		degree[e.U]++
		degree[e.V]++
		most = max(most, e.Weight)
	}
	ends := make([]int32, 2*len(edges))
	for v, d := range degree {
		s.around[v], ends = ends[:0:d], ends[d:]
	}
	for k, e := range edges {
		s.at[2*k], s.at[2*k+1] = int32(e.U), int32(e.V)
		s.around[e.U] = append(s.around[e.U], int32(2*k+1))
		s.around[e.V] = append(s.around[e.V], int32(2*k))
	}
	s.mate = filled(n, none)
	s.label, s.via = make([]label, 2*n), filled(2*n, none)
	s.in, s.parent, s.base = make([]int32, n), filled(2*n, none), filled(2*n, none)
	s.children, s.links, s.bests = make([][]int32, 2*n), make([][]int32, 2*n), make([][]int32, 2*n)
	s.best, s.bestTo = filled(2*n, none), filled(2*n, none)
	s.dual, s.tight = make([]int64, 2*n), make([]bool, len(edges))
	for v := range n {
		s.in[v], s.base[v], s.dual[v] = int32(v), int32(v), most
		s.unused = append(s.unused, int32(n+v))
	}
	return s, nil
}

func filled(n int, with int32) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = with
	}
	return all
}

func (s *solver) partners() []int {
	partners := make([]int, s.n)
	for v, end := range s.mate {
		if partners[v] = Alone; end != none {
			partners[v] = int(s.at[end])
		}
	}
	return partners
}

// solve augments the matching, stage by stage, until duals prove it the best.
func (s *solver) solve() {
	for s.n > 0 && s.stage() {
	}
}

// stage grows trees from all vertices without a partner until one more edge can be
// matched, and reports whether it was.
func (s *solver) stage() bool {
	clear(s.label)
	clear(s.tight)
	s.queue = s.queue[:0]
	for b := range s.best {
		s.best[b] = none
		s.bests[b] = nil
	}
	for v := range s.n {
		if s.mate[v] == none && s.label[s.in[v]] == free {
			s.reach(int32(v), outer, none)
		}
	}
	for {
		if s.scan() {
			break
		}
		if !s.adjust() {
			return false
		}
	}
	for b := int32(s.n); b < int32(2*s.n); b++ {
		if s.parent[b] == none && s.base[b] != none && s.label[b] == outer && s.dual[b] == 0 {
			s.expand(b, true)
		}
	}
	return true
}

// slack is how far duals of an edge of two blossoms are above its weight, twice.
func (s *solver) slack(k int32) int64 {
	e := &s.edges[k]
	return s.dual[e.U] + s.dual[e.V] - 2*e.Weight
}

// leavesOf are the vertices of a blossom, until the next call.
func (s *solver) leavesOf(b int32) []int32 {
	s.leaves = s.appendLeaves(s.leaves[:0], b)
	return s.leaves
}

func (s *solver) appendLeaves(to []int32, b int32) []int32 {
	if int(b) < s.n {
		return append(to, b)
	}
	for _, child := range s.children[b] {
		to = s.appendLeaves(to, child)
	}
	return to
}

// reach labels the blossom of a vertex that a tree reached through an end. The partner of an
// inner one is outer.
func (s *solver) reach(v int32, as label, through int32) {
	for {
		b := s.in[v]
		s.label[v], s.label[b] = as, as
		s.via[v], s.via[b] = through, through
		s.best[v], s.best[b] = none, none
		if as == outer {
			s.queue = append(s.queue, s.leavesOf(b)...)
			return
		}
		end := s.mate[s.base[b]]
		v, as, through = s.at[end], outer, end^1
	}
}

// scan looks at edges of outer vertices and reports whether one augmented the matching.
func (s *solver) scan() bool {
	for len(s.queue) > 0 {
		last := len(s.queue) - 1
		v := s.queue[last]
		s.queue = s.queue[:last]
		for _, end := range s.around[v] {
			k, w := end/2, s.at[end]
			if s.in[v] == s.in[w] {
				continue
			}
			var slack int64
			if !s.tight[k] {
				if slack = s.slack(k); slack <= 0 {
					s.tight[k] = true
				}
			}
			switch {
			case s.tight[k] && s.label[s.in[w]] == free:
				s.reach(w, inner, end^1)
			case s.tight[k] && s.label[s.in[w]] == outer:
				base := s.meet(v, w)
				if base == none {
					s.augment(k)
					return true
				}
				s.shrink(base, k)
			case s.tight[k] && s.label[w] == free: // within an inner blossom
				s.label[w], s.via[w] = inner, end^1
			case s.tight[k]:
			case s.label[s.in[w]] == outer:
				s.better(&s.best[s.in[v]], k, slack)
			case s.label[w] == free:
				s.better(&s.best[w], k, slack)
			}
		}
	}
	return false
}

func (s *solver) better(best *int32, k int32, slack int64) {
	if *best == none || slack < s.slack(*best) {
		*best = k
	}
}

// meet walks from both ends of an edge to the roots of their trees, and returns the base
// of the first blossom on both ways, or none where the trees differ.
func (s *solver) meet(v, w int32) int32 {
	var path []int32
	base := int32(none)
	for v != none || w != none {
		b := s.in[v]
		if s.label[b] == seen {
			base = s.base[b]
			break
		}
		path = append(path, b)
		s.label[b] = seen
		if s.via[b] == none {
			v = none
		} else {
			v = s.at[s.via[b]]
			v = s.at[s.via[s.in[v]]]
		}
		if w != none {
			v, w = w, v
		}
	}
	for _, b := range path {
		s.label[b] = outer
	}
	return base
}

// shrink makes a blossom of the odd cycle that an edge closes, with the given base.
func (s *solver) shrink(base, k int32) {
	v, w := s.at[2*k], s.at[2*k+1]
	root, bv, bw := s.in[base], s.in[v], s.in[w]
	b := s.unused[len(s.unused)-1]
	s.unused = s.unused[:len(s.unused)-1]
	s.base[b], s.parent[b], s.parent[root] = base, none, b
	var path, links []int32
	for bv != root {
		s.parent[bv] = b
		path, links = append(path, bv), append(links, s.via[bv])
		bv = s.in[s.at[s.via[bv]]]
	}
	path = append(path, root)
	slices.Reverse(path)
	slices.Reverse(links)
	links = append(links, 2*k)
	for bw != root {
		s.parent[bw] = b
		path, links = append(path, bw), append(links, s.via[bw]^1)
		bw = s.in[s.at[s.via[bw]]]
	}
	s.children[b], s.links[b] = path, links
	s.label[b], s.via[b], s.dual[b] = outer, s.via[root], 0
	for _, v := range s.leavesOf(b) {
		if s.label[s.in[v]] == inner {
			s.queue = append(s.queue, v)
		}
		s.in[v] = b
	}
	s.collect(b)
}

// collect finds the edges of least slack from a new blossom to each other outer one.
func (s *solver) collect(b int32) {
	var to []int32
	look := func(k int32) {
		w := s.in[s.at[2*k+1]]
		if w == b {
			w = s.in[s.at[2*k]]
		}
		if w == b || s.label[w] != outer {
			return
		}
		if s.bestTo[w] == none {
			to = append(to, w)
		}
		s.better(&s.bestTo[w], k, s.slack(k))
	}
	for _, child := range s.children[b] {
		if s.bests[child] != nil {
			for _, k := range s.bests[child] {
				look(k)
			}
		} else {
			for _, v := range s.leavesOf(child) {
				for _, end := range s.around[v] {
					look(end / 2)
				}
			}
		}
		s.bests[child], s.best[child] = nil, none
	}
	s.best[b], s.bests[b] = none, make([]int32, 0, len(to))
	for _, w := range to {
		k := s.bestTo[w]
		s.bestTo[w] = none
		s.bests[b] = append(s.bests[b], k)
		s.better(&s.best[b], k, s.slack(k))
	}
}

// A walk goes round the children of a blossom from one of them to the base, an even number
// of steps.
type walk struct {
	children, links []int32
	at, step        int
	flip            int32 // 1 where links are followed backwards
}

func (s *solver) walk(b int32, from int) walk {
	w := walk{s.children[b], s.links[b], from, -1, 1}
	if from%2 == 1 {
		w.step, w.flip = 1, 0
	}
	return w
}

func (w *walk) child() int32 { return w.children[w.at] }
func (w *walk) next()        { w.at = (w.at + w.step + len(w.children)) % len(w.children) }

// link is the end through which the walk goes on.
func (w *walk) link() int32 {
	at := w.at - int(w.flip)
	return w.links[(at+len(w.links))%len(w.links)] ^ w.flip
}

func (s *solver) index(b, child int32) int {
	for i, c := range s.children[b] {
		if c == child {
			return i
		}
	}
	panic("matching: a blossom without its child")
}

// expand takes apart a blossom whose dual is zero: between stages, or an inner one within a
// stage, whose children on the way through it stay in the tree.
func (s *solver) expand(b int32, ended bool) {
	for _, child := range s.children[b] {
		s.parent[child] = none
		switch {
		case int(child) < s.n:
			s.in[child] = child
		case ended && s.dual[child] == 0:
			s.expand(child, ended)
		default:
			for _, v := range s.leavesOf(child) {
				s.in[v] = child
			}
		}
	}
	if !ended && s.label[b] == inner {
		entry := s.in[s.at[s.via[b]^1]]
		w := s.walk(b, s.index(b, entry))
		through := s.via[b]
		for w.at != 0 {
			s.label[s.at[through^1]] = free
			link := w.link()
			s.label[s.at[link^1]] = free
			s.reach(s.at[through^1], inner, through)
			s.tight[link/2] = true
			w.next()
			through = w.link()
			s.tight[through/2] = true
			w.next()
		}
		v, child := s.at[through^1], w.child()
		s.label[v], s.label[child] = inner, inner
		s.via[v], s.via[child] = through, through
		s.best[child] = none
		for w.next(); w.child() != entry; w.next() {
			child := w.child()
			if s.label[child] == outer {
				continue
			}
			for _, v := range s.leavesOf(child) {
				if s.label[v] == free {
					continue
				}
				s.label[v] = free
				s.label[s.at[s.mate[s.base[child]]]] = free
				s.reach(v, inner, s.via[v])
				break
			}
		}
	}
	s.label[b], s.via[b], s.base[b], s.best[b] = free, none, none, none
	s.children[b], s.links[b], s.bests[b] = nil, nil, nil
	s.unused = append(s.unused, b)
}

// rotate matches within a blossom so that a vertex of it becomes its base.
func (s *solver) rotate(b, v int32) {
	child := v
	for s.parent[child] != b {
		child = s.parent[child]
	}
	if int(child) >= s.n {
		s.rotate(child, v)
	}
	first := s.index(b, child)
	for w := s.walk(b, first); w.at != 0; {
		w.next()
		link := w.link()
		if int(w.child()) >= s.n {
			s.rotate(w.child(), s.at[link])
		}
		w.next()
		if int(w.child()) >= s.n {
			s.rotate(w.child(), s.at[link^1])
		}
		s.mate[s.at[link]], s.mate[s.at[link^1]] = link^1, link
	}
	s.children[b] = slices.Concat(s.children[b][first:], s.children[b][:first])
	s.links[b] = slices.Concat(s.links[b][first:], s.links[b][:first])
	s.base[b] = s.base[s.children[b][0]]
}

// augment matches an edge between two trees, and every other edge on the ways to their
// roots.
func (s *solver) augment(k int32) {
	for side := range int32(2) {
		v, end := s.at[2*k+side], 2*k+1-side
		for {
			b := s.in[v]
			if int(b) >= s.n {
				s.rotate(b, v)
			}
			s.mate[v] = end
			if s.via[b] == none {
				break
			}
			b = s.in[s.at[s.via[b]]]
			far := s.at[s.via[b]^1]
			if int(b) >= s.n {
				s.rotate(b, far)
			}
			s.mate[far] = s.via[b]
			v, end = s.at[s.via[b]], s.via[b]^1
		}
	}
}

// adjust changes duals as far as they stay feasible, and reports whether there is more to
// scan then. If not, the matching is the best.
func (s *solver) adjust() bool {
	const (
		nothing = iota
		freed   // an edge to a free vertex becomes tight
		joined  // one between two outer blossoms
		opened  // an inner blossom is worth nothing
	)
	found, delta, at := nothing, int64(math.MaxInt64), int32(none)
	if !s.perfect {
		delta = slices.Min(s.dual[:s.n])
	}
	less := func(what int, by int64, where int32) {
		if by < delta {
			found, delta, at = what, by, where
		}
	}
	for v := range s.n {
		if s.label[s.in[v]] == free && s.best[v] != none {
			less(freed, s.slack(s.best[v]), s.best[v])
		}
	}
	for b := range s.parent {
		if s.parent[b] != none {
			continue
		}
		if s.label[b] == outer && s.best[b] != none {
			less(joined, s.slack(s.best[b])/2, s.best[b])
		}
		if b >= s.n && s.base[b] != none && s.label[b] == inner {
			less(opened, s.dual[b], int32(b))
		}
	}
	if s.perfect && found == nothing {
		return false
	}
	for v := range s.n {
		switch s.label[s.in[v]] {
		case outer:
			s.dual[v] -= delta
		case inner:
			s.dual[v] += delta
		}
	}
	for b := s.n; b < 2*s.n; b++ {
		if s.base[b] == none || s.parent[b] != none {
			continue
		}
		switch s.label[b] {
		case outer:
			s.dual[b] += delta
		case inner:
			s.dual[b] -= delta
		}
	}
	switch found {
	case nothing:
		return false
	case opened:
		s.expand(at, false)
	default:
		s.tight[at] = true
		v := s.at[2*at]
		if s.label[s.in[v]] != outer {
			v = s.at[2*at+1]
		}
		s.queue = append(s.queue, v)
	}
	return true
}
