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
	register(Allreduce, "reduce-bcast", "Thakur, Rabenseifner and Gropp 2005", allreduceReduceBcast)
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

// allreduceTree: a reduction up a k-ary tree to rank 0, then a broadcast down the same one.
func allreduceTree(s *Schedule) {
	t := kary(s.Call.P, s.Call.Degree, true)
	s.up("tree", t, 0, 1, nil)
	s.pipeline("tree", false, s.down(t))
}

// allreduceSegmentedRing is the ring with its first half cut into phases: in each, a chunk
// of every block goes round, P−1 stages, each rank adding its own. So no more than a chunk
// is on its way to a rank at once. Then the finished blocks go round whole.
func allreduceSegmentedRing(s *Schedule) {
	c := s.Call
	b := ceilBlocks(c.M, c.P, c.Element)
	s.Unit = b.unit
	ownVector(s)
	chunk := max(1, c.Chunk/c.Element) * c.Element
	part := func(phase, block int) Span {
		whole := b.span(Recv, block, block+1)
		at := min(phase*chunk, whole.Bytes)
		return Span{Recv, whole.Offset + at, min(chunk, whole.Bytes-at)}
	}
	shapeOf := func(phase int) []Batch {
		full := b.total / max(1, b.unit)
		return tally(Batch{full, part(phase, 0).Bytes}, Batch{1, part(phase, min(full, c.P)).Bytes})
	}
	phases := (b.unit + chunk - 1) / chunk
	for first := 0; first < phases; {
		shape, alike := shapeOf(first), 1
		for first+alike < phases && slices.Equal(shapeOf(first+alike), shape) {
			alike++
		}
		from := first
		round := Stage{Phase: "reduce-scatter", Pattern: Exchange, Reduce: true, Shape: shape}
		if round.Same = round.Count() == c.P; round.Same {
			round.Peers = c.shiftedBy(1, 0)
		}
		s.add(alike*(c.P-1), c.P, round, func(repetition, rank int) Message {
			t := repetition % (c.P - 1)
			span := part(from+repetition/(c.P-1), (rank-t-1+2*c.P)%c.P)
			return Message{From: rank, To: (rank + 1) % c.P, Src: span, Dst: span}
		})
		first += alike
	}
	ring(s, "allgather", Recv, b, 0, false)
}

// allreduceExchange: the groups of an exchanger exchange their vectors and add them up, with a radix
// of 2 partners at distance 1, 2, 4 …, log2 P stages. With a radix above 2 each of a group needs what a rank had before, so it keeps a copy.
func allreduceExchange(s *Schedule, x exchanger, phase string) {
	c := s.Call
	ownVector(s)
	sum := Span{Recv, 0, c.M}
	x.outsiders(s, Stage{Phase: "fold in", Reduce: true}, func(core, out int) Message { return Message{From: out, To: core, Src: sum, Dst: sum} })
	had := sum
	if x.radix > 2 && x.core > 1 {
		had.Buffer = Temp
		s.temp = func(int) int { return c.M }
	}
	x.rounds(func(n, away int) {
		if away == 1 && had != sum {
			s.local("keep", x.core, x.rank, nil, func(int) (src, dst Span) { return sum, had })
		}
		s.add(1, x.core, Stage{Phase: phase, Pattern: Exchange, Reduce: true}, func(_, i int) Message {
			return Message{From: x.rank(i), To: x.rank(x.partner(i, n, away)), Src: had, Dst: sum}
		})
	})
	x.outsiders(s, Stage{Phase: "fold out"}, func(core, out int) Message { return Message{From: core, To: out, Src: sum, Dst: sum} })
}

// allreduceReduceBcast: a binomial reduce to rank 0, then a binomial broadcast.
// 2⌈log2 P⌉ stages.
func allreduceReduceBcast(s *Schedule) {
	reduceBinomial(s)
	bcastBinomial(s)
}

// allreduceRing: blocks of ⌈M/P⌉ bytes go round, each rank adding its own
// contribution, for P−1 stages; then the finished blocks go round for P−1 more.
func allreduceRing(s *Schedule) {
	b := ceilBlocks(s.Call.M, s.Call.P, s.Call.Element)
	s.Unit = b.unit
	ownVector(s)
	ring(s, "reduce-scatter", Recv, b, 1, true)
	ring(s, "allgather", Recv, b, 0, false)
}

