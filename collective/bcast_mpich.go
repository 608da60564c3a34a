package collective

func init() {
	register(Bcast, "mpich", "τ-Lop, section 4.1; Thakur, Rabenseifner and Gropp 2005", bcastMPICH)
}

// bcastMPICH is MPICH's choice: binomial below 12 KB or for less than 8 ranks;
// below 512 KB, if P is a power of two, scatter and recursive doubling; else
// scatter and ring.
func bcastMPICH(s *Schedule) {
	const short, long = 12 << 10, 512 << 10
	c := s.Call
	name := "scatter-ring"
	switch {
	case c.M < short || c.P < 8:
		name = "binomial"
	case c.M < long && c.P == floorPowerOfTwo(c.P):
		name = "scatter-recursive-doubling"
	}
	s.Algorithm = find("bcast:" + name)
	s.Algorithm.plan(s)
}
