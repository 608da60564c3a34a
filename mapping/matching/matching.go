// Package matching finds maximum weighted matchings of general graphs: sets of edges without a common vertex.
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

// An Edge joins two vertices. Weights may be negative.
type Edge struct {
	U, V   int
	Weight int64
}

// Limits of graphs, so that no dual overflows. Duals of a perfect matching may grow by an edge's weight with
// each vertex: there the limit of weights is 4·MaxWeight over the number of vertices.
const (
	MaxVertices = 1 << 14
	MaxWeight   = 1 << 58 // of an edge, either way
)

// Alone is the partner of an unmatched vertex.
const Alone = -1

// Maximum finds a maximum weighted matching of n vertices and returns their partners. It fails for invalid
// edges.
func Maximum(n int, edges []Edge) (partners []int, err error) { return matched(n, edges, false) }

func matched(n int, edges []Edge, perfect bool) (partners []int, err error) {
	s, err := newSolver(n, edges, perfect)
	if err != nil {
		return nil, err
	}
	s.solve()
	return s.partners(), nil
}

// Perfect finds a maximum weighted perfect matching and returns the partners. It fails if the graph has no
// perfect matching.
func Perfect(n int, edges []Edge) (partners []int, err error) {
	partners, err = matched(n, edges, true)
	if v := slices.Index(partners, Alone); v >= 0 {
		return nil, fmt.Errorf("vertex %d of %d has no partner: the graph has no perfect matching", v, n)
	}
	return partners, err
}

// A label is the side of an alternating tree on which a vertex or blossom is.
type label uint8

const (
	free  label = iota
	outer       // even distance from an unmatched vertex
	inner       // odd distance
	seen  = outer | 4
)

// none stands for no edge, end, blossom or vertex.
const none = -1

// A solver is a run of the algorithm. Vertices are 0 … n−1, blossoms n … 2n−1; both have duals, labels and
// parents. An end is a side of an edge: edge k has the ends 2k, its U, and 2k+1, its V; end^1 is the
// other side.
type solver struct {
	n       int
	edges   []Edge
	perfect bool
	at      []int32 // vertex of an end
	around  [][]int32
	mate    []int32 // remote end of a vertex's matched edge, or none

	label    []label
	via      []int32 // end through which a tree reached it, or none
	in       []int32 // outermost blossom of a vertex
	parent   []int32
	children [][]int32
	links    [][]int32 // ends that join child i and i+1
	base     []int32
	best     []int32 // edge of least slack of an outer blossom to another one, or of a free vertex to an outer one
	bests    [][]int32
	unused   []int32
	dual     []int64 // doubled for vertices, simple for blossoms
	tight    []bool  // edges without slack
	queue    []int32
	bestTo   []int32 // by blossom, while one is formed
	leaves   []int32
}

func newSolver(n int, edges []Edge, perfect bool) (*solver, error) {
	if n < 0 || n > MaxVertices {
		return nil, fmt.Errorf("%d vertices: give 0 to %d", n, MaxVertices)
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
	s.mate = slices.Repeat([]int32{none}, n)
	s.label, s.via = make([]label, 2*n), slices.Repeat([]int32{none}, 2*n)
	s.in, s.parent, s.base = make([]int32, n), slices.Repeat([]int32{none}, 2*n), slices.Repeat([]int32{none}, 2*n)
	s.children, s.links, s.bests = make([][]int32, 2*n), make([][]int32, 2*n), make([][]int32, 2*n)
	s.best, s.bestTo = slices.Repeat([]int32{none}, 2*n), slices.Repeat([]int32{none}, 2*n)
	s.dual, s.tight = make([]int64, 2*n), make([]bool, len(edges))
	for v := range n {
		s.in[v], s.base[v], s.dual[v] = int32(v), int32(v), most
		s.unused = append(s.unused, int32(n+v))
	}
	return s, nil
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

// solve augments the matching, stage by stage, until the duals prove it optimal.
func (s *solver) solve() {
	for s.n > 0 && s.stage() {
	}
}

// stage grows trees from all unmatched vertices until an augmenting path is found, and reports whether there
// was one.
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
	for !s.scan() {
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

// slack is twice the excess of the duals over the weight, for an edge between two blossoms.
func (s *solver) slack(k int32) int64 {
	e := &s.edges[k]
	return s.dual[e.U] + s.dual[e.V] - 2*e.Weight
}

// leavesOf are the vertices of a blossom, valid until the next call.
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

// scan visits the edges of outer vertices and reports whether one augmented the matching.
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

// augment matches an edge between two trees, and alternates the edges on the paths to their roots.
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

// adjust changes the duals as far as they stay feasible, and reports whether there are new edges to scan. If
// not, the matching is optimal.
func (s *solver) adjust() bool {
	const (
		nothing = iota
		freed   // an edge to a free vertex becomes tight
		joined  // an edge between two outer blossoms becomes tight
		opened  // the dual of an inner blossom becomes 0
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
