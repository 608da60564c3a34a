package collective

// Allgather has a block of every rank, in rank order: MPI_Allgather.
var Allgather = &Collective{
	Name: "allgather", About: "all ranks get each rank's block", M: "one rank's block",
	Brings:  sendsOne,
	Promise: func(c Call, _ int) []Part { return []Part{{Ranks: c.P, Bytes: c.M}} },
	Default: "ring", Benchmarks: measured("Allgather"),
}

func init() {
	a := register(Allgather, "recursive-doubling", "τ-Lop, eqs. (18) and (24); Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		recursiveDoubling(s, ownBlock(s))
	})
	a.PowerOfTwo, a.Paired = true, true
	register(Allgather, "ring", "τ-Lop, eq. (21); Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		ring(s, "allgather", Recv, ownBlock(s), 0, false)
	})
	register(Allgather, "bruck", "Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005", allgatherBruck)
}

// ownBlock is how an allgather in Recv begins: every rank puts its block in place.
func ownBlock(s *Schedule) blocks {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	s.add(1, c.P, Stage{Phase: "own block", Pattern: Local}, func(_, rank int) Message {
		return Message{From: rank, To: rank, Src: Span{Send, 0, c.M}, Dst: b.span(Recv, rank, rank+1)}
	})
	return b
}

// recursiveDoubling gathers blocks that lie in their place in Recv, block i at
// the i-th rank from the root on. In stage i = 0 … log2 P−1 partners at distance
// 2^i exchange the 2^i blocks that each has by then: log2 P stages of P messages.
func recursiveDoubling(s *Schedule, b blocks) {
	c := s.Call
	for n := 1; n < c.P; n *= 2 {
		stage := Stage{Phase: "allgather", Pattern: Exchange, Shape: b.groups(n)}
		if c.Root == 0 && b.total == c.P*b.unit {
			stage.Peers = c.flippedBy(n, 0)
		}
		s.add(1, c.P, stage, func(_, i int) Message {
			have := i &^ (n - 1)
			part := b.span(Recv, have, have+n)
			return Message{From: c.rank(i), To: c.rank(i ^ n), Src: part, Dst: part}
		})
	}
}

// ring sends blocks round in one buffer: in stage t = 0 … P−2 the i-th rank from the
// root on passes block i−t−behind on to its right neighbour. P−1 identical
// stages of P messages.
func ring(s *Schedule, phase string, in Buffer, b blocks, behind int, reduce bool) {
	c := s.Call
	peers := func(t int) Peers {
		full := (b.total + b.unit - 1) / b.unit // ranks beyond have an empty block
		return Peers{First: (c.Root + t + behind) % c.P, Ranks: full, Distance: 1}
	}
	s.add(c.P-1, c.P, Stage{Phase: phase, Pattern: Exchange, Reduce: reduce, Shape: b.groups(1), Peers: peers}, func(t, i int) Message {
		block := (i - t - behind + 2*c.P) % c.P
		part := b.span(in, block, block+1)
		return Message{From: c.rank(i), To: c.rank(i + 1), Src: part, Dst: part}
	})
}

// allgatherBruck: every rank collects blocks in Temp, its own first and then
// those of its right neighbours. In stage i = 0 … ⌈log2 P⌉−1 it sends what it
// has, 2^i blocks, to the rank 2^i to its left; the last stage sends the P−2^i
// that are still missing. At the end each turns its blocks into rank order.
func allgatherBruck(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	s.temp = func(int) int { return c.P * c.M }
	s.add(1, c.P, Stage{Phase: "own block", Pattern: Local}, func(_, rank int) Message {
		return Message{From: rank, To: rank, Src: Span{Send, 0, c.M}, Dst: b.span(Temp, 0, 1)}
	})
	for n := 1; n < c.P; n *= 2 {
		count := min(n, c.P-n)
		s.add(1, c.P, Stage{Phase: "bruck", Pattern: Exchange, Peers: c.shiftedBy(c.P-n, 0)}, func(_, rank int) Message {
			return Message{
				From: rank, To: (rank - n + c.P) % c.P,
				Src: b.span(Temp, 0, count), Dst: b.span(Temp, n, n+count),
			}
		})
	}
	turn := Stage{Phase: "turn", Pattern: Local, Shape: shape(Batch{c.P, c.P * c.M})}
	s.add(1, 2*c.P, turn, func(_, i int) Message {
		rank := i / 2
		if i%2 == 0 {
			return Message{From: rank, To: rank, Src: b.span(Temp, 0, c.P-rank), Dst: b.span(Recv, rank, c.P)}
		}
		return Message{From: rank, To: rank, Src: b.span(Temp, c.P-rank, c.P), Dst: b.span(Recv, 0, rank)}
	})
}
