package collective

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/taulop/taulop/internal/lists"
)

func init() {
	for _, a := range []*Algorithm{
		register(Bcast, "circulant", "Träff 2025, ACM 10.1145/3735139; MPICH's bcast_intra_circ_graph.c", func(s *Schedule) {
			s.circulate(s.Call.Chunk, false)
		}),
		register(Reduce, "circulant", "Träff 2025, ACM 10.1145/3735139; MPICH's reduce_intra_circ_graph.c", reduceCirculant),
		register(Allgather, "circulant", "Träff 2025, ACM 10.1145/3735139; MPICH's allgather_intra_circ_graph.c", allgatherCirculant),
	} {
		a.Chunked, a.Among = true, Thousands
	}
}

// A circulant is the communication graph of q = ⌈log2 P⌉ rounds: in round k rank r sends to r+skip[k] and
// receives from r−skip[k]. Its schedule gives the blocks received, relative to the current block of the
// q rounds: one new block, which no rank to its left had, else one of the q before.
type circulant struct {
	p     int
	skip  []int    // skip[q] is P
	block [][]int8 // by rank relative to the root, and round: −q … q−1
}

func circulantOf(p int) *circulant {
	q := bits.Len(uint(p - 1))
	g := &circulant{p: p, skip: make([]int, q+1)}
	g.skip[q] = p
	for k := q - 1; k >= 0; k-- {
		g.skip[k] = (g.skip[k+1] + 1) / 2
	}
	g.block = lists.Map(lists.Indices(p), g.receives)
	return g
}

// base is the new block of a rank, the index of the last skip on its way from the root; q for the root.
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

