package collective

// Message patterns, most of them of D. Kang, H. W. Park, J. Suh, V. K. Prasanna, S. N. Gavali, "Benchmarking
// of HPC Systems", University of Southern California, CENG 99-07, 1999, section 4.2.2. As algorithms they
// can be costed and executed; All leaves them out, for they are no algorithms of an MPI call.
//
// The paper's fourth pattern, the broadcast, is bcast:binomial.
var (
	// Permutation: each rank sends to the rank Distance to its right, all at once.
	Permutation = &Algorithm{
		Collective: &Collective{
			Name: "permutation", About: "each rank gets the message of the one Distance to its left", M: "a message",
			Shifted: true,
			Brings:  sendsOne,
			Promise: func(c Call, rank int) []Part {
				return []Part{{From: (rank + c.P - c.Distance) % c.P, Ranks: 1, Bytes: c.M}}
			},
		},
		Name:   "shift",
		Source: "Kang et al. 1999, section 4.2.2.1",
		plan:   func(s *Schedule) { permutation(s, Send, 0) },
	}
	// PingPong: the root sends to the rank Distance to its right, which then sends the message back. The
	// other ranks wait.
	PingPong = &Algorithm{
		Collective: &Collective{
			Name: "ping-pong", About: "the root's message goes to the rank Distance to its right and back", M: "the message",
			Rooted: true, Shifted: true,
			Brings: rootSendsOne,
			Promise: func(c Call, rank int) []Part {
				if rank != c.Root && rank != c.shifted(c.Root) {
					return nil
				}
				return []Part{{From: c.Root, Ranks: 1, Bytes: c.M}}
			},
		},
		Name:   "pair",
		Source: "Kang et al. 1999, section 4.2.2.2",
		plan:   pingPong,
	}
	// Dealing is scatter:linear without the root's copy of its own block.
	Dealing = &Algorithm{
		Collective: &Collective{
			Name: "dealing", About: "each rank but the root gets its block from the root", M: "one rank's block",
			Rooted: true,
			Brings: rootSendsAll,
			Promise: func(c Call, rank int) []Part {
				if rank == c.Root {
					return nil // its own block stays where it is
				}
				return Scatter.Promise(c, rank)
			},
		},
		Name:   "linear",
		Source: "Kang et al. 1999, section 4.2.2.3",
		plan:   deal,
	}
	// Couples: every other rank sends to its right neighbour, all at once.
	Couples = &Algorithm{
		Collective: &Collective{
			Name: "couples", About: "every other rank gets the message of its left neighbour", M: "a message",
			Brings: func(c Call, rank int) Span {
				if rank%2 == 1 {
					return Span{}
				}
				return sendsOne(c, rank)
			},
			Promise: func(c Call, rank int) []Part {
				if rank%2 == 0 {
					return nil
				}
				return []Part{{From: rank - 1, Ranks: 1, Bytes: c.M}}
			},
		},
		Name:   "pair",
		Source: "taulop-2015, Fig. 19",
		Among:  EvenRanks,
		plan:   func(s *Schedule) { couples(s, Send) },
	}
	// Readers: all ranks but the root read its message at once, by single copies of the receivers.
	Readers = &Algorithm{
		Collective: &Collective{
			Name: "readers", About: "all ranks but the root get its message at once", M: "the message",
			Rooted: true,
			Brings: rootSendsOne,
			Promise: func(c Call, rank int) []Part {
				if rank == c.Root {
					return nil
				}
				return []Part{{From: c.Root, Ranks: 1, Bytes: c.M}}
			},
		},
		Name:   "all",
		Source: "S. Chakraborty, H. Subramoni, D. K. Panda, CLUSTER 2017, parallel read",
		plan:   readers,
	}
	// OwnCopies: each rank copies its message from its send to its receive buffer.
	OwnCopies = &Algorithm{
		Collective: &Collective{
			Name: "own", About: "each rank copies its message to where it receives", M: "a message",
			Brings:  sendsOne,
			Promise: func(c Call, rank int) []Part { return []Part{{From: rank, Ranks: 1, Bytes: c.M}} },
		},
		Name:   "copies",
		Source: "what ranks copy within themselves, as in an allgather",
		plan:   func(s *Schedule) { ownMessage(s, s.Call.P, 1) },
	}
	// CopiedCouples are Couples whose senders first copy their message to the buffer that they send from,
	// as in collectives: they overwrite what the receivers read in the last call.
	CopiedCouples = &Algorithm{
		Collective: &Collective{
			Name: "copied-couples", About: "every other rank copies its message and gives it to its right neighbour", M: "a message",
			Brings:  Couples.Collective.Brings,
			Promise: func(c Call, rank int) []Part { return []Part{{From: rank - rank%2, Ranks: 1, Bytes: c.M}} },
		},
		Name:   "pair",
		Source: "an own copy, then taulop-2015, Fig. 19",
		Among:  EvenRanks,
		plan: func(s *Schedule) {
			ownMessage(s, s.Call.P/2, 2)
			couples(s, Recv)
		},
	}
	// CopiedPermutation is Permutation after such a copy. The received message follows the own one.
	CopiedPermutation = &Algorithm{
		Collective: &Collective{
			Name: "copied-permutation", About: "each rank copies its message and gets that of the one Distance to its left", M: "a message",
			Shifted: true,
			Brings:  sendsOne,
			Promise: func(c Call, rank int) []Part {
				return append([]Part{{From: rank, Ranks: 1, Bytes: c.M}}, Permutation.Collective.Promise(c, rank)...)
			},
		},
		Name:   "shift",
		Source: "an own copy, then Kang et al. 1999, section 4.2.2.1",
		plan: func(s *Schedule) {
			ownMessage(s, s.Call.P, 1)
			permutation(s, Recv, s.Call.M)
		},
	}
)

