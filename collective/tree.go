package collective

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// A tree distributes a message in chunks from its root to all ranks, or reduces it in the opposite
// direction. Ranks are numbered from the root, 0, on. A rank sends a chunk to one child after another, a
// stage each, and then the next chunk.
type tree struct {
	ranks    int
	fan      int     // largest fan-out, the number of stages from one chunk to the next
	most     int     // largest fan-out of a rank other than the root
	delays   []delay // of all ranks but the root
	inner    int     // ranks with children
	place    func(rank int) place
	at       func(delay int) iter.Seq[int] // the ranks with a delay
	subtrees func(n int) []subtree         // of a tree of n ranks; nil for chains
}

// A delay is the stage, counted from 1, in which the first chunk reaches a rank. Each of the delays first,
// first+1 … first+length−1 has `ranks` ranks.
type delay struct{ first, length, ranks int }

// A place is a rank's place in a tree.
type place struct {
	parent int
	inner  bool // has children
}

// height is the largest delay.
func (t *tree) height() int {
	return lists.Most(t.delays, func(d delay) int { return d.first + d.length - 1 })
}

// chains is a root with `fan` chains of consecutive ranks, whose lengths differ by at most one.
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
		depth := rank - head(chain)
		if depth == 0 {
			return place{parent: 0, inner: size(chain) > 1}
		}
		return place{parent: rank - 1, inner: depth+1 < size(chain)}
	}
	t.at = func(delay int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for chain := range min(n, delay) {
				if depth := delay - 1 - chain; depth < size(chain) && !yield(head(chain)+depth) {
					return
				}
			}
		}
	}
	return t
}

// A subtree is a child with its descendants.
type subtree struct{ first, ranks int }

// preorder is a tree whose subtrees have consecutive ranks, the child first. children are the subtrees
// of a tree of n ranks, relative to its root, in the order of sending.
func preorder(p int, children func(n int) []subtree) tree {
	t := counted(p, children, func(rank, _ int, c subtree) int { return rank + c.first })
	t.place = func(rank int) place {
		found := place{inner: p > 1}
		for root, ranks := 0, p; root != rank; {
			for _, c := range t.subtrees(ranks) {
				if rank >= root+c.first && rank < root+c.first+c.ranks {
					found = place{parent: root, inner: c.ranks > 1}
					root, ranks = root+c.first, c.ranks
					break
				}
			}
		}
		return found
	}
	return t
}

// knomial is the k-nomial tree: with n = …, k², k, 1 a rank sends to its n-th, 2n-th … (k−1)n-th
// neighbour, each the root of the ranks up to the next. k = 2 is the binomial tree of MPICH.
func knomial(p, k int) tree {
	return preorder(p, func(ranks int) (subtrees []subtree) {
		n := 1
		for n < (ranks+k-1)/k {
			n *= k
		}
		for ; n > 0 && ranks > 1; n /= k {
			for child := n; child < min(k*n, ranks); child += n {
				subtrees = append(subtrees, subtree{child, min(n, ranks-child)})
			}
		}
		return subtrees
	})
}

// doubling is Open MPI's binomial tree: in stage i the ranks below 2^i send to their 2^i-th neighbours, so
// that the distance doubles from stage to stage.
func doubling(p int) tree {
	t := counted(p, func(ranks int) (subtrees []subtree) {
		for n := 1; n < ranks; n *= 2 {
			subtrees = append(subtrees, subtree{ranks: (ranks + n - 1) / (2 * n)})
		}
		return subtrees
	}, func(rank, i int, _ subtree) int { return rank + 1<<(bits.Len(uint(rank))+i) })
	t.place = func(rank int) place {
		n := bits.Len(uint(rank))
		return place{parent: rank &^ (1 << n >> 1), inner: rank+1<<n < p}
	}
	return t
}

// inOrder is Open MPI's in-order binary tree, with ranks counted from the last one down: the first subtree
// follows the root, and the second has half of the ranks, rounded down.
func inOrder(p int) tree {
	return preorder(p, func(n int) []subtree {
		switch {
		case n < 2:
			return nil
		case n == 2:
			return []subtree{{1, 1}}
		}
		return []subtree{{1, n - 1 - n/2}, {n - n/2, n / 2}}
	})
}

