package collective

// Reduce has a vector of every rank: MPI_Reduce.
var Reduce = &Collective{
	Name: "reduce", About: "the root gets the ranks' vectors combined", M: "the vector",
	Rooted: true, Reduces: true,
	Brings:  sendsOne,
	Promise: rootGets(true),
	Default: "binomial", Benchmarks: measured("Reduce"),
}

func init() {
	register(Reduce, "binomial", "Thakur, Rabenseifner and Gropp 2005, short messages", reduceBinomial)
	register(Reduce, "rabenseifner", "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005, long messages", func(s *Schedule) { reduceHalving(s, evenFoldOf(s.Call)) })
	register(Reduce, "rabenseifner-halves", "Open MPI's coll_base_reduce.c", func(s *Schedule) { reduceHalving(s, halvesOf(s.Call)) })
	register(Reduce, "linear", "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree", reduceLinear)
}

// reduceLinear: the root receives and reduces one vector after another. P−1 stages of one message and one
// reduction.
func reduceLinear(s *Schedule) {
	c := s.Call
	given, sum := Span{Send, 0, c.M}, Span{Recv, 0, c.M}
	s.local("own vector", 1, c.atRoot, shape(Batch{min(1, c.P-1), c.M}), func(int) (src, dst Span) { return given, sum })
	s.add(c.P-1, 1, Stage{Phase: "linear", Reduce: true}, func(repetition, _ int) Message {
		return Message{From: c.rank(repetition + 1), To: c.Root, Src: given, Dst: sum}
	})
}

// reduceBinomial is MPICH's tree: with n = 1 … P/2, every 2n-th rank from the root on receives and reduces
// the vector of its n-th neighbour. ⌈log2 P⌉ stages with a reduction each. Inner ranks reduce in Temp, the
// root in Recv.
func reduceBinomial(s *Schedule) {
	c := s.Call
	v := treeBuffers{c}
	given := Span{Send, 0, c.M}
	sum := func(relative int) Span {
		switch {
		case relative == 0:
			return Span{Recv, 0, c.M}
		case v.inner(relative):
			return Span{Temp, 0, c.M}
		}
		return given
	}
	s.temp = func(rank int) int {
		if sum((rank-c.Root+c.P)%c.P).Buffer == Temp {
			return c.M
		}
		return 0
	}
	own := Stage{Phase: "own vector", Pattern: Local, Beside: shape(Batch{subtreesOf(c.P, 1), c.M})}
	s.add(1, v.inners(), own, func(_, i int) Message {
		rank := c.rank(2 * i)
		return Message{From: rank, To: rank, Src: given, Dst: sum(2 * i)}
	})
	for n := 1; n < c.P; n *= 2 {
		s.add(1, subtreesOf(c.P, n), Stage{Phase: "reduce", Reduce: true}, func(_, t int) Message {
			from := (2*t + 1) * n
			return Message{From: c.rank(from), To: c.rank(from - n), Src: sum(from), Dst: sum(from - n)}
		})
	}
}

// reduceHalving is Rabenseifner's algorithm: a reduce-scatter as in allreduce:rabenseifner, then the reverse
// binomial gather: at distance P/2 … 1 the ranks whose number differs from the root's in that bit send
// their 1, 2 … P/2 blocks. 2·log2 P stages. If P is no power of two, the ranks outside the core fold in
// first, see fold; a root outside the core takes the place of rank 0 after the reduce-scatter, and gets its
// block. Ranks reduce in Temp, the root in Recv.
func reduceHalving(s *Schedule, f fold) {
	c := s.Call
	if c.P == 1 {
		reduceLinear(s)
		return
	}
	folded := func(rank int) bool { return rank < 2*f.beyond && rank == f.outside(rank/2) }
	h := halving{fold: f, standIn: folded(c.Root), root: c.Root - f.beyond, sumOf: func(rank int, part Span) Span {
		if part.Buffer = Temp; rank == c.Root {
			part.Buffer = Recv
		}
		return part
	}}
	if h.standIn {
		h.root = 0
	} else if c.Root < 2*f.beyond {
		h.root = c.Root / 2
	}
	s.temp = func(rank int) int {
		if rank == c.Root || !f.shared && folded(rank) {
			return 0
		}
		return c.M
	}
	h.run(s)
}

// A halving is a call of reduceHalving.
type halving struct {
	fold
	sumOf   func(rank int, part Span) Span // the part in a rank's buffer for reductions
	root    int                            // number of the root, or of its stand-in, in the core
	standIn bool                           // rank 0 stands in for a root outside the core
}

func (f halving) run(s *Schedule) {
	c, whole := s.Call, Span{Bytes: s.Call.M}
	own := func(n int, rank func(i int) int) {
		s.local("own vector", n, rank, nil, func(rank int) (src, dst Span) { return Span{Send, 0, c.M}, f.sumOf(rank, whole) })
	}
	if f.shared {
		own(c.P, everyRank)
		f.halves(s, func(rank int) Buffer { return f.sumOf(rank, whole).Buffer })
	} else {
		own(f.core, f.rank)
		s.add(1, f.beyond, Stage{Phase: "fold in", Reduce: true}, func(_, i int) Message {
			return Message{From: f.outside(i), To: f.rank(i), Src: Span{Send, 0, c.M}, Dst: f.sumOf(f.rank(i), whole)}
		})
	}
	rank := f.rank
	b := ceilBlocks(c.M, f.core, c.Element)
	s.Unit = b.unit
	owned := func(i, distance int) Span {
		first := f.owned(i, distance)
		return b.span(Temp, first, first+f.core/distance/2)
	}
	for distance := 1; distance < f.core; distance *= 2 {
		stage := Stage{Phase: "reduce-scatter", Pattern: Exchange, Reduce: true, Shape: b.groups(f.core / distance / 2), numbers: b.halvings(f.core, f.core, distance, distance, 0)}
		s.add(1, f.core, stage, func(_, i int) Message {
			to := i ^ distance
			part := owned(to, distance)
			return Message{From: rank(i), To: rank(to), Src: f.sumOf(rank(i), part), Dst: f.sumOf(rank(to), part)}
		})
	}
	member := rank // of the gather
	if f.standIn {
		s.add(1, 1, Stage{Phase: "to the root"}, func(int, int) Message {
			part := owned(0, f.core/2)
			return Message{From: 0, To: c.Root, Src: f.sumOf(0, part), Dst: f.sumOf(c.Root, part)}
		})
		member = func(i int) int {
			if i == 0 {
				return c.Root
			}
			return f.rank(i)
		}
	}
	for distance := f.core / 2; distance >= 1; distance /= 2 {
		size := f.core / distance / 2
		shape, first := b.subtrees(size), size // upper halves
		if f.root&distance != 0 {
			shape, first = b.lower(size), 0
		}
		s.add(1, distance, Stage{Phase: "gather", Shape: shape, numbers: b.halvings(distance, f.core, distance, 0, first)}, func(_, low int) Message {
			// The higher bits are the root's, except the sender's bit of the distance.
			to := f.root&^(distance-1) | low
			from := to ^ distance
			part := owned(from, distance)
			return Message{From: member(from), To: member(to), Src: f.sumOf(member(from), part), Dst: f.sumOf(member(to), part)}
		})
	}
}
