package collective

import (
	"iter"
	"slices"
)

// Allreduce has a vector of every rank: MPI_Allreduce.
var Allreduce = &Collective{
	Name: "allreduce", About: "all ranks get the ranks' vectors combined", M: "the vector",
	Reduces: true,
	Brings:  sendsOne,
	Promise: func(c Call, _ int) []Part { return []Part{{Ranks: c.P, Bytes: c.M, Reduced: true}} },
	Default: "recursive-doubling", Benchmarks: measured("Allreduce"),
}

func init() {
	// A binomial reduce to rank 0, then a binomial broadcast. 2⌈log2 P⌉ stages.
	register(Allreduce, "reduce-bcast", "Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		reduceBinomial(s)
		bcastBinomial(s)
	})
	register(Allreduce, "ring", "Patarasuk and Yuan 2009", allreduceRing)
	register(Allreduce, "recursive-doubling", "Thakur, Rabenseifner and Gropp 2005, short messages", func(s *Schedule) {
		allreduceExchange(s, exchangerOf(s.Call, 2), "recursive doubling")
	}).Paired = true
	register(Allreduce, "rabenseifner", "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005, long messages", func(s *Schedule) { allreduceHalving(s, foldOf(s.Call)) })
	register(Allreduce, "rabenseifner-halves", "Open MPI's coll_base_allreduce.c", func(s *Schedule) { allreduceHalving(s, halvesOf(s.Call)) })
	register(Allreduce, "linear", "Open MPI's coll_base_allreduce.c", func(s *Schedule) {
		reduceLinear(s)
		sendToAll(s, s.Call.M)
	})
	register(Allreduce, "segmented-ring", "Open MPI's coll_base_allreduce.c", allreduceSegmentedRing).Chunked = true
	register(Allreduce, "recexch", "MPICH's allreduce_intra_recexch.c", func(s *Schedule) {
		allreduceExchange(s, exchangerOf(s.Call, s.Call.Degree), "recursive exchange")
	}).Branched = true
	kary := register(Allreduce, "kary", "MPICH's allreduce_intra_tree.c", allreduceTree)
	kary.Chunked, kary.Branched = true, true
}

// allreduceTree: chunk after chunk is reduced up a k-ary tree to rank 0, and its result is broadcast down the
// same tree before the next chunk starts: 2h stages a chunk for a tree of height h.
func allreduceTree(s *Schedule) {
	c := s.Call
	ownVector(s)
	t := kary(c.P, c.Degree, true)
	chunk := min(c.M, max(1, c.Chunk/c.Element)*c.Element)
	if chunk == 0 {
		return
	}
	whole := c.M / chunk
	s.upAndDown(t, 0, chunk, whole)
	s.upAndDown(t, whole*chunk, c.M%chunk, 1)
}

// upAndDown reduces chunks of equal size along a tree, one after another, and broadcasts each result.
func (s *Schedule) upAndDown(t tree, from, bytes, chunks int) {
	down := s.down(t)
	down.from, down.bytes, down.chunk = from, bytes, bytes
	up := down
	up.message = func(rank, parent int, part Span) Message { return down.message(parent, rank, part) }
	before := len(s.Blocks)
	s.pipeline("tree", true, up)
	s.pipeline("tree", false, down)
	s.takeTurns(before)
	for _, block := range s.Blocks[before:] {
		for i := range block.Stages {
			block.Stages[i].Same = true
			block.Stages[i].change(func(repetition int, m *Message) {
				m.Src.Offset += repetition * bytes
				m.Dst.Offset += repetition * bytes
			})
		}
	}
	if len(s.Blocks) > before {
		s.Blocks[before].Repeat = chunks
	}
}

// allreduceSegmentedRing is the ring with a segmented reduce-scatter: in each phase of P−1 stages a chunk
// of every block circulates and is reduced, so that messages are no longer than a chunk. The allgather
// of the results has whole blocks.
func allreduceSegmentedRing(s *Schedule) {
	c := s.Call
	b := ceilBlocks(c.M, c.P, c.Element)
	s.Unit = b.unit
	ownVector(s)
	chunk := max(1, c.Chunk/c.Element) * c.Element
	part := func(phase, block int) Span {
		whole := b.span(Recv, block, block+1)
		skip := min(phase*chunk, whole.Bytes)
		return Span{Recv, whole.Offset + skip, min(chunk, whole.Bytes-skip)}
	}
	shapeOf := func(phase int) []Batch {
		full := b.total / max(1, b.unit)
		return tally(Batch{full, part(phase, 0).Bytes}, Batch{1, part(phase, min(full, c.P)).Bytes})
	}
	phases := (b.unit + chunk - 1) / chunk
	for first := 0; first < phases; {
		shape, equal := shapeOf(first), 1
		for first+equal < phases && slices.Equal(shapeOf(first+equal), shape) {
			equal++
		}
		from := first
		round := Stage{Phase: "reduce-scatter", Pattern: Exchange, Reduce: true, Shape: shape}
		if round.Same = round.Count() == c.P; round.Same {
			round.Peers = c.shiftedBy(1, 0)
		}
		s.add(equal*(c.P-1), c.P, round, func(repetition, rank int) Message {
			t := repetition % (c.P - 1)
			return inPlace(rank, (rank+1)%c.P, part(from+repetition/(c.P-1), (rank-t-1+2*c.P)%c.P))
		})
		first += equal
	}
	ring(s, "allgather", Recv, b, 0, false)
}