// kary is a k-ary tree that is filled level by level. The ranks of a level are assigned to the parents
// round-robin, as in Open MPI, or packed: each parent gets all its children before the next, as in MPICH.
func kary(p, degree int, packed bool) tree {
	t := counted(p, karySubtrees(degree, packed), func(rank, i int, _ subtree) int {
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

// karySubtrees are the sizes of the subtrees of a kary tree.
func karySubtrees(degree int, packed bool) func(n int) []subtree {
	return func(n int) (subtrees []subtree) {
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
			subtrees = append(subtrees, subtree{ranks: (above-1)/degree + below})
		}
		return subtrees
	}
}

// counted computes the delays of a tree from the sizes of its subtrees; child is the i-th child of a rank.
func counted(p int, children func(n int) []subtree, child func(rank, i int, c subtree) int) tree {
	type counts struct {
		subtrees []subtree
		below    []*counts // of each subtree
		byDelay  []int     // ranks
		inner    int
	}
	known := make(map[int]*counts)
	t := tree{ranks: p, fan: 1}
	var count func(n int) *counts
	count = func(n int) *counts {
		if c, there := known[n]; there {
			return c
		}
		subtrees := children(n)
		c := &counts{subtrees: subtrees, byDelay: []int{1}, inner: min(1, len(subtrees))}
		t.fan = max(t.fan, len(subtrees))
		for i, subtree := range subtrees {
			below := count(subtree.ranks)
			c.below = append(c.below, below)
			c.inner += below.inner
			c.byDelay = append(c.byDelay, make([]int, max(0, len(below.byDelay)+i+1-len(c.byDelay)))...)
			for d, ranks := range below.byDelay {
				c.byDelay[d+i+1] += ranks
			}
		}
		known[n] = c
		return c
	}
	all := count(p)
	t.inner = all.inner
	for n, c := range known {
		if n < p {
			t.most = max(t.most, len(c.subtrees))
		}
	}
	for d, ranks := range all.byDelay[1:] {
		if ranks > 0 {
			t.delays = append(t.delays, delay{d + 1, 1, ranks})
		}
	}
	t.subtrees = func(n int) []subtree { return known[n].subtrees }
	var find func(rank int, c *counts, delay int, yield func(int) bool) bool
	find = func(rank int, c *counts, delay int, yield func(int) bool) bool {
		if delay == 0 {
			return yield(rank)
		}
		for i, below := range c.below {
			rest := delay - i - 1
			if rest >= 0 && rest < len(below.byDelay) && below.byDelay[rest] > 0 && !find(child(rank, i, c.subtrees[i]), below, rest, yield) {
				return false
			}
		}
		return true
	}
	t.at = func(delay int) iter.Seq[int] { return func(yield func(int) bool) { find(0, all, delay, yield) } }
	return t
}

// A flow is a range of a message that moves down a tree, or up, in chunks. All flows of a pipeline have the
// same number of stages between chunks.
type flow struct {
	tree
	from, bytes int // range of the message
	chunk       int
	message     func(rank, parent int, part Span) Message // that a rank receives, or sends up
	only        func(rank int) bool                       // ranks that take part; nil: all
	peers       func(first, last int) Peers               // of the ranks first … last of a chain; nil: no rule
}

func (f *flow) chunks() int { return (f.bytes + f.chunk - 1) / f.chunk }

// part is the j-th chunk, without a buffer.
func (f *flow) part(j int) Span {
	return Span{Offset: f.from + j*f.chunk, Bytes: min(f.chunk, f.bytes-j*f.chunk)}
}

// pipeline adds the stages in which flows move down their trees, or up: the reverse, except that the first
// chunk still goes first. While all ranks are busy, periods of stages recur and are stored once. The
// stages that fill and empty a chain are stored one by one.
func (s *Schedule) pipeline(phase string, up bool, flows ...flow) {
	flows = slices.DeleteFunc(flows, func(f flow) bool { return f.bytes == 0 || len(f.delays) == 0 })
	if len(flows) == 0 {
		return
	}
	fan := max(1, lists.Most(flows, func(f flow) int { return f.fan }))
	p := pipe{phase, flows, fan, up}
	stages, turns := p.turns()
	first := len(s.Blocks)
	for n := 1; n <= stages; {
		for len(turns) > 0 && turns[0] <= n {
			turns = turns[1:]
		}
		// Up to the next turn, successive periods change in the same way.
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
		s.backwards(first)
	}
}

// A pipe is a set of flows with the same fan-out, down or up.
type pipe struct {
	phase string
	flows []flow
	fan   int
	up    bool
}

// turns are the stages, counted from 1 and rising, at which the sequence of a flow's stages changes.
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

// stage is the n-th stage; it occurs `repeat` times, `recur` stages apart.
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
		// A rank receives the next chunk while it sends to the last of its `fan` children.
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

// shape counts the messages of the n-th stage downward.
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
		from := max(0, (n-(d.first+d.length-1)+fan-1)/fan) // chunks in flight to these ranks
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

// steady reports whether the period from stage n on has the same shapes as the next one.
func (f *flow) steady(n, fan int, up bool) bool {
	for i := range fan {
		if f.shape(n+i, fan, up) != f.shape(n+i+fan, fan, up) {
			return false
		}
	}
	return true
}

// messages are the messages of the n-th stage downward.
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

// tally merges batches of equal size, sorts them by falling size, and drops empty messages.
func tally(batches ...Batch) []Batch { return merged(shape(batches...)) }

// merged is tally with empty messages.
func merged(batches []Batch) (all []Batch) {
	slices.SortFunc(batches, func(a, b Batch) int { return b.Bytes - a.Bytes })
	for _, b := range batches {
		if n := len(all); n > 0 && all[n-1].Bytes == b.Bytes {
			all[n-1].Count += b.Count
			continue
		}
		all = append(all, b)
	}
	return all
}
