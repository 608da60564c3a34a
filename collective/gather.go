package collective

import "iter"

// Gather has a block of every rank, in rank order: MPI_Gather.
var Gather = &Collective{
	Name: "gather", About: "the root gets each rank's block", M: "one rank's block",
	Rooted: true,
	Brings: sendsOne,
	Promise: func(c Call, rank int) []Part {
		if rank != c.Root {
			return nil
		}
		return []Part{{Ranks: c.P, Bytes: c.M}}
	},
	Default: "binomial", Benchmarks: measured("Gather"),
}

func init() {
	register(Algorithm{
		Collective: Gather, Name: "binomial",
		Source: "τ-Lop, eq. (16) backwards; Thakur, Rabenseifner and Gropp 2005",
		plan:   gatherBinomial,
	})
	register(Algorithm{
		Collective: Gather, Name: "linear",
		Source: "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree",
		plan:   gatherLinear,
	})
}

// gatherLinear: the root keeps its block and receives the others', one after
// another. P−1 stages of one message.
func gatherLinear(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	mine := Span{Send, 0, c.M}
	s.add(1, Stage{
		Phase: "own block", Pattern: Local,
		Shape: shape(Batch{1, c.M}), Beside: shape(Batch{min(1, c.P-1), c.M}),
		messages: func(int) iter.Seq[Message] {
			return each(1, func(int) Message {
				return Message{From: c.Root, To: c.Root, Src: mine, Dst: b.span(Recv, c.Root, c.Root+1)}
			})
		},
	})
	s.add(c.P-1, Stage{
		Phase: "linear",
		Shape: shape(Batch{1, c.M}),
		messages: func(repetition int) iter.Seq[Message] {
			return each(1, func(int) Message {
				from := c.rank(repetition + 1)
				return Message{From: from, To: c.Root, Src: mine, Dst: b.span(Recv, from, from+1)}
			})
		},
	})
}

// gatherBinomial is the scatter backwards: for n = 1 … P/2, every 2n-th rank
// receives the blocks of the n ranks from its n-th neighbour on. ⌈log2 P⌉
// stages. Inner ranks collect in Temp, and so does a root other than rank 0,
// which turns the blocks into rank order at the end.
func gatherBinomial(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	v := treeBuffers{call: c, user: Recv}
	s.temp = v.temp
	s.add(1, Stage{
		Phase: "own block", Pattern: Local,
		Shape: shape(Batch{v.inners(), c.M}), Beside: b.subtrees(1),
		messages: func(int) iter.Seq[Message] {
			return each(v.inners(), func(i int) Message {
				relative := 2 * i
				rank := c.rank(relative)
				return Message{From: rank, To: rank, Src: Span{Send, 0, c.M}, Dst: v.span(relative, 0, 1)}
			})
		},
	})
	for n := 1; n < c.P; n *= 2 {
		s.add(1, Stage{
			Phase: "binomial",
			Shape: b.subtrees(n),
			messages: func(int) iter.Seq[Message] {
				return each(subtreesOf(c.P, n), func(t int) Message {
					from := (2*t + 1) * n
					ranks := min(n, c.P-from)
					m := Message{
						From: c.rank(from), To: c.rank(from - n),
						Src: v.span(from, 0, ranks), Dst: v.span(from-n, n, ranks),
					}
					if !v.inner(from) {
						m.Src.Buffer = Send
					}
					return m
				})
			},
		})
	}
	if c.Root != 0 {
		s.add(1, Stage{
			Phase: "turn", Pattern: Local,
			Shape:    shape(Batch{1, c.P * c.M}),
			messages: func(int) iter.Seq[Message] { return sent(v.turn(Temp, Recv)) },
		})
	}
}
