package collective

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// An Envelope is a message of a program: sender, receiver, bytes.
type Envelope struct{ From, To, Bytes int }

// Rounds schedules a program's messages among p ranks in rounds, in which each rank sends and receives at
// most one. The sizes in a round differ by less than a factor of two. Messages are taken greedily by
// the distance of their ranks, each into the first free round. It fails for invalid messages, and for two
// with the same sender and receiver.
func Rounds(p int, messages []Envelope) (*Schedule, error) {
	plan := &rounds{out: make([][]contribution, p), in: make([][]contribution, p)}
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
	for i, m := range order {
		if i > 0 && order[i-1].From == m.From && order[i-1].To == m.To {
			return nil, fmt.Errorf("rank %d sends to %d twice: add them up", m.From, m.To)
		}
		src, dst := 0, 0
		if n := len(plan.out[m.From]); n > 0 {
			src = plan.out[m.From][n-1].src + plan.out[m.From][n-1].bytes
		}
		if n := len(plan.in[m.To]); n > 0 {
			dst = plan.in[m.To][n-1].dst + plan.in[m.To][n-1].bytes
		}
		plan.out[m.From] = append(plan.out[m.From], contribution{m.To, src, dst, m.Bytes})
		plan.in[m.To] = append(plan.in[m.To], contribution{m.From, src, dst, m.Bytes})
	}
	s := &Schedule{Algorithm: plan.algorithm(), Call: Call{P: p, M: largest}, Unit: largest}
	plan.lay(s, order)
	return s, nil
}

// rounds are the messages that each rank sends and receives, with their offsets.
type rounds struct {
	out, in [][]contribution
}

// A contribution is a message to or from a rank, with its offsets in the sender's Send and the receiver's
// Recv.
type contribution struct{ rank, src, dst, bytes int }

func (r *rounds) algorithm() *Algorithm {
	return &Algorithm{Name: "rounds", Collective: &Collective{
		Name: "program", About: "each rank gets what others send it", M: "the longest message",
		Brings: func(_ Call, rank int) Span {
			bytes := 0
			for _, c := range r.out[rank] {
				bytes += c.bytes
			}
			return Span{Send, 0, bytes}
		},
		Promise: func(_ Call, rank int) (parts []Part) {
			for _, c := range r.in[rank] {
				parts = append(parts, Part{From: c.rank, Ranks: 1, At: c.src, Bytes: c.bytes})
			}
			return parts
		},
	}}
}

// lay adds the rounds to the schedule.
func (r *rounds) lay(s *Schedule, messages []Envelope) {
	p := s.Call.P
	distance := func(m Envelope) int { return (m.To - m.From + p) % p }
	slices.SortStableFunc(messages, func(a, b Envelope) int {
		return cmp.Or(bits.Len(uint(b.Bytes))-bits.Len(uint(a.Bytes)), distance(a)-distance(b), a.From-b.From)
	})
	for len(messages) > 0 {
		n := slices.IndexFunc(messages, func(m Envelope) bool { return bits.Len(uint(m.Bytes)) != bits.Len(uint(messages[0].Bytes)) })
		if n < 0 {
			n = len(messages)
		}
		// Bit sets of the rounds in which a rank already sends or receives.
		words := 0
		sends, receives := make([][]uint64, p), make([][]uint64, p)
		var all [][]Message
		for _, m := range messages[:n] {
			round := firstFree(sends[m.From], receives[m.To])
			if round == len(all) {
				all = append(all, nil)
				words = round/64 + 1
			}
			set(&sends[m.From], round, words)
			set(&receives[m.To], round, words)
			all[round] = append(all[round], r.message(m))
		}
		for _, round := range all {
			slices.SortStableFunc(round, func(a, b Message) int { return b.Bytes() - a.Bytes() })
			stage := Stage{Phase: "round", Pattern: patternOf(round), Shape: shapeOf(round)}
			s.add(1, len(round), stage, func(_, i int) Message { return round[i] })
		}
		messages = messages[n:]
	}
}

// message is the message with its offsets.
func (r *rounds) message(m Envelope) Message {
	i, _ := slices.BinarySearchFunc(r.out[m.From], m.To, func(c contribution, to int) int { return c.rank - to })
	c := r.out[m.From][i]
	return Message{From: m.From, To: m.To, Src: Span{Send, c.src, m.Bytes}, Dst: Span{Recv, c.dst, m.Bytes}}
}

// firstFree is the first bit that is set in neither.
func firstFree(a, b []uint64) int {
	for i := 0; ; i++ {
		taken := uint64(0)
		if i < len(a) {
			taken |= a[i]
		}
		if i < len(b) {
			taken |= b[i]
		}
		if taken != ^uint64(0) {
			return 64*i + bits.TrailingZeros64(^taken)
		}
	}
}

func set(to *[]uint64, bit, words int) {
	if bit/64 >= len(*to) {
		*to = append(*to, make([]uint64, words-len(*to))...)
	}
	(*to)[bit/64] |= 1 << (bit % 64)
}

// patternOf is Exchange if any rank sends and receives.
func patternOf(round []Message) Pattern {
	sends := make(map[int]bool, len(round))
	for _, m := range round {
		sends[m.From] = true
	}
	if slices.ContainsFunc(round, func(m Message) bool { return sends[m.To] }) {
		return Exchange
	}
	return OneWay
}

// shapeOf is the shape of messages that are sorted by falling size.
func shapeOf(round []Message) (batches []Batch) {
	for _, m := range round {
		if n := len(batches); n > 0 && batches[n-1].Bytes == m.Bytes() {
			batches[n-1].Count++
		} else {
			batches = append(batches, Batch{1, m.Bytes()})
		}
	}
	return batches
}
