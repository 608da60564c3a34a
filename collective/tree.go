package collective

import (
	"iter"
	"math/bits"
	"slices"
)

// A tree is how a message cut into chunks goes from a root to all ranks, or the other way while
// it is reduced. Ranks are numbered from the root, 0, on. A rank that has a chunk sends it to
// one child after another, and only then the next chunk: a stage each.
type tree struct {
	ranks  int
	fan    int     // most children of a rank, and stages from one chunk to the next
	most   int     // most children of a rank that is not the root
	delays []delay // of all ranks but the root
	inner  int     // ranks with children
	place  func(rank int) place
	at     func(delay int) iter.Seq[int] // the ranks with a delay
	parts  func(n int) []part            // of n ranks; nil for chains
}

// A delay belongs to ranks of a tree: the first chunk reaches them in this stage, counted from
// 1. `ranks` ranks have each of the delays first, first+1 … first+length−1.
type delay struct{ first, length, ranks int }

// A place is where a rank is in a tree.
type place struct {
	parent int
	inner  bool // has children
}

// height is the delay of the last rank.
func (t *tree) height() (h int) {
	for _, d := range t.delays {
		h = max(h, d.first+d.length-1)
	}
	return h
}

// chains is a root with `fan` chains of ranks below it, each rank's parent the one to its left.
// Their lengths differ by at most one.
func chains(p, fan int) tree {
	n := min(fan, p-1)
	if n < 1 {
		return tree{ranks: 1, fan: 1}
	}
	length, longer := (p-1)/n, (p-1)%n
	t := tree{ranks: p, fan: n, most: min(1, p-1-n), inner: p - n}
	head := func(chain int) int { return 1 + chain*length + min(chain, longer) }
	size := func(chain int) int { return head(chain+1) - head(chain) }
	for chain := range n {
		t.delays = append(t.delays, delay{chain + 1, size(chain), 1})
	}
	t.place = func(rank int) place {
		chain := (rank - 1) / (length + 1)
		if chain >= longer {
			chain = longer + (rank-1-longer*(length+1))/length
		}
		at := rank - head(chain)
		if at == 0 {
			return place{parent: 0, inner: size(chain) > 1}
		}
		return place{parent: rank - 1, inner: at+1 < size(chain)}
	}
	t.at = func(delay int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for chain := range min(n, delay) {
				if at := delay - 1 - chain; at < size(chain) && !yield(head(chain)+at) {
					return
				}
			}
		}
	}
	return t
}

// A part of a tree is a child with all below it.
type part struct{ first, ranks int }

// preorder is a tree in which a rank and all below it are neighbours, itself the first.
// children are the parts of a tree of n ranks, numbered from its root, 0, on, in the order
// in which it sends to them.
func preorder(p int, children func(n int) []part) tree {
	t := counted(p, children, func(rank, _ int, c part) int { return rank + c.first })
	t.place = func(rank int) place {
		at := place{inner: p > 1}
		for root, ranks := 0, p; root != rank; {
			for _, c := range t.parts(ranks) {
				if rank >= root+c.first && rank < root+c.first+c.ranks {
					at = place{parent: root, inner: c.ranks > 1}
					root, ranks = root+c.first, c.ranks
					break
				}
			}
		}
		return at
	}
	return t
}

// knomial is the k-nomial tree: with n = …, k², k, 1 a rank sends to its n-th, 2n-th …
// (k−1)n-th neighbour, each of which serves the ranks up to the next. k = 2 is the
// binomial tree of MPICH.
func knomial(p, k int) tree {
	return preorder(p, func(ranks int) (parts []part) {
		n := 1
		for n < (ranks+k-1)/k {
			n *= k
		}
		for ; n > 0 && ranks > 1; n /= k {
			for at := n; at < min(k*n, ranks); at += n {
				parts = append(parts, part{at, min(n, ranks-at)})
			}
		}
		return parts
	})
}

// doubling is Open MPI's binomial tree: in stage i the ranks below 2^i send to their 2^i-th
// neighbours, so that the distance doubles from stage to stage.
func doubling(p int) tree {
	t := counted(p, func(ranks int) (parts []part) {
		for n := 1; n < ranks; n *= 2 {
			parts = append(parts, part{ranks: (ranks + n - 1) / (2 * n)})
		}
		return parts
	}, func(rank, i int, _ part) int { return rank + 1<<(bits.Len(uint(rank))+i) })
	t.place = func(rank int) place {
		n := bits.Len(uint(rank))
		return place{parent: rank &^ (1 << n >> 1), inner: rank+1<<n < p}
	}
	return t
}

// inOrder is Open MPI's in-order binary tree, ranks counted from the last one down: the
// first part follows its root, and the second has half of all, rounded down.
func inOrder(p int) tree {
	return preorder(p, func(n int) []part {
		switch {
		case n < 2:
			return nil
		case n == 2:
			return []part{{1, 1}}
		}
		return []part{{1, n - 1 - n/2}, {n - n/2, n / 2}}
	})
}

