package collective

func init() {
	register(Bcast, "scatter-recursive-doubling", "τ-Lop, eqs. (16) and (18); Thakur, Rabenseifner and Gropp 2005", bcastScatterRecursiveDoubling)
	register(Bcast, "scatter-ring", "τ-Lop, eqs. (16) and (21); Thakur, Rabenseifner and Gropp 2005", bcastScatterRing)
}

// bcastScatterRecursiveDoubling: the message is scattered along a binomial tree in log2 P
// stages of halving messages, then gathered by all in log2 P exchanges of doubling ones. Where
// P is no power of two ranks without a partner get what they lack from others, as in MPICH and
// Open MPI.
func bcastScatterRecursiveDoubling(s *Schedule) {
	b := bcastScatter(s)
	recursiveDoubling(s, b)
}

// bcastScatterRing: the message is scattered along a binomial tree, then goes
// round in P−1 stages in which every rank passes one block on to its neighbour.
func bcastScatterRing(s *Schedule) {
	b := bcastScatter(s)
	ring(s, "allgather", Recv, b, 0, false)
}

// bcastScatter is the first half of both, as in MPICH: block i of ⌈M/P⌉ bytes
// goes to the i-th rank from the root on, and lies where the message has it.
// With n = P/2 … 1, every 2n-th rank hands the upper half of what it has to its
// n-th neighbour.
func bcastScatter(s *Schedule) blocks {
	c := s.Call
	b := ceilBlocks(c.M, c.P, 1)
	s.Unit = b.unit
	for n := 1 << ceilLog2(c.P) / 2; n >= 1; n /= 2 {
		s.add(1, subtreesOf(c.P, n), Stage{Phase: "scatter", Shape: b.subtrees(n)}, func(_, t int) Message {
			to := (2*t + 1) * n
			part := b.span(Recv, to, to+n)
			return Message{From: c.rank(to - n), To: c.rank(to), Src: part, Dst: part}
		})
	}
	return b
}

// subtreesOf is the number of ranks n, 3n, 5n … below p.
func subtreesOf(p, n int) int { return (p + n - 1) / (2 * n) }
