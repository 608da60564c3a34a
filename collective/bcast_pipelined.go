package collective

func init() {
	for _, a := range []*Algorithm{
		register(Bcast, "chain", "Open MPI's coll_base_bcast.c and coll_base_topo.c; Pješivac-Grbović et al. 2007, chain tree", bcastDown(func(c Call) tree { return chains(c.P, c.Degree) })),
		register(Bcast, "binary", "Open MPI's coll_base_bcast.c and coll_base_topo.c; Pješivac-Grbović et al. 2007, binary tree", bcastDown(func(c Call) tree { return kary(c.P, 2, false) })),
		register(Bcast, "binomial-doubling", "Open MPI's coll_base_bcast.c and coll_base_topo.c, bmtree", bcastDown(func(c Call) tree { return doubling(c.P) })),
		register(Bcast, "kary", "MPICH's bcast_intra_pipelined_tree.c and treeutil.c, k-ary tree", bcastDown(func(c Call) tree { return kary(c.P, c.Degree, true) })),
		register(Bcast, "knomial", "Open MPI's coll_base_bcast.c and coll_base_topo.c; MPICH's bcast_intra_pipelined_tree.c", bcastDown(func(c Call) tree { return knomial(c.P, c.Degree) })),
	} {
		a.Chunked, a.Branched = true, a.Name != "binary" && a.Name != "binomial-doubling"
	}
	register(Bcast, "pipeline", "Open MPI's coll_base_bcast.c; Pješivac-Grbović et al. 2007, chain tree with a fan-out of one", bcastPipeline).Chunked = true
	register(Bcast, "split-binary", "Open MPI's coll_base_bcast.c; Pješivac-Grbović et al. 2007, split-binary tree", bcastSplitBinary).Chunked = true
}

// bcastDown is a segmented broadcast down a tree: with k chunks, height h and fan-out g it has h + g(k−1)
// stages.
func bcastDown(treeOf func(Call) tree) func(*Schedule) {
	return func(s *Schedule) { s.pipeline("tree", false, s.down(treeOf(s.Call))) }
}

// down is the flow of the whole message down a tree. Ranks send by MPI_Isend to all children at once, while
// they receive the next chunk.
func (s *Schedule) down(t tree) flow {
	c := s.Call
	s.Posted = true
	return flow{tree: t, bytes: c.M, chunk: c.Chunk, message: func(rank, parent int, part Span) Message {
		part.Buffer = Recv
		return inPlace(c.rank(parent), c.rank(rank), part)
	}}
}

// bcastPipeline: every rank forwards each chunk to its right neighbour while it receives the next one.
// P−2+k stages for k chunks.
func bcastPipeline(s *Schedule) {
	c := s.Call
	f := s.down(chains(c.P, 1))
	f.peers = func(first, last int) Peers {
		return Peers{First: c.rank(first - 1), Ranks: last - first + 1, Distance: 1}
	}
	s.pipeline("pipeline", false, f)
}

// bcastSplitBinary: in a binary tree the left subtree gets the first half of the message and the right
// subtree the second half, chunk by chunk. Then each rank exchanges halves with a neighbour in the other
// subtree; a left rank without one gets its second half from the root.
func bcastSplitBinary(s *Schedule) {
	c := s.Call
	left := Span{Recv, 0, (c.M + 1) / 2}
	right := Span{Recv, left.Bytes, c.M / 2}
	whole := kary(c.P, 2, false)
	var halves []flow
	for i, half := range karySubtrees(2, false)(c.P) {
		f := s.down(whole)
		f.delays = []delay{{i + 1, 1, 1}}
		for _, d := range kary(half.ranks, 2, false).delays {
			d.first += i + 1
			f.delays = append(f.delays, d)
		}
		f.only = func(rank int) bool { return rank%2 == (i+1)%2 }
		f.bytes = left.Bytes
		if i == 1 {
			f.from, f.bytes = right.Offset, right.Bytes
		}
		halves = append(halves, f)
	}
	s.pipeline("split binary", false, halves...)
	exchange := Stage{Phase: "exchange", Pattern: Exchange, Shape: tally(
		Batch{c.P / 2, right.Bytes}, Batch{(c.P - 1) / 2, left.Bytes})}
	s.add(1, c.P-1, exchange, func(_, i int) Message {
		from, to, half := i, i+1, left // from the left to the right
		if to%2 == 1 {
			from, half = (to+1)%c.P, right
		}
		return inPlace(c.rank(from), c.rank(to), half)
	})
}
