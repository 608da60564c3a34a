package collective

import (
	"math/bits"
	"slices"
)

func init() {
	a := register(Bcast, "circulant", "Träff 2025, ACM 10.1145/3735139; MPICH's bcast_intra_circ_graph.c", bcastCirculant)
	a.Chunked, a.Among = true, Thousands
}

// A circulant is a graph in which in round k of q = ⌈log2 P⌉ rank r sends to r+skip[k] and receives from
// r−skip[k], and what it receives there, relative to the block that rounds are about: in each q rounds one
// that none of the ranks to its left had, else one of the q before it.
type circulant struct {
	p     int
	skip  []int    // skip[q] is P
	block [][]int8 // by rank from the root on and round, −q … q−1
}

func circulantOf(p int) *circulant {
	q := bits.Len(uint(p - 1))
	g := &circulant{p: p, skip: make([]int, q+1), block: make([][]int8, p)}
	g.skip[q] = p
	for k := q - 1; k >= 0; k-- {
		g.skip[k] = (g.skip[k+1] + 1) / 2
	}
	for r := range p {
		g.block[r] = g.receives(r)
	}
	return g
}

// base is the new block of a rank, by which of the skips it is reached; q of the root.
func (g *circulant) base(r int) int {
	for k := len(g.skip) - 2; k >= 0 && r > 0; k-- {
		if r >= g.skip[k] {
			if r -= g.skip[k]; r == 0 {
				return k
			}
		}
	}
	return len(g.skip) - 1
}

// receives is what a rank receives by round: the largest block, of those not taken yet, that is the new
// one of a rank within skip[k] … skip[k+1] to the left.
func (g *circulant) receives(r int) []int8 {
	q, base := len(g.skip)-1, g.base(r)
	w := walk{circulant: g, to: g.p + r, taken: make([]bool, q+1)}
	w.taken[base] = true
	w.from(0, 2*g.p, q)
	for k, e := range w.blocks {
		w.blocks[k] = e - int8(q)
		if int(e) == q { // of the root
			w.blocks[k] = int8(base)
		}
	}
	return w.blocks
}

// A walk is over sums of falling skips. Each is a rank, whose new block is the last skip's.
type walk struct {
	*circulant
	to     int // the rank that receives, P to the right
	taken  []bool
	blocks []int8
}

// from adds skips from e down to a sum, and takes blocks of ranks below the last one that was taken.
func (w *walk) from(sum, last, e int) {
	q := len(w.skip) - 1
	for ; e >= 0 && len(w.blocks) < q; e-- {
		at := sum + w.skip[e]
		if w.taken[e] || at >= last || at > w.to-w.skip[len(w.blocks)] {
			continue
		}
		if at <= w.to-w.skip[len(w.blocks)+1] {
			w.from(at, last, e)
		}
		if len(w.blocks) == q || sum > w.to-w.skip[len(w.blocks)+1] {
			return
		}
		last, w.taken[e] = at, true
		w.blocks = append(w.blocks, int8(e))
	}
}

// bcastCirculant sends n chunks in n−1+q rounds, the fewest that there can be: in each every rank but the
// root receives a chunk that it has not, once the first have spread as in a binomial tree.
func bcastCirculant(s *Schedule) {
	c := s.Call
	if c.P < 2 || c.M == 0 {
		return
	}
	g := circulantOf(c.P)
	q, n := len(g.skip)-1, (c.M+c.Chunk-1)/c.Chunk
	skipped := (q - (n-1)%q) % q // rounds of the first q
	phases := (n - 1 + skipped + q) / q
	for phase := 0; phase < phases; phase++ {
		repeat := 1
		if phase > 1 { // every rank receives in every round
			repeat = max(1, phases-1-phase)
		}
		b := Block{Repeat: repeat}
		first := len(s.Blocks)
		for k := range q {
			if phase > 0 || k >= skipped {
				s.addRound(g, k, phase*q-skipped, n, repeat)
			}
		}
		for _, round := range s.Blocks[first:] {
			b.Stages = append(b.Stages, round.Stages...)
		}
		s.Blocks = append(s.Blocks[:first], b)
		phase += repeat - 1
	}
}

// addRound adds round k of one that is about a block of n, or of as many as are repeated, each of them
// q later.
func (s *Schedule) addRound(g *circulant, k, about, n, repeat int) {
	c, q := s.Call, len(g.skip)-1
	// received is what a rank receives, relative to the root; nothing where that would be before block 0.
	received := func(to, repetition int) Span {
		at := about + repetition*q + int(g.block[to][k])
		if to == 0 || at < 0 {
			return Span{Buffer: Recv}
		}
		at = min(at, n-1) * c.Chunk
		return Span{Recv, at, min(c.Chunk, c.M-at)}
	}
	st := Stage{Phase: "circulant", Pattern: OneWay}
	chunk, last := min(c.Chunk, c.M), c.M-(n-1)*c.Chunk
	whole, short := Batch{0, chunk}, Batch{0, last}
	for to := 1; to < c.P; to++ {
		switch received(to, 0).Bytes {
		case 0:
			continue
		case chunk:
			whole.Count++
		case last:
			short.Count++
		}
		if received((to-g.skip[k]+c.P)%c.P, 0).Bytes > 0 {
			st.Pattern = Exchange
		}
	}
	st.Shape = slices.DeleteFunc([]Batch{whole, short}, func(b Batch) bool { return b.Count == 0 })
	if whole.Count+short.Count == c.P-1 {
		st.Same, st.Peers = true, func(int) Peers {
			return Peers{First: c.rank(1 - g.skip[k] + c.P), Ranks: c.P - 1, Distance: g.skip[k]}
		}
	}
	s.add(repeat, c.P-1, st, func(repetition, i int) Message {
		part := received(i+1, repetition)
		return Message{From: c.rank((i + 1 - g.skip[k] + c.P) % c.P), To: c.rank(i + 1), Src: part, Dst: part}
	})
}
