package collective

// Alltoall has a block of every rank for every rank, in rank order: MPI_Alltoall.
var Alltoall = &Collective{
	Name: "alltoall", About: "each rank gets a block of its own from each rank", M: "the block of one rank for another",
	Brings:  sendsAll,
	Promise: func(c Call, rank int) []Part { return []Part{{Ranks: c.P, At: rank * c.M, Bytes: c.M}} },
	Default: "pairwise", Benchmarks: measured("Alltoall", "All-to-All Personalized Exchange"),
}

func init() {
	register(Alltoall, "pairwise", "Thakur, Rabenseifner and Gropp 2005, long messages", alltoallPairwise)
	register(Alltoall, "linear", "Thakur, Rabenseifner and Gropp 2005, medium messages", alltoallLinear)
	register(Alltoall, "two-proc", "Open MPI's coll_base_alltoall.c", alltoallLinear).Among = TwoRanks
	register(Alltoall, "bruck", "Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, short messages", func(s *Schedule) { alltoallBruck(s, 2) })
	register(Alltoall, "k-bruck", "Bruck et al. 1997; MPICH's alltoall_intra_k_brucks.c", func(s *Schedule) {
		alltoallBruck(s, s.Call.Degree)
	}).Branched = true
}

// alltoallPairwise: in stage t = 1 … P−1 a rank exchanges blocks with rank XOR t if P is a power of two, else
// it sends to the t-th rank to its right and receives from the t-th to its left. P−1 stages of P messages.
func alltoallPairwise(s *Schedule) {
	p := s.Call.P
	if p != floorPowerOfTwo(p) {
		alltoallShifted(s)
		return
	}
	alltoall(s, "pairwise", s.Call.flippedBy(1, 1), func(rank, t int) int { return rank ^ t })
}

// alltoallLinear: every rank posts all its messages at once, beginning with its right neighbour, so that a
// rank is the receiver of one message at a time. P−1 stages of P messages.
func alltoallLinear(s *Schedule) {
	s.Posted = true
	alltoallShifted(s)
}

// alltoallShifted is alltoallLinear with one exchange after another.
func alltoallShifted(s *Schedule) {
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

// alltoallBruck: every rank rotates its blocks in Temp so that the i-th is for the rank i to its right. With
// n = 1, k, k² … and j = 1 … k−1 it sends all blocks i whose digit of n, in base k, is j to the rank jn to
// its right, packed into one message, and unpacks the received ones in their place. With k = 2 there are
// ⌈log2 P⌉ exchanges of about half of all blocks. At the end the i-th block is from the rank i to its left.
func alltoallBruck(s *Schedule, k int) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	most := 0 // blocks in a message
	local := func(phase string, copies, bytes int, copied func(rank, i int) (src, dst Span)) {
		st := Stage{Phase: phase, Pattern: Local, Shape: shape(Batch{c.P, bytes}), Peers: func(int) Peers { return Peers{Ranks: c.P} }}
		s.add(1, c.P*copies, st, func(_, i int) Message {
			src, dst := copied(i/copies, i%copies)
			return Message{From: i / copies, To: i / copies, Src: src, Dst: dst}
		})
	}
	local("turn", 2, c.P*c.M, func(rank, i int) (src, dst Span) {
		if i == 0 {
			return b.span(Send, rank, c.P), b.span(Temp, 0, c.P-rank)
		}
		return b.span(Send, 0, rank), b.span(Temp, c.P-rank, c.P)
	})
	for n := 1; n < c.P; n *= k {
		for j := 1; j < k && j*n < c.P; j++ {
			// Runs of n blocks, one every kn blocks; the last one may be short.
			runs := (c.P - j*n + k*n - 1) / (k * n)
			last := (runs-1)*k*n + j*n
			count := (runs-1)*n + min(n, c.P-last)
			most = max(most, count)
			run := func(i int) (at, packed Span) {
				from := i*k*n + j*n
				at = b.span(Temp, from, min(from+n, c.P))
				return at, Span{Temp, (c.P + i*n) * c.M, at.Bytes}
			}
			local("pack", runs, count*c.M, func(_, i int) (src, dst Span) { return run(i) })
			s.shift(1, "bruck", j*n, func(int, int) (src, dst Span) { return Span{Temp, c.P * c.M, count * c.M}, Span{Recv, 0, count * c.M} })
			local("unpack", runs, count*c.M, func(_, i int) (src, dst Span) {
				at, packed := run(i)
				return Span{Recv, packed.Offset - c.P*c.M, packed.Bytes}, at
			})
		}
	}
	local("turn", c.P, c.P*c.M, func(rank, i int) (src, dst Span) {
		from := (rank - i + c.P) % c.P
		return b.span(Temp, i, i+1), b.span(Recv, from, from+1)
	})
	s.temp = func(int) int { return (c.P + most) * c.M }
}
