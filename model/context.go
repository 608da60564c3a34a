package model

import (
	"iter"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// InContext is parameters of segments for the messages of one call. What a
// segment costs depends on the bytes that its rank touches: in cache, those of a
// long message come from farther away than those of a short one. So a whole
// segment is looked up in the message of which a worker touches as much, and only
// what is no segment of it at its own size.
type InContext struct {
	Parameters     // rows beyond a segment are what L(S,τ) becomes in such messages
	Segment    int // S
	Message    int // m of that message
}

// L is that of Parameters, of a segment that of the message's row.
func (c InContext) L(m, tau int) (seconds float64, extrapolated bool) {
	if m == c.Segment {
		m = max(m, c.Message)
	}
	return c.Parameters.L(m, tau)
}

// A crowd is all that goes through a rank's cache in one call. A copy of some of it costs no
// less than its share of a copy, or of a reduction, that fills the cache as the call does.
type crowd struct {
	bytes int // that a rank touches: its own, and what it reads of others
}

// crowdOf is that of a call over single copies, whose receivers read the senders' memory. Of
// messages by themselves nobody knows what else their ranks do.
func crowdOf(s *collective.Schedule) crowd {
	if s == nil || s.Algorithm == nil {
		return crowd{}
	}
	_, bytes := touched(s)
	one := 0
	for _, block := range s.Blocks {
		for i := range block.Stages {
			switch stage := &block.Stages[i]; stage.Pattern {
			case collective.Exchange:
				bytes += block.Repeat * stage.Shape[0].Bytes
			case collective.OneWay, collective.Transfer:
				one = max(one, stage.Shape[0].Bytes)
			}
		}
	}
	return crowd{bytes + one}
}

// cost is what m bytes take, given what any number takes by itself. Of those that fill the
// cache as the call does, each touches so many bytes for each of its own; of the times in
// sizes, that of the smallest is the same however much follows.
func (c crowd) cost(alone func(m, tau int) (seconds float64, extrapolated bool), sizes []int, each, m, tau int) (seconds float64, extrapolated bool) {
	seconds, extrapolated = alone(m, tau)
	if len(sizes) == 0 {
		return seconds, extrapolated
	}
	least, full := sizes[0], min(c.bytes/each, sizes[len(sizes)-1])
	if m <= least || full <= m {
		return seconds, extrapolated
	}
	first, _ := alone(least, tau)
	all, _ := alone(full, tau)
	share := float64(m-least) / float64(full-least)
	return max(seconds, first+share*(all-first)), extrapolated
}

// among are copies, each from one place to another.
func (c crowd) among(of *params.Curve) func(m, tau int) (seconds float64, extrapolated bool) {
	return func(m, tau int) (float64, bool) { return c.cost(of.At, of.Sizes, 2, m, tau) }
}

// crowdedTransfers are single copies in a crowd.
type crowdedTransfers struct {
	*params.Table
	crowd
	each int
}

// L is that of the table, and no less than its share of what fills the cache.
func (c crowdedTransfers) L(m, tau int) (seconds float64, extrapolated bool) {
	return c.cost(c.Table.L, c.Transfers.Sizes, c.each, m, tau)
}

// writtenTransfers are single copies out of what their senders copied there in the same call,
// beyond what those copies take by themselves. For each byte so many are touched, of which
// the copy touches two.
type writtenTransfers struct {
	crowdedTransfers
	copies *params.Curve
}

// L is that of the table, less its copy.
func (w writtenTransfers) L(m, tau int) (seconds float64, extrapolated bool) {
	both, extrapolated := w.crowdedTransfers.L(m, tau)
	own, _ := crowd{max(w.bytes, w.each*m)}.among(w.copies)(m, tau)
	return max(0, both-own), extrapolated
}

// written tells whether some message of a stage comes out of what its sender wrote in the same
// call: whatever is not what the rank brought. Of stages of many the first messages tell.
func written(s *collective.Schedule, stage *collective.Stage) bool {
	for msg := range firstMessages(stage) {
		if given := s.Brings(msg.From); given.Buffer != msg.Src.Buffer || given.Bytes == 0 {
			return true
		}
	}
	return false
}

// arrivesAtHand tells whether messages of a stage arrive where their receivers were before in
// the call, most of them, and so in their caches, wherever users have their data. What is to
// be reduced arrives in the library's own memory, which is, like all temporary buffers.
func (m TauLop) arrivesAtHand(stage *collective.Stage) bool {
	if _, to := buffersOf(stage); to == collective.Temp {
		return true
	}
	if m.Call == nil {
		return false
	}
	var into []collective.Span // of one receiver
	receiver, bytes := 0, 0
	for msg := range firstMessages(stage) {
		if len(into) == 0 {
			receiver = msg.To
		}
		if msg.To == receiver {
			into = append(into, msg.Dst)
			bytes += msg.Dst.Bytes
		}
	}
	for i := range m.Call.Blocks {
		for j := range m.Call.Blocks[i].Stages {
			before := &m.Call.Blocks[i].Stages[j]
			if before == stage {
				return false
			}
			there := 0
			for msg := range firstMessages(before) {
				if msg.To != receiver {
					continue
				}
				for _, dst := range into {
					if msg.Dst.Buffer == dst.Buffer {
						there += max(0, min(msg.Dst.Offset+msg.Dst.Bytes, dst.Offset+dst.Bytes)-max(msg.Dst.Offset, dst.Offset))
					}
				}
			}
			if 2*there > bytes {
				return true
			}
		}
	}
	return false
}

// firstMessages are those that a stage begins with, which tell for all where there are many.
func firstMessages(stage *collective.Stage) iter.Seq[collective.Message] {
	const enough = 1 << 12
	return func(yield func(collective.Message) bool) {
		n := 0
		for msg := range (collective.Step{Stage: stage}).Messages() {
			if n++; !yield(msg) || n == enough {
				return
			}
		}
	}
}

// crowdedReductions are reductions in a crowd.
type crowdedReductions struct {
	of *params.Gamma
	crowd
}

// Gamma is that of the file, and no less than its share of what fills the cache.
func (c crowdedReductions) Gamma(operator string, m, tau int) (seconds float64, extrapolated bool, err error) {
	of, err := c.of.Operator(operator)
	if err != nil {
		return 0, false, err
	}
	seconds, extrapolated = c.among(&of.Curve)(m, tau)
	return seconds, extrapolated, nil
}
