package collective

// Allgather has a block of every rank, in rank order: MPI_Allgather.
var Allgather = &Collective{
	Name: "allgather", About: "all ranks get each rank's block", M: "one rank's block",
	Brings:  sendsOne,
	Promise: func(c Call, _ int) []Part { return []Part{{Ranks: c.P, Bytes: c.M}} },
	Default: "ring", Benchmarks: measured("Allgather"),
}

func init() {
	register(Allgather, "recursive-doubling", "τ-Lop, eqs. (18) and (24); Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		recursiveDoubling(s, ownBlock(s))
	}).Among = PowerOfTwo
	register(Allgather, "ring", "τ-Lop, eq. (21); Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) {
		ring(s, "allgather", Recv, ownBlock(s), 0, false)
	})
	register(Allgather, "bruck", "Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005", func(s *Schedule) { allgatherBruck(s, 2) })
	register(Allgather, "k-bruck", "Bruck et al. 1997; MPICH's allgather_intra_k_brucks.c", func(s *Schedule) {
		allgatherBruck(s, s.Call.Degree)
	}).Branched = true
	register(Allgather, "linear", "Open MPI's coll_base_allgather.c", allgatherLinear)
	register(Allgather, "neighbor-exchange", "Chen et al. 2005; Open MPI's coll_base_allgather.c", neighborExchange).Among = EvenRanks
	register(Allgather, "two-proc", "Open MPI's coll_base_allgather.c", twoRanks).Among = TwoRanks
	register(Allgather, "sparbit", "Loch and Koslovski 2021; Open MPI's coll_base_allgather.c", sparbit)
	register(Allgather, "recexch", "MPICH's allgather_intra_recexch.c, distance doubling", allgatherExchange).Branched = true
}

// ownBlock has every rank copy its block to its place in Recv.
func ownBlock(s *Schedule) blocks {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	s.local("own block", c.P, everyRank, nil, func(rank int) (src, dst Span) { return Span{Send, 0, c.M}, b.span(Recv, rank, rank+1) })
	return b
}

// recursiveDoubling is the allgather of blocks in place in Recv, block i at the i-th rank from the root on.
// In stage i = 0 … log2 P−1 partners at distance 2^i exchange their 2^i blocks: log2 P stages of P messages.
func recursiveDoubling(s *Schedule, b blocks) {
	c := s.Call
	for n := 1; n < c.P; n *= 2 {
		pairs := c.P / (2 * n)                // of groups of n ranks
		first, over := 2*n*pairs, c.P%(2*n)-n // of the last pair, if its second group is short
		stage := Stage{Phase: "allgather", Pattern: Exchange, Shape: b.groups(n)}
		switch {
		case first < c.P:
			whole := blocks{min(b.total, first*b.unit), b.unit} // groups with a partner
			shape := whole.groups(n)
			if over > 0 {
				shape = append(shape, Batch{over, b.span(Recv, first, first+n).Bytes}, Batch{over, b.span(Recv, first+n, c.P).Bytes})
			}
			stage.Shape = tally(shape...)
		case c.Root == 0 && b.total == c.P*b.unit:
			stage.Peers = c.flippedBy(n, 0)
		}
		s.add(1, c.P, stage, func(_, i int) Message {
			if i^n >= c.P {
				return Message{}
			}
			have := i &^ (n - 1)
			return inPlace(c.rank(i), c.rank(i^n), b.span(Recv, have, min(have+n, c.P)))
		})
		if over <= 0 {
			continue
		}
		// Ranks of the first group without a partner get the short group's blocks from others: with
		// h = n/2 … 1 each rank that has them sends them to its h-th neighbour.
		part := b.span(Recv, first+n, c.P)
		for h := n / 2; h > 0; h /= 2 {
			low := max(0, over-h)
			each := min(h, over) - low
			if each <= 0 {
				continue
			}
			s.add(1, n/(2*h)*each, Stage{Phase: "allgather", Shape: shape(Batch{n / (2 * h) * each, part.Bytes})}, func(_, i int) Message {
				from := first + i/each*2*h + low + i%each
				return inPlace(c.rank(from), c.rank(from+h), part)
			})
		}
	}
}

// twoRanks: both send their block, then copy their own to its place.
func twoRanks(s *Schedule) {
	c := s.Call
	s.shift(1, "exchange", 1, func(_, rank int) (src, dst Span) { return Span{Send, 0, c.M}, Span{Recv, rank * c.M, c.M} })
	ownBlock(s)
}

// ring circulates blocks in one buffer: in stage t = 0 … P−2 the i-th rank from the root on sends block
// i−t−behind to its right neighbour. P−1 stages of P messages.
func ring(s *Schedule, phase string, in Buffer, b blocks, behind int, reduce bool) {
	c := s.Call
	peers := func(t int) Peers {
		full := (b.total + b.unit - 1) / b.unit // non-empty blocks
		return Peers{First: (c.Root + t + behind) % c.P, Ranks: full, Distance: 1}
	}
	s.add(c.P-1, c.P, Stage{Phase: phase, Pattern: Exchange, Reduce: reduce, Shape: b.groups(1), Peers: peers, Same: b.total > (c.P-1)*b.unit}, func(t, i int) Message {
		block := (i - t - behind + 2*c.P) % c.P
		return inPlace(c.rank(i), c.rank(i+1), b.span(in, block, block+1))
	})
}

