package collective

func init() {
	// A binomial scatter, then an allgather by recursive doubling: log2 P stages each. If P is no power
	// of two, ranks without a partner get the missing blocks from others, as in MPICH and Open MPI.
	register(Bcast, "scatter-recursive-doubling", "τ-Lop, eqs. (16) and (18); Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		recursiveDoubling(s, bcastScatter(s))
	})
	// A binomial scatter, then an allgather by a ring of P−1 stages.
	register(Bcast, "scatter-ring", "τ-Lop, eqs. (16) and (21); Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		ring(s, "allgather", Recv, bcastScatter(s), 0, false)
	})
}

// bcastScatter is the binomial scatter of MPICH: block i of ⌈M/P⌉ bytes goes to the i-th rank from the root
// on, at its offset in the message. With n = P/2 … 1, every 2n-th rank sends the upper half of its blocks
// to its n-th neighbour.
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