// allreduceExchange: the groups of an exchanger exchange and reduce their vectors; with radix 2 these are
// partners at distance 1, 2, 4 …, log2 P stages. With a larger radix a rank sends its vector of the
// round's beginning to several members, and keeps a copy of it.
func allreduceExchange(s *Schedule, x exchanger, phase string) {
	c := s.Call
	ownVector(s)
	sum := Span{Recv, 0, c.M}
	x.outsiders(s, Stage{Phase: "fold in", Reduce: true}, func(core, out int) Message { return inPlace(out, core, sum) })
	sent := sum
	if x.radix > 2 && x.core > 1 {
		sent.Buffer = Temp
		s.temp = func(int) int { return c.M }
	}
	x.rounds(func(n, offset int) {
		if offset == 1 && sent != sum {
			s.local("keep", x.core, x.rank, nil, func(int) (src, dst Span) { return sum, sent })
		}
		s.add(1, x.core, Stage{Phase: phase, Pattern: Exchange, Reduce: true}, func(_, i int) Message {
			return Message{From: x.rank(i), To: x.rank(x.partner(i, n, offset)), Src: sent, Dst: sum}
		})
	})
	x.outsiders(s, Stage{Phase: "fold out"}, func(core, out int) Message { return inPlace(core, out, sum) })
}

// allreduceRing: blocks of ⌈M/P⌉ bytes circulate and are reduced in P−1 stages; then the results circulate
// in P−1 more.
func allreduceRing(s *Schedule) {
	b := ceilBlocks(s.Call.M, s.Call.P, s.Call.Element)
	s.Unit = b.unit
	ownVector(s)
	ring(s, "reduce-scatter", Recv, b, 1, true)
	ring(s, "allgather", Recv, b, 0, false)
}

// allreduceHalving is Rabenseifner's algorithm: a reduce-scatter by recursive halving, in which partners at
// distance 1, 2, 4 … send each other the half that the receiver keeps, then the reverse allgather by
// recursive doubling. 2·log2 P stages. If P is no power of two, the ranks outside the core fold in first
// and get the result last, see fold. Blocks have ⌈M/2^⌊log2 P⌋⌉ bytes, the last ones fewer or none; in
// the libraries blocks differ by at most one element.
func allreduceHalving(s *Schedule, f fold) {
	c := s.Call
	ownVector(s)
	sum := Span{Recv, 0, c.M}
	f.in(s, sum, func(int) Span { return sum })
	b := f.reduceScatter(s, false, func(_ int, part Span) Span { return part })
	for distance := f.core / 2; distance >= 1; distance /= 2 {
		stage := Stage{Phase: "allgather", Pattern: Exchange, Shape: b.groups(f.core / distance / 2), numbers: b.halvings(f.core, f.core, distance, distance, 0)}
		s.add(1, f.core, stage, func(_, i int) Message {
			from := i ^ distance
			return inPlace(f.rank(from), f.rank(i), f.owned(b, from, distance))
		})
	}
	f.out(s, func(int) (src, dst Span) { return sum, sum })
}

