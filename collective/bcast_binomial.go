package collective

func init() {
	register(Bcast, "binomial", "τ-Lop, eqs. (13)–(15) and Fig. 1; Thakur, Rabenseifner and Gropp 2005", bcastBinomial)
}

// bcastBinomial: a rank that has the message serves a range of ranks and sends it to the middle
// of the range, which then serves the upper half. Stage i = 0 … ⌈log2 P⌉−1 has 2^i messages at
// once, and the last one the P−2^i that are still missing. For powers of two this is the tree
// of Fig. 1 and of MPICH; for other P the halves are as even as possible, where MPICH fills
// subtrees of powers of two and leaves the last one short.
func bcastBinomial(s *Schedule) {
	c := s.Call
	whole := Span{Recv, 0, c.M}
	for i := range ceilLog2(c.P) {
		served := 1 << i
		start := func(t, ranges int) int { return (t*c.P + ranges - 1) / ranges }
		s.add(1, served, Stage{Phase: "binomial", Shape: shape(Batch{min(served, c.P-served), c.M})}, func(_, t int) Message {
			from, middle := start(t, served), start(2*t+1, 2*served)
			if middle == from || middle == start(t+1, served) {
				return Message{} // a range of one rank
			}
			return Message{From: c.rank(from), To: c.rank(middle), Src: whole, Dst: whole}
		})
	}
}
