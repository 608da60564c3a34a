package collective

func init() {
	for _, a := range []*Algorithm{
		register(Reduce, "chain", "Open MPI's coll_base_reduce.c and coll_base_topo.c; Pješivac-Grbović et al. 2007, chain tree", reduceUp(func(c Call) tree { return chains(c.P, c.Degree) })),
		register(Reduce, "pipeline", "Open MPI's coll_base_reduce.c; Pješivac-Grbović et al. 2007, chain tree with a fan-out of one", reducePipeline),
		register(Reduce, "binary", "Open MPI's coll_base_reduce.c and coll_base_topo.c; Pješivac-Grbović et al. 2007, binary tree", reduceUp(func(c Call) tree { return kary(c.P, 2, false) })),
		register(Reduce, "kary", "MPICH's ireduce_tsp_tree.c and treeutil.c, k-ary tree", reduceUp(func(c Call) tree { return kary(c.P, c.Degree, true) })),
		register(Reduce, "knomial", "Open MPI's coll_base_reduce.c and coll_base_topo.c; MPICH's ireduce_tsp_tree.c", reduceUp(func(c Call) tree { return knomial(c.P, c.Degree) })),
		register(Reduce, "in-order-binary", "Open MPI's coll_base_reduce.c and coll_base_topo.c", reduceInOrder),
	} {
		a.Chunked, a.Branched = true, a.Name == "chain" || a.Name == "kary" || a.Name == "knomial"
	}
}

// reduceUp is a segmented reduction up a tree, the reverse of bcastDown.
func reduceUp(treeOf func(Call) tree) func(*Schedule) {
	return func(s *Schedule) { s.up("tree", treeOf(s.Call), s.Call.Root, 1, nil) }
}

// reducePipeline: every rank reduces each chunk of its right neighbour and sends it to its left one while it
// receives the next chunk. P−2+k stages for k chunks.
func reducePipeline(s *Schedule) {
	c := s.Call
	s.up("pipeline", chains(c.P, 1), c.Root, 1, func(first, last int) Peers {
		return Peers{First: c.rank(first), Ranks: last - first + 1, Distance: c.P - 1}
	})
}

// reduceInOrder: a binary tree in which the ranks of one subtree precede the other's, and both precede the
// parent, so that operands keep their order. The tree's root is the last rank, which sends the result
// to the call's root.
func reduceInOrder(s *Schedule) {
	c := s.Call
	last := c.P - 1
	s.up("in-order tree", inOrder(c.P), last, -1, nil)
	if c.Root != last {
		s.add(1, 1, Stage{Phase: "to the root"}, func(int, int) Message {
			return Message{From: last, To: c.Root, Src: Span{Temp, 0, c.M}, Dst: Span{Recv, 0, c.M}}
		})
	}
}

// up reduces vectors along a tree whose root is top, with ranks counted to its right, or with by = −1 to
// its left. Inner ranks reduce in Temp, the root of the call in Recv.
func (s *Schedule) up(phase string, t tree, top, by int, peers func(first, last int) Peers) {
	c := s.Call
	rank := func(number int) int { return (top + by*number + c.P) % c.P }
	number := func(rank int) int { return (by*(rank-top) + c.P) % c.P }
	inner := func(i int) bool { return i == 0 || t.place(i).inner }
	sum := func(i int) Buffer { // of the reductions of inner ranks
		if i == 0 && top == c.Root {
			return Recv
		}
		return Temp
	}
	buffer := func(i int) Buffer {
		if !inner(i) {
			return Send
		}
		return sum(i)
	}
	s.temp = func(r int) int {
		if buffer(number(r)) == Temp {
			return c.M
		}
		return 0
	}
	inners, before := max(1, t.inner), len(s.Blocks)
	own := Stage{Phase: "own vector", Pattern: Local, Shape: shape(Batch{inners, c.M})}
	s.add(1, c.P, own, func(_, i int) Message {
		if !inner(i) {
			return Message{}
		}
		return Message{From: rank(i), To: rank(i), Src: Span{Send, 0, c.M}, Dst: Span{sum(i), 0, c.M}}
	})
	s.pipeline(phase, true, flow{
		tree: t, bytes: c.M, chunk: max(1, c.Chunk/c.Element) * c.Element, peers: peers,
		message: func(from, to int, part Span) Message {
			src, dst := part, part
			src.Buffer, dst.Buffer = buffer(from), sum(to)
			return Message{From: rank(from), To: rank(to), Src: src, Dst: dst}
		},
	})
	if len(s.Blocks) > before+1 { // the first receives overlap the copies
		copies, first := &s.Blocks[before].Stages[0], &s.Blocks[before+1].Stages[0]
		if first.Pattern == OneWay && len(first.Shape) == 1 && first.Shape[0].Count == inners {
			copies.Beside = first.Shape
		}
	}
}
