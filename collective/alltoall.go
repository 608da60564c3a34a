package collective

// Alltoall has a block of every rank for every rank, in rank order: MPI_Alltoall.
var Alltoall = &Collective{
	Name: "alltoall", About: "each rank gets a block of its own from each rank", M: "the block of one rank for another",
	Brings: sendsAll,
	Promise: func(c Call, rank int) []Part {
		return []Part{{Ranks: c.P, At: rank * c.M, Bytes: c.M}}
	},
	Default: "pairwise", Benchmarks: measured("Alltoall", "All-to-All Personalized Exchange"),
}

func init() {
	register(Alltoall, "pairwise", "Thakur, Rabenseifner and Gropp 2005, long messages", alltoallPairwise)
	register(Alltoall, "linear", "Thakur, Rabenseifner and Gropp 2005, medium messages", alltoallLinear)
}

// alltoallPairwise: in stage t = 1 … P−1 ranks exchange their blocks with the
// partner whose number differs in the bits of t if P is a power of two, and
// otherwise send to the t-th rank to the right and receive from the t-th to the
// left. P−1 identical stages of P messages.
func alltoallPairwise(s *Schedule) {
	p := s.Call.P
	if p != floorPowerOfTwo(p) {
		alltoallLinear(s)
		return
	}
	alltoall(s, "pairwise", s.Call.flippedBy(1, 1), func(rank, t int) int { return rank ^ t })
}

// alltoallLinear: every rank posts all its messages at once, to its right
// neighbour first and then onwards, so that no two meet at one rank. P−1
// identical stages of P messages.
func alltoallLinear(s *Schedule) {
	p := s.Call.P
	alltoall(s, "linear", s.Call.shiftedBy(1, 1), func(rank, t int) int { return (rank + t) % p })
}

func alltoall(s *Schedule, phase string, peers func(repetition int) Peers, to func(rank, t int) int) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	block := func(from, to int) Message {
		return Message{From: from, To: to, Src: b.span(Send, to, to+1), Dst: b.span(Recv, from, from+1)}
	}
	s.add(1, c.P, Stage{Phase: "own block", Pattern: Local}, func(_, rank int) Message { return block(rank, rank) })
	s.add(c.P-1, c.P, Stage{Phase: phase, Pattern: Exchange, Peers: peers}, func(repetition, rank int) Message {
		return block(rank, to(rank, repetition+1))
	})
}
