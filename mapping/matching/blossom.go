package matching

import "slices"

// meet walks from both ends of an edge to the roots of their trees, and returns the base of the first blossom
// on both paths, or none if the trees differ.
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

// shrink forms a blossom of the odd cycle that an edge closes, with a given base.
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

// A walk visits the children of a blossom from one of them to the base, in an even number of steps.
type walk struct {
	children, links []int32
	at, step        int
	flip            int32 // 1: links are followed backwards
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

// link is the end of the edge to the next child.
func (w *walk) link() int32 {
	at := w.at - int(w.flip)
	return w.links[(at+len(w.links))%len(w.links)] ^ w.flip
}

// expand dissolves a blossom with dual 0: between stages (ended), or an inner one within a stage, whose
// children on the path through it stay in the tree.
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
		w := s.walk(b, slices.Index(s.children[b], entry))
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

// rotate changes the matching within a blossom so that one of its vertices becomes the base.
func (s *solver) rotate(b, v int32) {
	child := v
	for s.parent[child] != b {
		child = s.parent[child]
	}
	if int(child) >= s.n {
		s.rotate(child, v)
	}
	first := slices.Index(s.children[b], child)
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
