package collective

// LocalCopy is the name of a schedule that is no collective: ranks copy within
// themselves. It is what their own blocks and vectors cost in others.
const LocalCopy = "local copy"

// LocalCopies has the first n of p ranks copy m bytes from Send to Recv, all at
// once. There must be something to copy.
func LocalCopies(p, n, m int) *Schedule {
	copies := &Collective{
		Name: LocalCopy, About: "ranks copy within themselves", M: "what one copies",
		Brings: func(c Call, rank int) Span {
			if rank >= n {
				return Span{}
			}
			return sendsOne(c, rank)
		},
		Promise: func(c Call, rank int) []Part {
			if rank >= n {
				return nil
			}
			return []Part{{From: rank, Ranks: 1, Bytes: c.M}}
		},
	}
	s := &Schedule{Algorithm: &Algorithm{Collective: copies}, Call: Call{P: p, M: m, Element: 1}, Unit: m}
	s.add(1, n, Stage{Phase: LocalCopy, Pattern: Local}, func(_, rank int) Message {
		return Message{From: rank, To: rank, Src: Span{Send, 0, m}, Dst: Span{Recv, 0, m}}
	})
	return s
}
