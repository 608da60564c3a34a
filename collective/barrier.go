package collective

// Barrier moves no data; no rank leaves before all have entered: MPI_Barrier.
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

// barrierDissemination: with n = 1, k, k² … every rank notifies the ranks n, 2n … (k−1)n to its right, modulo
// P: P empty messages a stage, with k = 2 in ⌈log2 P⌉ stages. In the last round MPICH notifies some ranks
// again if P is no power of k; a notice to the rank itself is left out.
func barrierDissemination(s *Schedule, k int) {
	p := s.Call.P
	k = min(k, p)
	for n := 1; n < p; n *= k {
		for j := 1; j < k; j++ {
			if distance := j * n % p; distance > 0 {
				s.shift(1, "dissemination", distance, func(int, int) (src, dst Span) { return Span{}, Span{} })
			}
		}
	}
}

// barrierLinear: one rank after another notifies rank 0, which then releases one after another. 2(P−1)
// stages of one message.
func barrierLinear(s *Schedule) {
	p := s.Call.P
	s.add(p-1, 1, Stage{Phase: "arrive"}, func(repetition, _ int) Message {
		return Message{From: repetition + 1, To: 0}
	})
	s.add(p-1, 1, Stage{Phase: "go on"}, func(repetition, _ int) Message {
		return Message{From: 0, To: repetition + 1}
	})
}

// barrierDoubleRing: a message circulates twice, beginning at rank 0. 2P stages of one message.
func barrierDoubleRing(s *Schedule) {
	p := s.Call.P
	if p == 1 {
		return
	}
	s.add(2*p, 1, Stage{Phase: "ring", Peers: func(t int) Peers {
		return Peers{First: t % p, Ranks: 1, Distance: 1}
	}}, func(t, _ int) Message { return Message{From: t % p, To: (t + 1) % p} })
}

// barrierRecursiveDoubling: partners at distance 1, 2, 4 … notify each other, log2 P stages. If P is no power
// of two, the ranks outside the core notify a core rank first, which releases them last by a synchronous
// send: it waits for their answer.
func barrierRecursiveDoubling(s *Schedule) {
	c := s.Call
	core := floorPowerOfTwo(c.P)
	beyond := c.P - core
	toCore := func(_, i int) Message { return Message{From: core + i, To: i} }
	s.add(1, beyond, Stage{Phase: "fold in"}, toCore)
	for n := 1; n < core; n *= 2 {
		s.add(1, core, Stage{Phase: "recursive doubling", Pattern: Exchange}, func(_, i int) Message {
			return Message{From: i, To: i ^ n}
		})
	}
	s.add(1, beyond, Stage{Phase: "fold out"}, func(_, i int) Message { return Message{From: i, To: core + i} })
	s.add(1, beyond, Stage{Phase: "answer"}, toCore)
}

// barrierTree: with n = 1, 2 … P/2 the n-th neighbour notifies every 2n-th rank, up to rank 0, which
// releases the ranks in reverse order. 2⌈log2 P⌉ stages.
func barrierTree(s *Schedule) {
	p := s.Call.P
	for n := 1; n < p; n *= 2 {
		s.add(1, subtreesOf(p, n), Stage{Phase: "arrive"}, func(_, t int) Message {
			return Message{From: (2*t + 1) * n, To: 2 * t * n}
		})
	}
	for n := 1 << ceilLog2(p) / 2; n >= 1; n /= 2 {
		s.add(1, subtreesOf(p, n), Stage{Phase: "go on"}, func(_, t int) Message {
			return Message{From: 2 * t * n, To: (2*t + 1) * n}
		})
	}
}

// barrierExchange: the groups of an exchanger notify each other.
func barrierExchange(s *Schedule) {
	x := exchangerOf(s.Call, s.Call.Degree)
	x.outsiders(s, Stage{Phase: "fold in"}, func(core, out int) Message { return Message{From: out, To: core} })
	x.rounds(func(n, offset int) {
		s.add(1, x.core, Stage{Phase: "recursive exchange", Pattern: Exchange}, func(_, i int) Message {
			return Message{From: x.rank(i), To: x.rank(x.partner(i, n, offset))}
		})
	})
	x.outsiders(s, Stage{Phase: "fold out"}, func(core, out int) Message { return Message{From: core, To: out} })
}
