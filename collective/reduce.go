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
	s.temp = func(rank int) int {
		if rank == c.Root || !f.shared && folded(rank) {
			return 0
		}
		return c.M
	}
	sum := func(rank int, part Span) Span {
		if part.Buffer = Temp; rank == c.Root {
			part.Buffer = Recv
		}
		return part
	}
	given := Span{Send, 0, c.M}
	whole := func(rank int) Span { return sum(rank, given) }
	n, own := f.core, f.rank
	if f.shared {
		n, own = c.P, everyRank
	}
	s.local("own vector", n, own, nil, func(rank int) (src, dst Span) { return given, whole(rank) })
	f.in(s, given, whole)
	b := f.reduceScatter(s, true, sum)
	move := func(from, to int, part Span) Message {
		return Message{From: from, To: to, Src: sum(from, part), Dst: sum(to, part)}
	}
	root, member := c.Root-f.beyond, f.rank // number of the root in the core, and the members of the gather
	switch {
	case folded(c.Root):
		s.add(1, 1, Stage{Phase: "to the root"}, func(int, int) Message { return move(0, c.Root, f.owned(b, 0, f.core/2)) })
		root, member = 0, func(i int) int {
			if i == 0 {
				return c.Root
			}
			return f.rank(i)
		}
	case c.Root < 2*f.beyond:
		root = c.Root / 2
	}
	for distance := f.core / 2; distance >= 1; distance /= 2 {
		size := f.core / distance / 2
		shape, first := b.subtrees(size), size // upper halves
		if root&distance != 0 {
			shape, first = b.lower(size), 0
		}
		s.add(1, distance, Stage{Phase: "gather", Shape: shape, numbers: b.halvings(distance, f.core, distance, 0, first)}, func(_, low int) Message {
			// The higher bits are the root's, except the sender's bit of the distance.
			to := root&^(distance-1) | low
			return move(member(to^distance), member(to), f.owned(b, to^distance, distance))
		})
	}
}
