package collective

// An exchanger is MPICH's recursive exchange, recexchalgo.c: in a core of k^⌊log_k P⌋ ranks, with
// n = 1, k, k² … groups of k ranks at distance n exchange their data. Up to k−1 consecutive ranks outside
// the core send theirs to the core's rank to their right before, and get the result from it at the end.
// Radix k = 2 is recursive doubling, see fold.
type exchanger struct {
	radix, core, beyond int // beyond: ranks outside the core
}

func exchangerOf(c Call, radix int) exchanger {
	x := exchanger{radix: max(2, min(radix, c.P)), core: 1}
	for x.core <= c.P/x.radix {
		x.core *= x.radix
	}
	x.beyond = c.P - x.core
	return x
}

// rank is the rank of the i-th member of the core.
func (x exchanger) rank(i int) int {
	if i < x.beyond/(x.radix-1) {
		return i*x.radix + x.radix - 1
	}
	return i + x.beyond
}

// outside is the i-th rank outside the core; its partner is member i/(radix−1) of the core.
func (x exchanger) outside(i int) int { return i/(x.radix-1)*x.radix + i%(x.radix-1) }

// rounds are the stages of the core by distance n, and by the offset of a rank's partner in its group.
func (x exchanger) rounds(round func(n, offset int)) {
	for n := 1; n < x.core; n *= x.radix {
		for offset := 1; offset < x.radix; offset++ {
			round(n, offset)
		}
	}
}

// partner is the member `offset` after i, cyclically, in its group at distance n.
func (x exchanger) partner(i, n, offset int) int {
	position := i / n % x.radix
	return i + ((position+offset)%x.radix-position)*n
}

// outsiders adds the messages between the core and the ranks outside it, in radix−1 stages.
func (x exchanger) outsiders(s *Schedule, st Stage, message func(core, out int) Message) {
	for j := range x.radix - 1 {
		rows := (x.beyond - j + x.radix - 2) / (x.radix - 1)
		if rows < 1 {
			return
		}
		s.add(1, rows, st, func(_, row int) Message { return message(x.rank(row), x.outside(row*(x.radix-1)+j)) })
	}
}
