package collective

func init() {
	register(Bcast, "linear", "Pješivac-Grbović et al., Performance analysis of MPI collective operations, 2007, flat tree", func(s *Schedule) {
		sendToAll(s, s.Call.M)
	})
}

// sendToAll has the root send the whole message to one rank after another: P−1 stages of one message.
func sendToAll(s *Schedule, bytes int) {
	c := s.Call
	whole := Span{Recv, 0, bytes}
	s.add(c.P-1, 1, Stage{Phase: "linear"}, func(repetition, _ int) Message {
		return Message{From: c.Root, To: c.rank(repetition + 1), Src: whole, Dst: whole}
	})
}
