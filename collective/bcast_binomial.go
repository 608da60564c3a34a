package collective

func init() {
	register(Bcast, "binomial", "τ-Lop, eqs. (13)–(15) and Fig. 1; Thakur, Rabenseifner and Gropp 2005", bcastBinomial)
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
			return Message{From: c.rank(from), To: c.rank(middle), Src: whole, Dst: whole}
		})
	}
}