// halvings are the numbers below n, rising, of the non-empty messages of a halving stage: each sends the
// range, from block first on, of the member whose number differs in the bit flip, 0 for none. It is nil
// if no message is empty.
func (b blocks) halvings(n, core, distance, flip, first int) iter.Seq[int] {
	if b.total > (core-1)*b.unit {
		return nil
	}
	blocks := (b.total + max(1, b.unit) - 1) / max(1, b.unit)
	var below func(bit, number, first int, yield func(int) bool) bool
	below = func(bit, number, first int, yield func(int) bool) bool {
		if first >= blocks {
			return true
		}
		if bit == 0 {
			return yield(number)
		}
		for _, set := range [...]int{0, bit} {
			begin := first
			if bit <= distance && (set^bit&flip) != 0 {
				begin += core / 2 / bit
			}
			if !below(bit/2, number|set, begin, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(int) bool) { below(n/2, 0, first, yield) }
}

// ownVector has every rank copy its vector to Recv.
func ownVector(s *Schedule) {
	c := s.Call
	s.local("own vector", c.P, everyRank, nil, func(int) (src, dst Span) { return Span{Send, 0, c.M}, Span{Recv, 0, c.M} })
}

// fold reduces P ranks to a core of 2^⌊log2 P⌋: of the first 2(P−core) ranks every second one folds in,
// giving its vector to its neighbour, and gets the result from it at the end. The odd ranks reduce and join
// the core, except in MPICH's reduce (even) and in Open MPI's Rabenseifner (shared): there both exchange
// halves, each reduces one, and the even ranks get the other.
type fold struct {
	exchanger
	even   bool // even ranks join the core
	shared bool
}

func foldOf(c Call) fold     { return fold{exchangerOf(c, 2), false, false} }
func evenFoldOf(c Call) fold { return fold{exchangerOf(c, 2), true, false} }
func halvesOf(c Call) fold   { return fold{exchangerOf(c, 2), true, true} }

// in reduces the vectors of pairs at the rank that joins the core.
func (f fold) in(s *Schedule, src Span, dst func(rank int) Span) {
	if f.shared {
		f.halves(s, func(rank int) Buffer { return dst(rank).Buffer })
		return
	}
	s.add(1, f.beyond, Stage{Phase: "fold in", Reduce: true}, func(_, i int) Message {
		return Message{From: f.outside(i), To: f.rank(i), Src: src, Dst: dst(f.rank(i))}
	})
}

// halves is in for shared work: the even rank of a pair reduces the lower half, the odd one the upper. The
// vector's buffer may differ from rank to rank.
func (f fold) halves(s *Schedule, buffer func(rank int) Buffer) {
	c := s.Call
	lower := c.M / c.Element / 2 * c.Element
	half := func(rank, upper int) Span {
		if upper == 1 {
			return Span{buffer(rank), lower, c.M - lower}
		}
		return Span{buffer(rank), 0, lower}
	}
	exchange := Stage{Phase: "fold in", Pattern: Exchange, Reduce: true, Shape: tally(Batch{f.beyond, c.M - lower}, Batch{f.beyond, lower})}
	s.add(1, 2*f.beyond, exchange, func(_, from int) Message {
		to := from ^ 1
		return Message{From: from, To: to, Src: half(from, to%2), Dst: half(to, to%2)}
	})
	s.add(1, f.beyond, Stage{Phase: "fold in"}, func(_, i int) Message {
		return Message{From: f.outside(i), To: f.rank(i), Src: half(f.outside(i), 1), Dst: half(f.rank(i), 1)}
	})
}

// out sends the result to the rank of each pair that folded in.
func (f fold) out(s *Schedule, result func(i int) (src, dst Span)) {
	s.add(1, f.beyond, Stage{Phase: "fold out"}, func(_, i int) Message {
		src, dst := result(i)
		return Message{From: f.rank(i), To: f.outside(i), Src: src, Dst: dst}
	})
}

// reduceScatter is a reduce-scatter of blocks by recursive halving: partners at distance 1, 2, 4 … send each
// other the half that the receiver keeps. Messages are in the order of their senders or of their receivers;
// at is the place of a part in a rank's buffer.
func (f fold) reduceScatter(s *Schedule, bySender bool, at func(rank int, part Span) Span) blocks {
	c := s.Call
	b := ceilBlocks(c.M, f.core, c.Element)
	s.Unit = b.unit
	for distance := 1; distance < f.core; distance *= 2 {
		flip := 0
		if bySender {
			flip = distance
		}
		stage := Stage{Phase: "reduce-scatter", Pattern: Exchange, Reduce: true, Shape: b.groups(f.core / distance / 2), numbers: b.halvings(f.core, f.core, distance, flip, 0)}
		s.add(1, f.core, stage, func(_, i int) Message {
			to := i ^ flip
			from, part := f.rank(to^distance), f.owned(b, to, distance)
			return Message{From: from, To: f.rank(to), Src: at(from, part), Dst: at(f.rank(to), part)}
		})
	}
	return b
}

// owned is the range of the core's i-th member after the exchange with its partner at a distance: each bit of
// i up to the distance selects a half, a set one the upper.
func (f fold) owned(b blocks, i, distance int) Span {
	first := 0
	for bit, upper := 1, f.core/2; bit <= distance; bit, upper = bit*2, upper/2 {
		if i&bit != 0 {
			first += upper
		}
	}
	return b.span(Recv, first, first+f.core/distance/2)
}

// rank is the rank of the i-th member of the core.
func (f fold) rank(i int) int {
	if f.even && i < f.beyond {
		return 2 * i
	}
	return f.exchanger.rank(i)
}

// outside is the rank of the i-th pair that folds in.
func (f fold) outside(i int) int { return f.rank(i) ^ 1 }