// levels is a tree that is filled level by level. The ranks of a level are dealt to parents in
// turn, as by Open MPI, or, packed, to the first parent until it has all its children, as by
// MPICH. Only the ranks' places differ.
func levels(p, degree int, packed bool) tree {
	t := counted(p, filled(degree, packed), func(rank, i int, _ part) int {
		if packed {
			return degree*rank + 1 + i
		}
		width := 1
		for above := 1; rank >= above; above += width {
			width *= degree
		}
		return rank + (i+1)*width
	})
	t.place = func(rank int) place {
		if packed {
			return place{parent: (rank - 1) / degree, inner: degree*rank+1 < p}
		}
		first, width := 0, 1 // of the rank's level
		for rank >= first+width {
			first, width = first+width, width*degree
		}
		parents := max(1, width/degree)
		return place{parent: first - parents + (rank-first)%parents, inner: rank+width < p}
	}
	return t
}

// filled are the sizes of the parts of a tree of levels.
func filled(degree int, packed bool) func(n int) []part {
	return func(n int) (parts []part) {
		above, width := 0, 1 // ranks above the last level, and its width
		for above+width < n {
			above, width = above+width, width*degree
		}
		last := n - above
		for i := range min(degree, n-1) {
			below := (last - i + degree - 1) / degree // of the last level
			if packed {
				each := width / degree
				below = max(0, min(each, last-i*each))
			}
			parts = append(parts, part{ranks: (above-1)/degree + below})
		}
		return parts
	}
}

// counted counts the delays of a tree by the sizes of its parts; child is the rank of the
// i-th child of a rank.
func counted(p int, children func(n int) []part, child func(rank, i int, c part) int) tree {
	type counts struct {
		parts []part
		below []*counts // of each part
		at    []int     // ranks by delay
		inner int
	}
	known := make(map[int]*counts)
	t := tree{ranks: p, fan: 1}
	var count func(n int) *counts
	count = func(n int) *counts {
		if c, there := known[n]; there {
			return c
		}
		parts := children(n)
		c := &counts{parts: parts, at: []int{1}, inner: min(1, len(parts))}
		t.fan = max(t.fan, len(parts))
		for i, part := range parts {
			below := count(part.ranks)
			c.below = append(c.below, below)
			c.inner += below.inner
			c.at = append(c.at, make([]int, max(0, len(below.at)+i+1-len(c.at)))...)
			for d, ranks := range below.at {
				c.at[d+i+1] += ranks
			}
		}
		known[n] = c
		return c
	}
	all := count(p)
	t.inner = all.inner
	for n, c := range known {
		if n < p {
			t.most = max(t.most, len(c.parts))
		}
	}
	for d, ranks := range all.at[1:] {
		if ranks > 0 {
			t.delays = append(t.delays, delay{d + 1, 1, ranks})
		}
	}
	t.parts = func(n int) []part { return known[n].parts }
	var find func(rank int, of *counts, delay int, yield func(int) bool) bool
	find = func(rank int, of *counts, delay int, yield func(int) bool) bool {
		if delay == 0 {
			return yield(rank)
		}
		for i, below := range of.below {
			rest := delay - i - 1
			if rest >= 0 && rest < len(below.at) && below.at[rest] > 0 && !find(child(rank, i, of.parts[i]), below, rest, yield) {
				return false
			}
		}
		return true
	}
	t.at = func(delay int) iter.Seq[int] {
		return func(yield func(int) bool) { find(0, all, delay, yield) }
	}
	return t
}

// A flow is bytes that go down a tree, or up, in chunks. All flows of a pipeline have as
// many stages between chunks.
type flow struct {
	tree
	from, bytes int // of the message
	chunk       int
	message     func(rank, parent int, part Span) Message // that a rank gets, or sends up
	// only, if not nil, are the ranks that the bytes are for: a part of the tree.
	only func(rank int) bool
	// peers, if not nil, is a rule for the messages of the ranks first … last of a chain.
	peers func(first, last int) Peers
}

func (f *flow) chunks() int { return (f.bytes + f.chunk - 1) / f.chunk }

// part is the j-th chunk, its buffer left open.
func (f *flow) part(j int) Span {
	return Span{Offset: f.from + j*f.chunk, Bytes: min(f.chunk, f.bytes-j*f.chunk)}
}

