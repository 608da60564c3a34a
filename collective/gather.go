package collective

// Gather has a block of every rank, in rank order: MPI_Gather.
var Gather = &Collective{
	Name: "gather", About: "the root gets each rank's block", M: "one rank's block",
	Rooted:  true,
	Brings:  sendsOne,
	Promise: rootGets(false),
	Default: "binomial", Benchmarks: measured("Gather"),
}

func init() {
	register(Gather, "linear-sync", "Open MPI's coll_base_gather.c", gatherLinearSync).Chunked = true
	register(Gather, "binomial", "τ-Lop, eq. (16) backwards; Thakur, Rabenseifner and Gropp 2005", gatherBinomial)
	register(Gather, "linear", "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree", gatherLinear)
}

// gatherLinear: the root copies its block and receives the others', one after another. P−1 stages of one
// message.
func gatherLinear(s *Schedule) {
	c := s.Call
	b := blocks{c.P * c.M, c.M}
	mine := Span{Send, 0, c.M}
	s.local("own block", 1, c.atRoot, shape(Batch{min(1, c.P-1), c.M}), func(root int) (src, dst Span) { return mine, b.span(Recv, root, root+1) })
	s.add(c.P-1, 1, Stage{Phase: "linear"}, func(repetition, _ int) Message {
		from := c.rank(repetition + 1)
		return Message{From: from, To: c.Root, Src: mine, Dst: b.span(Recv, from, from+1)}
	})
}

// gatherLinearSync: the root tells one rank after another to send, and receives the first chunk of its
// block, then the rest. P−1 times three stages of one message, or two.
func gatherLinearSync(s *Schedule) {
	c := s.Call
	if c.M == 0 {
		return
	}
	b := blocks{c.P * c.M, c.M}
	mine := Span{Send, 0, c.M}
	s.local("own block", 1, c.atRoot, nil, func(root int) (src, dst Span) { return mine, b.span(Recv, root, root+1) })
	from := func(repetition int) int { return c.rank(repetition + 1) }
	part := func(phase string, at, bytes int) {
		s.add(c.P-1, 1, Stage{Phase: phase}, func(repetition, _ int) Message {
			rank := from(repetition)
			return Message{From: rank, To: c.Root, Src: Span{Send, at, bytes}, Dst: Span{Recv, rank*c.M + at, bytes}}
		})
	}
	before, first := len(s.Blocks), min(c.Chunk, c.M)
	s.add(c.P-1, 1, Stage{Phase: "ready", Shape: []Batch{{Count: 1}}}, func(repetition, _ int) Message {
		return Message{From: c.Root, To: from(repetition)}
	})
	part("first chunk", 0, first)
	if first < c.M {
		part("rest", first, c.M-first)
	}
	s.takeTurns(before)
}

// takeTurns merges the blocks from one on, of equal repetitions, into one block whose stages alternate.
func (s *Schedule) takeTurns(from int) {
	for _, b := range s.Blocks[min(from+1, len(s.Blocks)):] {
		s.Blocks[from].Stages = append(s.Blocks[from].Stages, b.Stages...)
	}
	s.Blocks = s.Blocks[:min(from+1, len(s.Blocks))]
}

// gatherBinomial is the reverse scatter: with n = 1 … P/2, every 2n-th rank receives the blocks of the n
// ranks from its n-th neighbour on. ⌈log2 P⌉ stages. Inner ranks collect in Temp, as does a root other
// than rank 0, which rotates the blocks into rank order at the end.
func gatherBinomial(s *Schedule) {
	scatterBinomial(s)
	s.reverse()
}