// allgatherBruck: every rank collects blocks in Temp, first its own, then those to its right. With
// n = 1, k, k² … it sends its n blocks to the ranks n, 2n … (k−1)n to its left, a stage each; the last
// stages send only the missing blocks. With k = 2 there are ⌈log2 P⌉ stages. At the end each rank rotates
// its blocks into rank order.
func allgatherBruck(s *Schedule, k int) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	s.temp = func(int) int { return c.P * c.M }
	s.local("own block", c.P, everyRank, nil, func(int) (src, dst Span) { return Span{Send, 0, c.M}, b.span(Temp, 0, 1) })
	for n := 1; n < c.P; n *= k {
		for distance := n; distance < min(k*n, c.P); distance += n {
			count := min(n, c.P-distance)
			s.shift(1, "bruck", c.P-distance, func(int, int) (src, dst Span) { return b.span(Temp, 0, count), b.span(Temp, distance, distance+count) })
		}
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

// allgatherLinear: a linear gather to rank 0, then a linear broadcast. 2(P−1) stages of one message.
func allgatherLinear(s *Schedule) {
	gatherLinear(s)
	sendToAll(s, s.Call.P*s.Call.M)
}

// neighborExchange: pairs of ranks exchange their blocks. Then each rank sends the two blocks that it
// received last to its left and its right neighbour alternately. P/2 stages of P messages.
func neighborExchange(s *Schedule) {
	c := s.Call
	b := ownBlock(s)
	s.add(1, c.P, Stage{Phase: "neighbor exchange", Pattern: Exchange}, func(_, rank int) Message {
		return inPlace(rank, rank^1, b.span(Recv, rank, rank+1))
	})
	pairs := c.P / 2
	s.add(pairs-1, c.P, Stage{Phase: "neighbor exchange", Pattern: Exchange}, func(t, rank int) Message {
		// Even ranks receive pairs alternately from their left and right, at rising distance, and odd
		// ranks from their right and left.
		distance, to := (t+1)/2, rank^1
		if t%2 != rank%2 {
			distance = -distance
		}
		if t%2 == 0 {
			to = (rank + 2*(rank%2) - 1 + c.P) % c.P
		}
		pair := (rank/2 + distance + pairs) % pairs
		return inPlace(rank, to, b.span(Recv, 2*pair, 2*pair+2))
	})
}

// sparbit: with n = 2^(⌈log2 P⌉−1) … 2, 1 every rank sends its blocks, one by one, to the rank n to its
// right: its own block and the block of every 2n-th rank to its left. If P is no power of two, for some n
// one block is left out, which would arrive twice. P−1 stages of P messages.
func sparbit(s *Schedule) {
	c := s.Call
	b := ownBlock(s)
	odd := c.P & -c.P // the lowest bit of P
	leaveOut := (^(c.P / odd) | 1) * odd
	have := 1
	for n := 1 << ceilLog2(c.P) / 2; n >= 1; n /= 2 {
		blocks := have
		if n&leaveOut == n {
			blocks--
		}
		s.shift(blocks, "sparbit", n, func(t, rank int) (src, dst Span) {
			block := (rank - 2*t*n%c.P + c.P) % c.P
			part := b.span(Recv, block, block+1)
			return part, part
		})
		have += blocks
	}
}

// allgatherExchange: the groups of an exchanger exchange all their blocks; a rank outside the core sends its
// block before, and gets all blocks at the end.
func allgatherExchange(s *Schedule) {
	c := s.Call
	b := ownBlock(s)
	x := exchangerOf(c, c.Degree)
	// first is the first block of the core's i-th member.
	first := func(i int) int { return i + min(x.beyond, i*(x.radix-1)) }
	x.outsiders(s, Stage{Phase: "fold in"}, func(core, out int) Message { return inPlace(out, core, b.span(Recv, out, out+1)) })
	x.rounds(func(n, offset int) {
		all := n * (x.radix - 1) // most ranks outside the core for n members
		full, mixed := x.beyond/all, x.beyond%all
		single := x.core/n - full - min(mixed, 1)
		shape := tally(Batch{full * n, n * x.radix * c.M}, Batch{min(mixed, 1) * n, (n + mixed) * c.M}, Batch{single * n, n * c.M})
		s.add(1, x.core, Stage{Phase: "recursive exchange", Pattern: Exchange, Shape: shape}, func(_, i int) Message {
			have := i / n * n
			return inPlace(x.rank(i), x.rank(x.partner(i, n, offset)), b.span(Recv, first(have), first(have+n)))
		})
	})
	x.outsiders(s, Stage{Phase: "fold out"}, func(core, out int) Message { return inPlace(core, out, b.span(Recv, 0, c.P)) })
}