var patterns = []*Algorithm{Permutation, PingPong, Dealing, Couples, Readers, OwnCopies, CopiedCouples, CopiedPermutation}

// PatternNamed finds a pattern by its name, such as permutation:shift, or nil.
func PatternNamed(name string) *Algorithm { return named(patterns, name) }

// ownMessage has n ranks, `stride` ranks apart, copy their message to Recv.
func ownMessage(s *Schedule, n, stride int) {
	m := s.Call.M
	s.local("own message", n, func(i int) int { return i * stride }, nil, func(int) (src, dst Span) { return Span{Send, 0, m}, Span{Recv, 0, m} })
}

// permutation sends the first bytes of a buffer to the offset `to` of Recv.
func permutation(s *Schedule, from Buffer, to int) {
	c := s.Call
	s.shift(1, "permutation", c.Distance, func(int, int) (src, dst Span) { return Span{from, 0, c.M}, Span{Recv, to, c.M} })
}

func pingPong(s *Schedule) {
	c := s.Call
	other := c.shifted(c.Root)
	s.add(1, 1, Stage{Phase: "ping"}, func(int, int) Message {
		return Message{From: c.Root, To: other, Src: Span{Send, 0, c.M}, Dst: Span{Recv, 0, c.M}}
	})
	s.add(1, 1, Stage{Phase: "pong"}, func(int, int) Message {
		return Message{From: other, To: c.Root, Src: Span{Recv, 0, c.M}, Dst: Span{Recv, 0, c.M}}
	})
}

func couples(s *Schedule, from Buffer) {
	m := s.Call.M
	s.add(1, s.Call.P/2, Stage{Phase: "couples"}, func(_, i int) Message {
		return Message{From: 2 * i, To: 2*i + 1, Src: Span{from, 0, m}, Dst: Span{Recv, 0, m}}
	})
}

func readers(s *Schedule) {
	c := s.Call
	s.add(1, c.P-1, Stage{Phase: "readers"}, func(_, i int) Message {
		return Message{From: c.Root, To: c.rank(i + 1), Src: Span{Send, 0, c.M}, Dst: Span{Recv, 0, c.M}}
	})
}

// shifted is the rank Distance to the right.
func (c Call) shifted(rank int) int { return (rank + c.Distance) % c.P }
