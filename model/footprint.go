package model

import (
	"cmp"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// A footprint is the bytes that a rank touches in a call, its own and those that it reads of others.
// Copying or reducing part of them costs at least its share of a copy, or of a reduction, of all.
type footprint struct{ bytes int }

// footprintOf is the footprint of a call over single copies, whose receivers read the senders' memory;
// 0 of a lone message, as the rest of its call is unknown.
func footprintOf(s *collective.Schedule) footprint {
	if s == nil || s.Algorithm == nil {
		return footprint{}
	}
	_, bytes, _ := touched(s)
	oneWay := 0
	for stage, repeat := range s.Stages() {
		switch stage.Pattern {
		case collective.Exchange:
			bytes += repeat * stage.Shape[0].Bytes
		case collective.OneWay, collective.Transfer:
			oneWay = max(oneWay, stage.Shape[0].Bytes)
		}
	}
	return footprint{bytes + oneWay}
}

// buffered is the footprint of a call through intermediate buffers, in which a rank touches bytes of its own: an
// exchange fills one buffer and empties another.
func buffered(s *collective.Schedule, bytes, buffer int) footprint {
	through := 0
	if s != nil {
		for stage := range s.Stages() {
			switch n := min(stage.Shape[0].Bytes, buffer); stage.Pattern {
			case collective.Exchange:
				through = max(through, 2*n)
			case collective.OneWay:
				through = max(through, n)
			}
		}
	}
	return footprint{bytes + through}
}

// of looks a curve up in a call with this footprint; each byte copied touches perByte bytes. Times of
// the smallest size do not depend on the footprint.
func (f footprint) of(measured *params.Curve, perByte int) curve {
	return func(m, tau int) (seconds float64, extrapolated bool) {
		seconds, extrapolated = measured.At(m, tau)
		sizes := measured.Sizes
		smallest, all := sizes[0], min(f.bytes/perByte, sizes[len(sizes)-1])
		if m <= smallest || all <= m {
			return seconds, extrapolated
		}
		first, share := timeAt(measured, smallest, tau), float64(m-smallest)/float64(all-smallest)
		return max(seconds, first+share*(timeAt(measured, all, tau)-first)), extrapolated
	}
}

// singleCopies looks up single copies of a setup. For each byte copied a receiver touches two, source and
// destination, and in an exchange a third, of its send buffer.
func (f footprint) singleCopies(s *measured) curve {
	perByte := 2
	if s.exchange {
		perByte = 3
	}
	return f.of(&s.whole.Transfers, perByte)
}

// reductions are γ in a call with a footprint.
type reductions struct {
	gamma *params.Gamma
	footprint
}

// Gamma is the file's γ, or its share of a reduction of the footprint if that is longer.
func (r reductions) Gamma(operator string, m, tau int) (seconds float64, extrapolated bool, err error) {
	of, err := r.gamma.Operator(operator)
	if err != nil {
		return 0, false, err
	}
	seconds, extrapolated = r.of(&of.Curve, 2)(m, tau)
	return seconds, extrapolated, nil
}

// touched is m of a call, the most bytes that a rank touches, and the most that a sender of one-way
// messages does: where a root receives, senders touch less. It looks at the root, the first, second,
// middle and last rank, and at the sender of each stage's first message.
func touched(s *collective.Schedule) (m, most, sent int) {
	if s == nil {
		return 0, 0, 0
	}
	for _, rank := range []int{0, s.Call.Root, 1, s.Call.P / 2, s.Call.P - 1} {
		if rank < s.Call.P {
			most = max(most, s.Footprint(rank))
		}
	}
	for stage := range s.Stages() {
		if stage.Pattern == collective.OneWay {
			for msg := range firstMessages(stage) {
				sent = max(sent, s.Footprint(msg.From))
				break
			}
		}
	}
	return s.Call.M, most, cmp.Or(sent, most)
}

// bothWays reports whether some messages of a schedule are not one way.
func bothWays(s *collective.Schedule) bool {
	for stage := range s.Stages() {
		if stage.Pattern == collective.Exchange || stage.Pattern == collective.Transfer {
			return true
		}
	}
	return false
}
