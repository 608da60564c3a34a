package collective

// An exchanger is MPICH's recursive exchange: a core of ranks, a power of the radix k, in which
// with n = 1, k, k² … groups of k ranks at distance n exchange what they have. Of the other
// ranks up to k−1 in a row give theirs to the core's rank to their right, stay out, and get the
// result from it in the end. k = 2 is recursive doubling, see fold. Its source is
// recexchalgo.c.
type exchanger struct {
	radix, core, beyond int
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

// outside is the rank of the i-th that stays out, which is in the charge of member
// i/(radix−1) of the core.
func (x exchanger) outside(i int) int { return i/(x.radix-1)*x.radix + i%(x.radix-1) }

// rounds are the stages of the core: by n, and in each by how much farther on in its group
// a rank's partner is.
func (x exchanger) rounds(round func(n, away int)) {
	for n := 1; n < x.core; n *= x.radix {
		for away := 1; away < x.radix; away++ {
			round(n, away)
		}
	}
}

// partner is the `away`-th next member of i's group at distance n.
func (x exchanger) partner(i, n, away int) int {
	at := i / n % x.radix
	return i + ((at+away)%x.radix-at)*n
}

// outsiders have messages with the core's ranks in whose charge they are, a stage for each of a row.
func (x exchanger) outsiders(s *Schedule, st Stage, message func(core, out int) Message) {
	for j := range x.radix - 1 {
		rows := (x.beyond - j + x.radix - 2) / (x.radix - 1)
		if rows < 1 {
			return
		}
		if st.Shape != nil {
			st.Shape = []Batch{{rows, st.Shape[0].Bytes}}
		}
		s.add(1, rows, st, func(_, row int) Message {
			return message(x.rank(row), x.outside(row*(x.radix-1)+j))
		})
	}
}
