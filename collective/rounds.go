package collective

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// An Envelope is a message of a program: sender, receiver, bytes.
type Envelope struct{ From, To, Bytes int }

// Rounds schedules a program's messages among p ranks in rounds, in which each rank sends and receives at
// most one. The sizes in a round differ by less than a factor of two. Messages are taken greedily by
// the distance of their ranks, each into the first free round. It fails for invalid messages, and for two
// with the same sender and receiver.
func Rounds(p int, messages []Envelope) (*Schedule, error) {
	if p < 1 {
		return nil, fmt.Errorf("messages among %d ranks: give one or more", p)
	}
	largest, total := 0, 0
	for _, m := range messages {
		if m.From < 0 || m.To < 0 || m.From >= p || m.To >= p || m.From == m.To || m.Bytes < 0 {
			return nil, fmt.Errorf("rank %d sends %d bytes to %d: give two of the ranks 0 … %d, and bytes from 0", m.From, m.Bytes, m.To, p-1)
		}
		if total += m.Bytes; total > maxBytes {
			return nil, fmt.Errorf("messages of more than %d bytes in all", maxBytes)
		}
		largest = max(largest, m.Bytes)
	}
	order := slices.Clone(messages)
	slices.SortFunc(order, func(a, b Envelope) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	sent, received, parts := make([]int, p), make([]int, p), make([][]Part, p) // by rank
	placed := make([]Message, 0, len(order))
	for i, m := range order {
		if i > 0 && order[i-1].From == m.From && order[i-1].To == m.To {
			return nil, fmt.Errorf("rank %d sends to %d twice: add them up", m.From, m.To)
		}
		src, dst := Span{Send, sent[m.From], m.Bytes}, Span{Recv, received[m.To], m.Bytes}
		placed = append(placed, Message{From: m.From, To: m.To, Src: src, Dst: dst})
		parts[m.To] = append(parts[m.To], Part{From: m.From, Ranks: 1, At: src.Offset, Bytes: m.Bytes})
		sent[m.From] += m.Bytes
		received[m.To] += m.Bytes
	}
	program := &Collective{
		Name: "program", About: "each rank gets what others send it", M: "the longest message",
		Brings:  func(_ Call, rank int) Span { return Span{Send, 0, sent[rank]} },
		Promise: func(_ Call, rank int) []Part { return parts[rank] },
	}
	s := &Schedule{Algorithm: &Algorithm{Name: "rounds", Collective: program}, Call: Call{P: p, M: largest}, Unit: largest}
	s.addRounds(placed)
	return s, nil
}

// addRounds adds the rounds of messages, the largest first.
func (s *Schedule) addRounds(messages []Message) {
	p := s.Call.P
	magnitude := func(m Message) int { return bits.Len(uint(m.Bytes())) }
	distance := func(m Message) int { return (m.To - m.From + p) % p }
	slices.SortStableFunc(messages, func(a, b Message) int {
		return cmp.Or(magnitude(b)-magnitude(a), distance(a)-distance(b), a.From-b.From)
	})
	for len(messages) > 0 {
		// Bit sets of the rounds in which a rank already sends or receives.
		sends, receives := make([]big.Int, p), make([]big.Int, p)
		var all [][]Message
		n := 0
		for ; n < len(messages) && magnitude(messages[n]) == magnitude(messages[0]); n++ {
			m := messages[n]
			out, in := &sends[m.From], &receives[m.To]
			taken := new(big.Int).Or(out, in)
			round := int(taken.Not(taken).TrailingZeroBits()) // the first one that is free
			if round == len(all) {
				all = append(all, nil)
			}
			out.SetBit(out, round, 1)
			in.SetBit(in, round, 1)
			all[round] = append(all[round], m)
		}
		for _, round := range all {
			slices.SortStableFunc(round, func(a, b Message) int { return b.Bytes() - a.Bytes() })
			stage := Stage{Phase: "round", Pattern: patternOf(round), Shape: merged(lists.Map(round, func(m Message) Batch { return Batch{1, m.Bytes()} }))}
			s.add(1, len(round), stage, func(_, i int) Message { return round[i] })
		}
		messages = messages[n:]
	}
}

// patternOf is Exchange if any rank sends and receives.
func patternOf(round []Message) Pattern {
	sends := lists.Counts(round, func(m Message) int { return m.From })
	if slices.ContainsFunc(round, func(m Message) bool { return sends[m.To] > 0 }) {
		return Exchange
	}
	return OneWay
}
