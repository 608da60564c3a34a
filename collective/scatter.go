package collective

// Scatter has a block for every rank, in rank order: MPI_Scatter.
var Scatter = &Collective{
	Name: "scatter", About: "each rank gets its block from the root", M: "one rank's block",
	Rooted:  true,
	Brings:  rootSendsAll,
	Promise: func(c Call, rank int) []Part { return []Part{{From: c.Root, Ranks: 1, At: rank * c.M, Bytes: c.M}} },
	Default: "binomial", Benchmarks: measured("Scatter"),
}

func init() {
	register(Scatter, "binomial", "τ-Lop, eqs. (16) and (23); Thakur, Rabenseifner and Gropp 2005", scatterBinomial)
	register(Scatter, "linear", "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree", scatterLinear)
}

// scatterLinear: the root copies its block and sends the others theirs, one after another. P−1 stages of
// one message.
func scatterLinear(s *Schedule) {
	c := s.Call
	s.local("own block", 1, c.atRoot, nil, func(root int) (src, dst Span) { return Span{Send, root * c.M, c.M}, Span{Recv, 0, c.M} })
	deal(s)
}

// deal has the root send the others their blocks, one after another.
func deal(s *Schedule) {
	c := s.Call
	s.add(c.P-1, 1, Stage{Phase: "linear"}, func(repetition, _ int) Message {
		to := c.rank(repetition + 1)
		return Message{From: c.Root, To: to, Src: Span{Send, to * c.M, c.M}, Dst: Span{Recv, 0, c.M}}
	})
}

// scatterBinomial: with n = P/2 … 1, a rank responsible for 2n ranks sends the blocks of the upper n to the
// first of these: ⌈log2 P⌉ stages of 2^i messages of P/2^(i+1) blocks if P is a power of two; otherwise
// the last message of a stage is shorter, as in MPICH. A root other than rank 0 first rotates the blocks
// into the order of the tree, and inner ranks forward from Temp.
func scatterBinomial(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	v := treeBuffers{c}
	s.temp = v.temp
	if c.Root != 0 {
		turn := Stage{Phase: "turn", Pattern: Local, Shape: shape(Batch{1, c.P * c.M})}
		upper, lower := (c.P-c.Root)*c.M, c.Root*c.M // the blocks from the root's on, and the others
		s.add(1, 2, turn, func(_, i int) Message {
			if i == 0 {
				return Message{From: c.Root, To: c.Root, Src: Span{Send, lower, upper}, Dst: Span{Temp, 0, upper}}
			}
			return Message{From: c.Root, To: c.Root, Src: Span{Send, 0, lower}, Dst: Span{Temp, upper, lower}}
		})
	}
	for n := 1 << ceilLog2(c.P) / 2; n >= 1; n /= 2 {
		s.add(1, subtreesOf(c.P, n), Stage{Phase: "binomial", Shape: b.subtrees(n)}, func(_, t int) Message {
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
	}
	s.add(1, v.inners(), Stage{Phase: "own block", Pattern: Local, Beside: b.subtrees(1)}, func(_, i int) Message {
		rank := c.rank(2 * i)
		return Message{From: rank, To: rank, Src: v.span(2*i, 0, 1), Dst: Span{Recv, 0, c.M}}
	})
}

// reverse turns a scatter into a gather: the stages in reverse order, with sender and receiver, and Send
// and Recv, exchanged.
func (s *Schedule) reverse() {
	s.backwards(0)
	swapped := [...]Buffer{Send: Recv, Recv: Send, Temp: Temp}
	for i := range s.Blocks {
		st := &s.Blocks[i].Stages[0]
		st.change(func(_ int, m *Message) {
			m.From, m.To, m.Src, m.Dst = m.To, m.From, m.Dst, m.Src
			m.Src.Buffer, m.Dst.Buffer = swapped[m.Src.Buffer], swapped[m.Dst.Buffer]
		})
	}
}

// treeBuffers is the location of the blocks of a rank's subtree in a binomial scatter, in the order of the
// tree, its own first. They are in Temp, except that root 0 uses its user buffer: there rank order is
// tree order.
type treeBuffers struct{ call Call }

// span is a number of blocks from the skip-th on, in the buffer of a rank relative to the root.
func (v treeBuffers) span(relative, skip, ranks int) Span {
	m := v.call.M
	in := Temp
	if relative == 0 && v.call.Root == 0 {
		in = Send
	}
	return Span{in, skip * m, ranks * m}
}

// inner reports whether a rank relative to the root has children, or is the root.
func (v treeBuffers) inner(relative int) bool {
	return relative == 0 || relative%2 == 0 && relative+1 < v.call.P
}

// inners is the number of inner ranks, 0, 2, 4 … relative to the root, with the root even if it is alone.
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
