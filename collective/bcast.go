package collective

// Bcast has one message, which the root has from the start: MPI_Bcast.
var Bcast = &Collective{
	Name: "bcast", About: "all ranks get the root's message", M: "the message",
	Rooted:  true,
	Brings:  rootBrings(func(c Call, _ int) Span { return Span{Recv, 0, c.M} }),
	Promise: func(c Call, _ int) []Part { return []Part{{From: c.Root, Ranks: 1, Bytes: c.M}} },
	Default: "binomial", Benchmarks: measured("Bcast", "Broadcast"),
}

func init() {
	register(Bcast, "binomial", "τ-Lop, eqs. (13)–(15) and Fig. 1; Thakur, Rabenseifner and Gropp 2005", bcastBinomial)
	register(Bcast, "linear", "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree", func(s *Schedule) {
		sendToAll(s, s.Call.M)
	})
	register(Bcast, "mpich", "τ-Lop, section 4.1; Thakur, Rabenseifner and Gropp 2005", bcastMPICH)
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

// bcastBinomial: a rank with the message is responsible for a range of ranks, and hands the upper half over
// to the rank in its middle. Stage i = 0 … ⌈log2 P⌉−1 has 2^i concurrent messages, the last stage
// P−2^i. For powers of two this is the tree of Fig. 1 and of MPICH; for other P the halves are as even
// as possible, while MPICH's subtrees have powers of two of ranks except the last.
func bcastBinomial(s *Schedule) {
	c := s.Call
	whole := Span{Recv, 0, c.M}
	for i := range ceilLog2(c.P) {
		ranges := 1 << i
		start := func(t, n int) int { return (t*c.P + n - 1) / n } // of the t-th of n ranges
		s.add(1, ranges, Stage{Phase: "binomial", Shape: shape(Batch{min(ranges, c.P-ranges), c.M})}, func(_, t int) Message {
			from, middle := start(t, ranges), start(2*t+1, 2*ranges)
			if middle == from || middle == start(t+1, ranges) {
				return Message{} // a range of one rank
			}
			return inPlace(c.rank(from), c.rank(middle), whole)
		})
	}
}

// sendToAll has the root send the whole message to one rank after another: P−1 stages of one message.
func sendToAll(s *Schedule, bytes int) {
	c := s.Call
	whole := Span{Recv, 0, bytes}
	s.add(c.P-1, 1, Stage{Phase: "linear"}, func(repetition, _ int) Message {
		return inPlace(c.Root, c.rank(repetition+1), whole)
	})
}

// bcastMPICH is MPICH's decision: binomial below 12 KiB or 8 ranks; scatter and recursive doubling below
// 512 KiB if P is a power of two; else scatter and ring.
func bcastMPICH(s *Schedule) {
	const short, long = 12 << 10, 512 << 10
	c := s.Call
	name := "scatter-ring"
	switch {
	case c.M < short || c.P < 8:
		name = "binomial"
	case c.M < long && c.P == floorPowerOfTwo(c.P):
		name = "scatter-recursive-doubling"
	}
	s.Algorithm = find("bcast:" + name)
	s.Algorithm.plan(s)
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
			return inPlace(c.rank(to-n), c.rank(to), b.span(Recv, to, to+n))
		})
	}
	return b
}

// subtreesOf is the number of ranks n, 3n, 5n … below p.
func subtreesOf(p, n int) int { return (p + n - 1) / (2 * n) }