// allreduceHalving is Rabenseifner's: a reduce-scatter by recursive halving, in which partners
// at distance 1, 2, 4 … exchange the halves that the other one keeps, then an allgather by
// recursive doubling that goes the same way back. 2·log2 P stages. Where P is no power of two
// the ranks beyond fold in first and get the result last, see fold. Blocks have ⌈M/2^⌊log2 P⌋⌉
// bytes, the last ones fewer or none; the libraries' blocks differ from each other by at most
// one element.
func allreduceHalving(s *Schedule, f fold) {
	c := s.Call
	ownVector(s)
	sum := Span{Recv, 0, c.M}
	f.in(s, sum, sum)
	b := ceilBlocks(c.M, f.core, c.Element)
	s.Unit = b.unit

	// half is the stage in which partners at a distance own both halves of the
	// same range, and send the partner's if it is still to be reduced or their
	// own if it is done.
	half := func(phase string, distance int, done bool) {
		size := f.core / distance / 2
		flip := 0
		if done {
			flip = distance
		}
		stage := Stage{Phase: phase, Pattern: Exchange, Reduce: !done, Shape: b.groups(size), numbers: b.halvings(f.core, f.core, distance, flip, 0)}
		s.add(1, f.core, stage, func(_, i int) Message {
			sender := i ^ distance
			whose := i
			if done {
				whose = sender
			}
			first := f.owned(whose, distance)
			part := b.span(Recv, first, first+size)
			return Message{From: f.rank(sender), To: f.rank(i), Src: part, Dst: part}
		})
	}
	for distance := 1; distance < f.core; distance *= 2 {
		half("reduce-scatter", distance, false)
	}
	for distance := f.core / 2; distance >= 1; distance /= 2 {
		half("allgather", distance, true)
	}
	f.out(s, func(int) (src, dst Span) { return sum, sum })
}

// halvings are the numbers below n, rising, of the non-empty messages of a halving stage: the
// range that each sends, from block first on, belongs to the rank whose number differs in the
// bit flip, 0 for none. It is nil if none is empty.
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
			at := first
			if bit <= distance && (set^bit&flip) != 0 {
				at += core / 2 / bit
			}
			if !below(bit/2, number|set, at, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(int) bool) { below(n/2, 0, first, yield) }
}

// ownVector is how an allreduce in Recv begins: every rank puts its vector there.
func ownVector(s *Schedule) {
	c := s.Call
	s.local("own vector", c.P, everyRank, nil, func(int) (src, dst Span) { return Span{Send, 0, c.M}, Span{Recv, 0, c.M} })
}

// fold reduces P ranks to core = 2^⌊log2 P⌋ of them: of the first 2(P−core) ranks every second
// one gives its vector to its neighbour, stays out, and gets the result from it in the end.
// As MPICH does it, and Open MPI in recursive doubling, the odd ranks add up and go on.
// Where Open MPI shares the work, in Rabenseifner's, both exchange halves, each adds up one, and
// the even ranks get the other and go on.
type fold struct {
	exchanger
	shared bool
}

func foldOf(c Call) fold   { return fold{exchangerOf(c, 2), false} }
func halvesOf(c Call) fold { return fold{exchangerOf(c, 2), true} }

// in combines the vectors of pairs at the rank that goes on.
func (f fold) in(s *Schedule, src, dst Span) {
	if f.shared {
		f.halves(s, func(int) Buffer { return dst.Buffer })
		return
	}
	s.add(1, f.beyond, Stage{Phase: "fold in", Reduce: true}, func(_, i int) Message {
		return Message{From: f.outside(i), To: f.rank(i), Src: src, Dst: dst}
	})
}

// halves combines vectors that all ranks of pairs have in a buffer, which may differ from rank
// to rank: the even rank adds up the lower half, and the odd one the upper.
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

// out gives the rank of the i-th pair that stays out its result.
func (f fold) out(s *Schedule, result func(i int) (src, dst Span)) {
	s.add(1, f.beyond, Stage{Phase: "fold out"}, func(_, i int) Message {
		src, dst := result(i)
		return Message{From: f.rank(i), To: f.outside(i), Src: src, Dst: dst}
	})
}

// owned is the first block of the range that the i-th of the core has once partners up to a
// distance have shared: the bits of i below say which halves it took, a set one the upper.
func (f fold) owned(i, distance int) (first int) {
	for bit, upper := 1, f.core/2; bit <= distance; bit, upper = bit*2, upper/2 {
		if i&bit != 0 {
			first += upper
		}
	}
	return first
}

// rank is the rank of the i-th member of the core.
func (f fold) rank(i int) int {
	if f.shared && i < f.beyond {
		return 2 * i
	}
	return f.exchanger.rank(i)
}

// outside is the rank of the i-th pair that stays out.
func (f fold) outside(i int) int { return f.rank(i) ^ 1 }
