package collective

// ReduceScatter reduces vectors of a block for every rank, and scatters the result: MPI_Reduce_scatter_block.
// As its recvcount, m is one block: a vector has P·m bytes. IMB prints the block since 2019; earlier
// versions, and OSU, print the vector.
var ReduceScatter = &Collective{
	Name: "reduce_scatter", About: "each rank gets its block of the ranks' vectors combined", M: "one rank's block, of P in a vector",
	Reduces: true,
	Brings:  sendsAll,
	Promise: func(c Call, rank int) []Part { return []Part{{Ranks: c.P, At: rank * c.M, Bytes: c.M, Reduced: true}} },
	Default: "recursive-halving", Benchmarks: []Benchmark{
		{Suite: "IMB", Name: "Reduce_scatter", Since: 2019},
		{Suite: "IMB", Name: "Reduce_scatter", M: largestBlock},
		{Suite: "IMB", Name: "Reduce_scatter_block"},
		{Suite: "OSU", Name: "osu_reduce_scatter", Titles: []string{"Reduce_scatter"}, M: largestBlock},
		{Suite: "OSU", Name: "osu_reduce_scatter_block", Titles: []string{"Reduce_scatter_block"}, M: equalBlock},
	},
}

// largestBlock is the largest block of a vector that is divided as evenly as possible.
func largestBlock(vector, p int) int { return (vector + p - 1) / p }

// equalBlock is each block of a vector; OSU leaves out the rest.
func equalBlock(vector, p int) int { return vector / p }

func init() {
	register(ReduceScatter, "ring", "Patarasuk and Yuan 2009, first half; Open MPI's coll base", reduceScatterRing)
	register(ReduceScatter, "recursive-halving", "Thakur, Rabenseifner and Gropp 2005, short messages", reduceScatterHalving)
	register(ReduceScatter, "pairwise", "Thakur, Rabenseifner and Gropp 2005, long messages", reduceScatterPairwise)
}

// reduceScatterRing: every rank copies its vector to Temp. Then the blocks circulate and are reduced, and
// each ends at its rank. P−1 stages of P messages.
func reduceScatterRing(s *Schedule) {
	c := s.Call
	inTemp(s, c.P, everyRank)
	ring(s, "ring", Temp, blocks{c.P * c.M, c.M}, 1, true)
	ownBlocks(s, Temp, c.P, everyRank)
}

// reduceScatterHalving: every rank copies its vector to Temp. Then partners at distance P/2 … 1 send each
// other the half that the receiver keeps: log2 P stages, each with half the bytes of the one before. If P
// is no power of two, the ranks outside the core fold in first, see fold; their partners reduce both
// blocks, and send them theirs at the end.
func reduceScatterHalving(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	f := foldOf(c)
	inTemp(s, f.core, f.rank)
	f.in(s, sendsAll(c, 0), func(int) Span { return b.span(Temp, 0, c.P) })
	// first is the first block of the core's i-th member.
	first := func(i int) int { return i + min(i, f.beyond) }
	for distance := f.core / 2; distance >= 1; distance /= 2 {
		// A half has the blocks of `distance` members of the core: halves of members with two blocks
		// come first, then at most one mixed half, then halves of members with one block.
		double, mixed := f.beyond/distance, f.beyond%distance
		single := f.core/distance - double - min(mixed, 1)
		halves := shape(
			Batch{double * distance, 2 * distance * c.M},
			Batch{min(mixed, 1) * distance, (distance + mixed) * c.M},
			Batch{single * distance, distance * c.M},
		)
		s.add(1, f.core, Stage{Phase: "recursive halving", Pattern: Exchange, Reduce: true, Shape: halves}, func(_, i int) Message {
			kept := (i ^ distance) &^ (distance - 1)
			return inPlace(f.rank(i), f.rank(i^distance), b.span(Temp, first(kept), first(kept+distance)))
		})
	}
	f.out(s, func(i int) (src, dst Span) { return b.span(Temp, 2*i, 2*i+1), Span{Recv, 0, c.M} })
	ownBlocks(s, Temp, f.core, f.rank)
}

// reduceScatterPairwise: in stage t = 1 … P−1 every rank sends the t-th rank to its right that rank's block,
// and reduces the block from the t-th rank to its left. P−1 stages of P messages.
func reduceScatterPairwise(s *Schedule) {
	c := s.Call
	ownBlocks(s, Send, c.P, everyRank)
	s.add(c.P-1, c.P, Stage{Phase: "pairwise", Pattern: Exchange, Reduce: true, Peers: c.shiftedBy(1, 1)}, func(repetition, rank int) Message {
		to := (rank + repetition + 1) % c.P
		return Message{From: rank, To: to, Src: Span{Send, to * c.M, c.M}, Dst: Span{Recv, 0, c.M}}
	})
}

// inTemp has each of n ranks copy its vector to Temp.
func inTemp(s *Schedule, n int, rank func(i int) int) {
	c := s.Call
	s.temp = func(int) int { return c.P * c.M }
	s.local("own vector", n, rank, nil, func(int) (src, dst Span) { return Span{Send, 0, c.P * c.M}, Span{Temp, 0, c.P * c.M} })
}

// ownBlocks has each of n ranks copy its block of a vector to Recv.
func ownBlocks(s *Schedule, vector Buffer, n int, rank func(i int) int) {
	c := s.Call
	s.local("own block", n, rank, nil, func(r int) (src, dst Span) { return Span{vector, r * c.M, c.M}, Span{Recv, 0, c.M} })
}
