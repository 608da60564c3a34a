package collective

// Barrier moves nothing; no rank passes before all have come: MPI_Barrier.
var Barrier = &Collective{
	Name: "barrier", About: "no rank goes on before all have arrived",
	Default: "dissemination", Benchmarks: measured("Barrier"),
}

func init() {
	dissemination := func(s *Schedule) { barrierDissemination(s, 2) }
	register(Barrier, "dissemination", "Hensgen, Finkel and Manber 1988", dissemination)
	register(Barrier, "two-proc", "Open MPI's coll_base_barrier.c", dissemination).Among = TwoRanks
	register(Barrier, "k-dissemination", "MPICH's barrier_intra_k_dissemination.c", func(s *Schedule) {
		barrierDissemination(s, s.Call.Degree)
	}).Branched = true
	register(Barrier, "linear", "Open MPI's coll_base_barrier.c", barrierLinear)
	register(Barrier, "double-ring", "Open MPI's coll_base_barrier.c", barrierDoubleRing)
	register(Barrier, "recursive-doubling", "Open MPI's coll_base_barrier.c", barrierRecursiveDoubling)
	register(Barrier, "tree", "Open MPI's coll_base_barrier.c", barrierTree)
	register(Barrier, "recexch", "MPICH's barrier_intra_recexch.c", barrierExchange).Branched = true
}

// barrierDissemination: with n = 1, k, k² … every rank tells the ranks n, 2n … (k−1)n to its
// right that it has arrived, and which ranks it has heard of. P empty messages a stage; with k
// = 2 ⌈log2 P⌉ stages.
func barrierDissemination(s *Schedule, k int) {
	c, p := s.Call, s.Call.P
	for n := 1; n < p; n *= k {
		for at := n; at < min(k*n, p); at += n {
			s.add(1, p, Stage{Phase: "dissemination", Pattern: Exchange, Shape: empty(p), Peers: c.shiftedBy(at, 0)}, func(_, rank int) Message {
				return Message{From: rank, To: (rank + at) % p}
			})
		}
	}
}

// empty is the shape of n messages of a barrier.
func empty(n int) []Batch {
	if n == 0 {
		return nil
	}
	return []Batch{{Count: n}}
}

// barrierLinear: one rank after another tells rank 0 that it has arrived, which then tells
// one after another to go on. 2(P−1) stages of one message.
func barrierLinear(s *Schedule) {
	p := s.Call.P
	s.add(p-1, 1, Stage{Phase: "arrive", Shape: empty(1)}, func(repetition, _ int) Message {
		return Message{From: repetition + 1, To: 0}
	})
	s.add(p-1, 1, Stage{Phase: "go on", Shape: empty(1)}, func(repetition, _ int) Message {
		return Message{From: 0, To: repetition + 1}
	})
}

// barrierDoubleRing: a message goes round twice, from rank 0 to its right neighbour and so
// on. 2P stages of one message.
func barrierDoubleRing(s *Schedule) {
	p := s.Call.P
	if p == 1 {
		return
	}
	s.add(2*p, 1, Stage{Phase: "ring", Shape: empty(1), Peers: func(t int) Peers {
		return Peers{First: t % p, Ranks: 1, Distance: 1}
	}}, func(t, _ int) Message {
		return Message{From: t % p, To: (t + 1) % p}
	})
}

// barrierRecursiveDoubling: partners at distance 1, 2, 4 … tell each other which ranks they
// have heard of, log2 P stages. Where P is no power of two the ranks beyond tell one of the
// others first, and hear from it last, by a synchronous send: it waits for their answer.
func barrierRecursiveDoubling(s *Schedule) {
	c := s.Call
	core := floorPowerOfTwo(c.P)
	beyond := c.P - core
	s.add(1, beyond, Stage{Phase: "fold in", Shape: empty(beyond)}, func(_, i int) Message {
		return Message{From: core + i, To: i}
	})
	for n := 1; n < core; n *= 2 {
		s.add(1, core, Stage{Phase: "recursive doubling", Pattern: Exchange, Shape: empty(core)}, func(_, i int) Message {
			return Message{From: i, To: i ^ n}
		})
	}
	s.add(1, beyond, Stage{Phase: "fold out", Shape: empty(beyond)}, func(_, i int) Message {
		return Message{From: i, To: core + i}
	})
	s.add(1, beyond, Stage{Phase: "answer", Shape: empty(beyond)}, func(_, i int) Message {
		return Message{From: core + i, To: i}
	})
}

// barrierTree: with n = 1, 2 … P/2 every 2n-th rank hears of all that its n-th neighbour has
// heard of, up to rank 0, and then they are told to go on the same way back. 2⌈log2 P⌉
// stages.
func barrierTree(s *Schedule) {
	p := s.Call.P
	for n := 1; n < p; n *= 2 {
		pairs := subtreesOf(p, n)
		s.add(1, pairs, Stage{Phase: "arrive", Shape: empty(pairs)}, func(_, t int) Message {
			return Message{From: (2*t + 1) * n, To: 2 * t * n}
		})
	}
	for n := 1 << ceilLog2(p) / 2; n >= 1; n /= 2 {
		pairs := subtreesOf(p, n)
		s.add(1, pairs, Stage{Phase: "go on", Shape: empty(pairs)}, func(_, t int) Message {
			return Message{From: 2 * t * n, To: (2*t + 1) * n}
		})
	}
}

// barrierExchange: the groups of an exchanger tell each other which ranks they have heard of.
func barrierExchange(s *Schedule) {
	x := exchangerOf(s.Call, s.Call.Degree)
	x.outsiders(s, Stage{Phase: "fold in", Shape: empty(1)}, func(core, out int) Message { return Message{From: out, To: core} })
	x.rounds(func(n, away int) {
		s.add(1, x.core, Stage{Phase: "recursive exchange", Pattern: Exchange, Shape: empty(x.core)}, func(_, i int) Message {
			return Message{From: x.rank(i), To: x.rank(x.partner(i, n, away))}
		})
	})
	x.outsiders(s, Stage{Phase: "fold out", Shape: empty(1)}, func(core, out int) Message { return Message{From: core, To: out} })
}
