package collective

import "iter"

func init() {
	register(Algorithm{
		Collective: Bcast, Name: "linear",
		Source: "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree",
		plan:   bcastLinear,
	})
}

// bcastLinear: the root sends the whole message to one rank after another.
// P−1 stages of one message.
func bcastLinear(s *Schedule) {
	c := s.Call
	whole := Span{Recv, 0, c.M}
	s.add(c.P-1, Stage{
		Phase: "linear",
		Shape: shape(Batch{1, c.M}),
		messages: func(repetition int) iter.Seq[Message] {
			return each(1, func(int) Message {
				return Message{From: c.Root, To: c.rank(repetition + 1), Src: whole, Dst: whole}
			})
		},
	})
}
