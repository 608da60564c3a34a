package collective

// Barrier moves nothing; no rank passes before all have come: MPI_Barrier.
var Barrier = &Collective{
	Name: "barrier", About: "no rank goes on before all have arrived",
	Default: "dissemination", Benchmarks: measured("Barrier"),
}

func init() {
	register(Barrier, "dissemination", "Hensgen, Finkel and Manber 1988", barrierDissemination)
}

// barrierDissemination: in stage i = 0 … ⌈log2 P⌉−1 every rank tells the rank 2^i
// to its right that it has arrived. P empty messages a stage.
func barrierDissemination(s *Schedule) {
	c, p := s.Call, s.Call.P
	for n := 1; n < p; n *= 2 {
		s.add(1, p, Stage{Phase: "dissemination", Pattern: Exchange, Shape: []Batch{{Count: p, Bytes: 0}}, Peers: c.shiftedBy(n, 0)}, func(_, rank int) Message {
			return Message{From: rank, To: (rank + n) % p}
		})
	}
}
