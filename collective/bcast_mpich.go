package collective

func init() {
	register(Bcast, "mpich", "τ-Lop, section 4.1; Thakur, Rabenseifner and Gropp 2005", bcastMPICH)
}

// bcastMPICH is MPICH's decision: binomial below 12 KiB or 8 ranks; scatter and recursive doubling below
// 512 KiB if P is a power of two; else scatter and ring.
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
