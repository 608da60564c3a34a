package collective

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
	register(Allreduce, "recursive-doubling", "Thakur, Rabenseifner and Gropp 2005, short messages", allreduceRecursiveDoubling).Paired = true
	register(Allreduce, "rabenseifner", "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005, long messages", allreduceRabenseifner)
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

// allreduceRecursiveDoubling: in stage i = 0 … log2 P−1 partners at distance 2^i
// exchange their vectors and add them up. Where P is no power of two, the ranks
// beyond fold in first and get the result last, see fold.
func allreduceRecursiveDoubling(s *Schedule) {
	c := s.Call
	ownVector(s)
	f, sum := foldOf(c), Span{Recv, 0, c.M}
	f.in(s, sum, sum)
	for n := 1; n < f.core; n *= 2 {
		s.add(1, f.core, Stage{Phase: "recursive doubling", Pattern: Exchange, Reduce: true}, func(_, i int) Message {
			return Message{From: f.rank(i), To: f.rank(i ^ n), Src: sum, Dst: sum}
		})
	}
	f.out(s, func(int) (src, dst Span) { return sum, sum })
}

// allreduceRabenseifner: a reduce-scatter by recursive halving, in which partners
// at distance 1, 2, 4 … exchange the halves that the other one keeps, then an
// allgather by recursive doubling that goes the same way back. 2·log2 P stages.
// Where P is no power of two, the ranks beyond fold in first and get the result
// last, see fold. Blocks are of ⌈M/2^⌊log2 P⌋⌉ bytes, the last ones shorter or
// empty; MPICH's differ from each other by at most one element.
func allreduceRabenseifner(s *Schedule) {
	c := s.Call
	ownVector(s)
	f, sum := foldOf(c), Span{Recv, 0, c.M}
	f.in(s, sum, sum)
	b := ceilBlocks(c.M, f.core, c.Element)
	s.Unit = b.unit

	// half is the stage in which partners at a distance own both halves of the
	// same range, and send the partner's if it is still to be reduced or their
	// own if it is done. The range of a rank is given by its bits below the
	// distance: a bit that is set took the upper half.
	half := func(phase string, distance int, done bool) {
		size := f.core / distance / 2
		s.add(1, f.core, Stage{Phase: phase, Pattern: Exchange, Reduce: !done, Shape: b.groups(size)}, func(_, i int) Message {
			sender := i ^ distance
			whose := i
			if done {
				whose = sender
			}
			first := 0
			for bit, upper := 1, f.core/2; bit <= distance; bit, upper = bit*2, upper/2 {
				if whose&bit != 0 {
					first += upper
				}
			}
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

// ownVector is how an allreduce in Recv begins: every rank puts its vector there.
func ownVector(s *Schedule) {
	c := s.Call
	s.add(1, c.P, Stage{Phase: "own vector", Pattern: Local}, func(_, rank int) Message {
		return Message{From: rank, To: rank, Src: Span{Send, 0, c.M}, Dst: Span{Recv, 0, c.M}}
	})
}

// fold reduces P ranks to core = 2^⌊log2 P⌋ of them, as MPICH does: of the first
// 2(P−core) ranks the even ones give their vectors to their odd neighbours, stay
// out, and get the result from them in the end.
type fold struct {
	core  int
	pairs int
}

func foldOf(c Call) fold {
	core := floorPowerOfTwo(c.P)
	return fold{core, c.P - core}
}

// in combines the vectors of pairs at the odd rank.
func (f fold) in(s *Schedule, src, dst Span) {
	s.add(1, f.pairs, Stage{Phase: "fold in", Reduce: true}, func(_, i int) Message {
		return Message{From: 2 * i, To: 2*i + 1, Src: src, Dst: dst}
	})
}

// out gives the even rank of the i-th pair its result.
func (f fold) out(s *Schedule, result func(i int) (src, dst Span)) {
	s.add(1, f.pairs, Stage{Phase: "fold out"}, func(_, i int) Message {
		src, dst := result(i)
		return Message{From: 2*i + 1, To: 2 * i, Src: src, Dst: dst}
	})
}

// rank is the rank of the i-th member of the core.
func (f fold) rank(i int) int {
	if i < f.pairs {
		return 2*i + 1
	}
	return i + f.pairs
}
