package collective

// Reduce has a vector of every rank: MPI_Reduce.
var Reduce = &Collective{
	Name: "reduce", About: "the root gets the ranks' vectors combined", M: "the vector",
	Rooted: true, Reduces: true,
	Brings: sendsOne,
	Promise: func(c Call, rank int) []Part {
		if rank != c.Root {
			return nil
		}
		return []Part{{Ranks: c.P, Bytes: c.M, Reduced: true}}
	},
	Default: "binomial", Benchmarks: measured("Reduce"),
}

func init() {
	register(Reduce, "binomial", "Thakur, Rabenseifner and Gropp 2005, short messages", reduceBinomial)
	register(Reduce, "linear", "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree", reduceLinear)
}

// reduceLinear: the root receives one vector after another and adds each to its
// own. P−1 stages of one message and one reduction.
func reduceLinear(s *Schedule) {
	c := s.Call
	given, sum := Span{Send, 0, c.M}, Span{Recv, 0, c.M}
	own := Stage{Phase: "own vector", Pattern: Local, Beside: shape(Batch{min(1, c.P-1), c.M})}
	s.add(1, 1, own, func(int, int) Message {
		return Message{From: c.Root, To: c.Root, Src: given, Dst: sum}
	})
	s.add(c.P-1, 1, Stage{Phase: "linear", Reduce: true}, func(repetition, _ int) Message {
		return Message{From: c.rank(repetition + 1), To: c.Root, Src: given, Dst: sum}
	})
}

// reduceBinomial is MPICH's tree: for n = 1 … P/2, every 2n-th rank from the root
// on receives the vector of its n-th neighbour and adds it to its own. ⌈log2 P⌉
// stages with a reduction each. Ranks on the way add up in Temp, the root in Recv.
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