// pipeline adds the stages in which flows go down their trees, or up, which is the same
// backwards except that the first chunk still goes first. Once each rank has something to do
// stages recur until the last chunk leaves the root, and are stored once. What fills and what
// empties a chain has stages of its own.
func (s *Schedule) pipeline(phase string, up bool, flows ...flow) {
	flows = slices.DeleteFunc(flows, func(f flow) bool { return f.bytes == 0 || len(f.delays) == 0 })
	if len(flows) == 0 {
		return
	}
	p := pipe{phase, flows, 1, up}
	for _, f := range flows {
		p.fan = max(p.fan, f.fan)
	}
	fan := p.fan
	stages, turns := p.turns()
	first := len(s.Blocks)
	for n := 1; n <= stages; {
		for len(turns) > 0 && turns[0] <= n {
			turns = turns[1:]
		}
		// Up to the next turn each period's stages differ from the previous period's in the
		// same way.
		periods := 0
		if len(turns) > 0 {
			periods = (min(turns[0], stages+1) - n) / fan
		}
		if periods > 1 && !slices.ContainsFunc(flows, func(f flow) bool { return !f.steady(n, fan, up) }) {
			b := Block{Repeat: periods}
			for i := range fan {
				if st := p.stage(n+i, fan, periods); len(st.Shape) > 0 {
					b.Stages = append(b.Stages, st)
				}
			}
			if len(b.Stages) > 0 {
				s.Blocks = append(s.Blocks, b)
			}
			n += periods * fan
			continue
		}
		if st := p.stage(n, 0, 1); len(st.Shape) > 0 {
			s.Blocks = append(s.Blocks, Block{Repeat: 1, Stages: []Stage{st}})
		}
		n++
	}
	if up {
		slices.Reverse(s.Blocks[first:])
		for _, b := range s.Blocks[first:] {
			slices.Reverse(b.Stages)
		}
	}
}

// A pipe is flows of the same fan-out, down or up.
type pipe struct {
	phase string
	flows []flow
	fan   int
	up    bool
}

// turns are the stages, counted from 1, from which on a flow is another one, rising.
func (p *pipe) turns() (stages int, turns []int) {
	for _, f := range p.flows {
		last := p.fan * (f.chunks() - 1)
		stages = max(stages, f.height()+last)
		for _, d := range f.delays {
			for _, at := range [...]int{d.first, d.first + d.length} {
				turns = append(turns, at, at+last)
			}
		}
	}
	slices.Sort(turns)
	return stages, turns
}

// stage is the n-th; it recurs `repeat` times, `recur` stages apart.
func (p *pipe) stage(n, recur, repeat int) Stage {
	at := func(repetition int) int {
		if p.up {
			repetition = repeat - 1 - repetition
		}
		return n + recur*repetition
	}
	st := Stage{Phase: p.phase, Pattern: OneWay, Reduce: p.up, Steep: true}
	var batches []Batch
	for i := range p.flows {
		f := &p.flows[i]
		// A rank sends a chunk to the last of its `fan` children while it gets the next chunk.
		if f.chunks() > 1 && f.most == p.fan {
			st.Pattern = Exchange
		}
		now := f.shape(n, p.fan, p.up)
		batches = append(batches, now[:]...)
	}
	st.Shape = tally(batches...)
	st.messages = func(repetition int) iter.Seq[Message] {
		return func(yield func(Message) bool) {
			for i := range p.flows {
				for m := range p.flows[i].messages(at(repetition), p.fan, p.up) {
					if !yield(m) {
						return
					}
				}
			}
		}
	}
	if f := &p.flows[0]; f.peers != nil {
		st.Peers = func(repetition int) Peers {
			n := at(repetition)
			return f.peers(max(1, n-f.chunks()+1), min(f.delays[0].length, n))
		}
	}
	return st
}

// shape counts the messages of a stage of the way down.
func (f *flow) shape(n, fan int, up bool) [2]Batch {
	chunks := f.chunks()
	last := chunks - 1 // the chunk that may be short
	if up {
		last = 0
	}
	var whole, short int
	for _, d := range f.delays {
		if n < d.first {
			continue
		}
		from := max(0, (n-(d.first+d.length-1)+fan-1)/fan) // chunks on their way to these
		to := min(chunks-1, (n-d.first)/fan)
		if n < d.first+d.length {
			from = 0
		}
		if from > to {
			continue
		}
		whole += (to - from + 1) * d.ranks
		if from <= last && last <= to {
			whole, short = whole-d.ranks, short+d.ranks
		}
	}
	return [2]Batch{{whole, f.chunk}, {short, f.part(chunks - 1).Bytes}}
}

// steady reports whether a period has the same stages as the next one.
func (f *flow) steady(n, fan int, up bool) bool {
	for i := range fan {
		if f.shape(n+i, fan, up) != f.shape(n+i+fan, fan, up) {
			return false
		}
	}
	return true
}

// messages returns the messages of a stage on the way down.
func (f *flow) messages(n, fan int, up bool) iter.Seq[Message] {
	chunks := f.chunks()
	return func(yield func(Message) bool) {
		for j := max(0, (n-f.height()+fan-1)/fan); j < chunks && n-fan*j > 0; j++ {
			for rank := range f.at(n - fan*j) {
				if f.only != nil && !f.only(rank) {
					continue
				}
				chunk := j
				if up {
					chunk = chunks - 1 - j
				}
				m := f.message(rank, f.place(rank).parent, f.part(chunk))
				m.Reduce = up
				if !yield(m) {
					return
				}
			}
		}
	}
}

// tally counts messages of equal size together, the longest first, and leaves out empty ones.
func tally(batches ...Batch) (all []Batch) {
	slices.SortFunc(batches, func(a, b Batch) int { return b.Bytes - a.Bytes })
	for _, b := range shape(batches...) {
		if n := len(all); n > 0 && all[n-1].Bytes == b.Bytes {
			all[n-1].Count += b.Count
			continue
		}
		all = append(all, b)
	}
	return all
}