// receives are the blocks that a rank receives by round: in round k the largest one not taken yet that is
// the new block of a rank skip[k] … skip[k+1] to its left.
func (g *circulant) receives(r int) []int8 {
	q, base := len(g.skip)-1, g.base(r)
	w := walk{circulant: g, to: g.p + r, taken: make([]bool, q+1), blocks: make([]int8, 0, q)}
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

// A walk visits sums of falling skips. Each sum is a rank, and the last skip gives its new block.
type walk struct {
	*circulant
	to     int // the rank that receives, P to the right
	taken  []bool
	blocks []int8
}

// from adds skips from e down to a sum, and takes blocks of ranks below the last one taken.
func (w *walk) from(sum, last, e int) {
	q := len(w.skip) - 1
	for ; e >= 0 && len(w.blocks) < q; e-- {
		next := sum + w.skip[e]
		if w.taken[e] || next >= last || next > w.to-w.skip[len(w.blocks)] {
			continue
		}
		if next <= w.to-w.skip[len(w.blocks)+1] {
			w.from(next, last, e)
		}
		if len(w.blocks) == q || sum > w.to-w.skip[len(w.blocks)+1] {
			return
		}
		last, w.taken[e] = next, true
		w.blocks = append(w.blocks, int8(e))
	}
}

// rounds are the first round of n blocks and the one after the last, counted from a round in which the root
// sends the block of round 0. They are n−1+q, the minimum.
func (g *circulant) rounds(n int) (first, end int) {
	q := len(g.skip) - 1
	first = (q - (n-1)%q) % q
	return first, first + n - 1 + q
}

// circulate broadcasts a message in chunks: the first ones spread as in a binomial tree, then in each round
// every rank but the root receives a new chunk. Up is the reverse, a reduction.
func (s *Schedule) circulate(chunk int, up bool) {
	c := s.Call
	if c.P < 2 || c.M == 0 {
		return
	}
	g := circulantOf(c.P)
	q, n := len(g.skip)-1, (c.M+chunk-1)/chunk
	skipped, end := g.rounds(n)
	phases, before := end/q, len(s.Blocks)
	for phase := 0; phase < phases; phase++ {
		repeat := 1
		if phase > 1 { // every rank receives in every round
			repeat = max(1, phases-1-phase)
		}
		b := Block{Repeat: repeat}
		first := len(s.Blocks)
		for k := range q {
			if phase > 0 || k >= skipped {
				s.addRound(g, round{k, phase*q - skipped, n, chunk, repeat, up})
			}
		}
		for _, round := range s.Blocks[first:] {
			b.Stages = append(b.Stages, round.Stages...)
		}
		s.Blocks = append(s.Blocks[:first], b)
		phase += repeat - 1
	}
	if up {
		s.backwards(before)
	}
}

// A round is the k-th of the q rounds for the current block, of n. It is repeated, each time for the block q
// later.
type round struct {
	k, current, n, chunk, repeat int
	up                           bool
}

// received is the chunk that a rank receives, relative to the root; empty before block 0.
func (r *round) received(g *circulant, m, to, repetition int) Span {
	block := r.current + repetition*(len(g.skip)-1) + int(g.block[to][r.k])
	if to == 0 || block < 0 {
		return Span{Buffer: Recv}
	}
	offset := min(block, r.n-1) * r.chunk
	return Span{Recv, offset, min(r.chunk, m-offset)}
}

func (s *Schedule) addRound(g *circulant, r round) {
	c, skip := s.Call, g.skip[r.k]
	st := Stage{Phase: "circulant", Pattern: OneWay, Reduce: r.up}
	chunk, last := min(r.chunk, c.M), c.M-(r.n-1)*r.chunk
	whole, short := Batch{0, chunk}, Batch{0, last}
	for to := 1; to < c.P; to++ {
		switch r.received(g, c.M, to, 0).Bytes {
		case 0:
			continue
		case chunk:
			whole.Count++
		case last:
			short.Count++
		}
		if r.received(g, c.M, (to-skip+c.P)%c.P, 0).Bytes > 0 {
			st.Pattern = Exchange
		}
	}
	st.Shape = slices.DeleteFunc([]Batch{whole, short}, func(b Batch) bool { return b.Count == 0 })
	if whole.Count+short.Count == c.P-1 {
		peers := Peers{First: c.rank(1 - skip + c.P), Ranks: c.P - 1, Distance: skip}
		if r.up {
			peers.First, peers.Distance = c.rank(1), c.P-skip
		}
		st.Same, st.Peers = true, func(int) Peers { return peers }
	}
	s.add(r.repeat, c.P-1, st, func(repetition, i int) Message {
		from, to := (i+1-skip+c.P)%c.P, i+1
		if r.up {
			from, to, repetition = to, from, r.repeat-1-repetition
		}
		part := r.received(g, c.M, i+1, repetition)
		m := Message{From: c.rank(from), To: c.rank(to), Src: part, Dst: part}
		if r.up && from > 0 {
			m.Src.Buffer = Temp
		}
		if r.up && to > 0 {
			m.Dst.Buffer = Temp
		}
		return m
	})
}

// reduceCirculant is the reverse broadcast: a rank reduces all that it receives of a chunk, and sends the
// result in the round in which the broadcast would bring it that chunk.
func reduceCirculant(s *Schedule) {
	c := s.Call
	s.temp = func(rank int) int {
		if rank == c.Root {
			return 0
		}
		return c.M
	}
	s.local("own vector", c.P, everyRank, nil, func(rank int) (src, dst Span) {
		if rank == c.Root {
			return Span{Send, 0, c.M}, Span{Recv, 0, c.M}
		}
		return Span{Send, 0, c.M}, Span{Temp, 0, c.M}
	})
	s.circulate((c.Chunk+c.Element-1)/c.Element*c.Element, true)
}

// allgatherCirculant is a concurrent broadcast of all ranks' blocks. In a round each rank sends the chunks of
// all broadcasts one after another to the same neighbour: n(P−1) stages of P messages for n chunks.
func allgatherCirculant(s *Schedule) {
	c := s.Call
	ownBlock(s)
	if c.P < 2 || c.M == 0 {
		return
	}
	g := circulantOf(c.P)
	q, n := len(g.skip)-1, (c.M+c.Chunk-1)/c.Chunk
	order := make([][]int32, q) // receivers of a round, relative to the root, by the block they receive
	for k := range order {
		order[k] = make([]int32, c.P-1)
		for i := range order[k] {
			order[k][i] = int32(i + 1)
		}
		slices.SortStableFunc(order[k], func(a, b int32) int { return int(g.block[a][k]) - int(g.block[b][k]) })
	}
	first, end := g.rounds(n)
	for i := first; i < end; i++ {
		r := round{k: i % q, current: i/q*q - first, n: n, chunk: c.Chunk}
		from := func(block int) int { // the first receiver of this block or a later one
			return sort.Search(c.P-1, func(i int) bool { return r.current+int(g.block[order[r.k][i]][r.k]) >= block })
		}
		begin, last := from(0), from(n-1) // the last chunk may be short
		for _, receivers := range [][]int32{order[r.k][begin:last], order[r.k][last:]} {
			if len(receivers) == 0 {
				continue
			}
			s.shift(len(receivers), "circulant", g.skip[r.k], func(repetition, rank int) (src, dst Span) {
				part := r.received(g, c.M, int(receivers[repetition]), 0)
				part.Offset += (rank + g.skip[r.k] - int(receivers[repetition]) + c.P) % c.P * c.M
				return part, part
			})
		}
	}
}
