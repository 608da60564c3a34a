package collective

import "iter"

// Scatter has a block for every rank, in rank order: MPI_Scatter.
var Scatter = &Collective{
	Name: "scatter", About: "each rank gets its block from the root", M: "one rank's block",
	Rooted: true,
	Brings: rootSendsAll,
	Promise: func(c Call, rank int) []Part {
		return []Part{{From: c.Root, Ranks: 1, At: rank * c.M, Bytes: c.M}}
	},
	Default: "binomial", Benchmarks: measured("Scatter"),
}

func init() {
	register(Algorithm{
		Collective: Scatter, Name: "binomial",
		Source: "τ-Lop, eqs. (16) and (23); Thakur, Rabenseifner and Gropp 2005",
		plan:   scatterBinomial,
	})
	register(Algorithm{
		Collective: Scatter, Name: "linear",
		Source: "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree",
		plan:   scatterLinear,
	})
}

// scatterLinear: the root keeps its block and sends the others theirs, one after
// another. P−1 stages of one message.
func scatterLinear(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	mine := Span{Recv, 0, c.M}
	s.add(1, Stage{
		Phase: "own block", Pattern: Local,
		Shape: shape(Batch{1, c.M}),
		messages: func(int) iter.Seq[Message] {
			return each(1, func(int) Message {
				return Message{From: c.Root, To: c.Root, Src: b.span(Send, c.Root, c.Root+1), Dst: mine}
			})
		},
	})
	s.add(c.P-1, Stage{
		Phase: "linear",
		Shape: shape(Batch{1, c.M}),
		messages: func(repetition int) iter.Seq[Message] {
			return each(1, func(int) Message {
				to := c.rank(repetition + 1)
				return Message{From: c.Root, To: to, Src: b.span(Send, to, to+1), Dst: mine}
			})
		},
	})
}

// scatterBinomial: a rank that serves 2n ranks sends the blocks of the upper n to
// the first of them, for n = P/2 … 1: ⌈log2 P⌉ stages, of 2^i messages of
// P/2^(i+1) blocks where P is a power of two; otherwise the last message of a
// stage is shorter, as in MPICH. A root other than rank 0 turns the blocks into
// the order of the tree first, and inner ranks keep what they pass on in Temp.
func scatterBinomial(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	v := treeBuffers{call: c, user: Send}
	s.temp = v.temp
	if c.Root != 0 {
		s.add(1, Stage{
			Phase: "turn", Pattern: Local,
			Shape:    shape(Batch{1, c.P * c.M}),
			messages: func(int) iter.Seq[Message] { return sent(v.turn(Send, Temp)) },
		})
	}
	for n := 1 << ceilLog2(c.P) / 2; n >= 1; n /= 2 {
		s.add(1, Stage{
			Phase: "binomial",
			Shape: b.subtrees(n),
			messages: func(int) iter.Seq[Message] {
				return each(subtreesOf(c.P, n), func(t int) Message {
					to := (2*t + 1) * n
					ranks := min(n, c.P-to)
					m := Message{
						From: c.rank(to - n), To: c.rank(to),
						Src: v.span(to-n, n, ranks), Dst: v.span(to, 0, ranks),
					}
					if !v.inner(to) {
						m.Dst.Buffer = Recv
					}
					return m
				})
			},
		})
	}
	s.add(1, Stage{
		Phase: "own block", Pattern: Local,
		Shape: shape(Batch{v.inners(), c.M}), Beside: b.subtrees(1),
		messages: func(int) iter.Seq[Message] {
			return each(v.inners(), func(i int) Message {
				relative := 2 * i
				rank := c.rank(relative)
				return Message{From: rank, To: rank, Src: v.span(relative, 0, 1), Dst: Span{Recv, 0, c.M}}
			})
		},
	})
}

// treeBuffers says where a rank of a binomial scatter or gather keeps the blocks
// of its subtree: in the order of the tree, its own first. A root of rank 0 uses
// its user buffer, for there rank order is tree order; other inner ranks use Temp.
type treeBuffers struct {
	call Call
	user Buffer
}

// span is the given number of blocks from the skip-th on, in the buffer of a
// rank relative to the root.
func (v treeBuffers) span(relative, skip, ranks int) Span {
	m := v.call.M
	in := Temp
	if relative == 0 && v.call.Root == 0 {
		in = v.user
	}
	return Span{in, skip * m, ranks * m}
}

// inner tells whether a rank relative to the root has children, or is the root.
func (v treeBuffers) inner(relative int) bool {
	return relative == 0 || relative%2 == 0 && relative+1 < v.call.P
}

// inners is the number of inner ranks, which are 0, 2, 4 …, the root counted
// even if it is alone.
func (v treeBuffers) inners() int { return max(1, v.call.P/2) }

func (v treeBuffers) temp(rank int) int {
	c := v.call
	relative := (rank - c.Root + c.P) % c.P
	switch {
	case relative == 0 && c.Root == 0, !v.inner(relative):
		return 0
	case relative == 0:
		return c.P * c.M
	}
	subtree := relative & -relative
	return min(subtree, c.P-relative) * c.M
}

// turn copies all blocks at the root between rank order, in Send or Recv, and
// the order of the tree, in Temp.
func (v treeBuffers) turn(src, dst Buffer) iter.Seq[Message] {
	c := v.call
	upper := (c.P - c.Root) * c.M // the blocks from the root's on
	lower := c.Root * c.M
	return each(2, func(i int) Message {
		rankOrder, treeOrder := Span{src, lower, upper}, Span{dst, 0, upper}
		if i == 1 {
			rankOrder, treeOrder = Span{src, 0, lower}, Span{dst, upper, lower}
		}
		m := Message{From: c.Root, To: c.Root, Src: rankOrder, Dst: treeOrder}
		if src == Temp {
			m.Src.Offset, m.Dst.Offset = m.Dst.Offset, m.Src.Offset
		}
		return m
	})
}
