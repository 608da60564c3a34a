package model

import (
	"cmp"
	"slices"

	"github.com/taulop/taulop/collective"
)

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
	for _, b := range s.Blocks {
		for i := range b.Stages {
			if b.Stages[i].Pattern == collective.OneWay {
				for msg := range firstMessages(&b.Stages[i]) {
					sent = max(sent, s.Footprint(msg.From))
					break
				}
			}
		}
	}
	return s.Call.M, most, cmp.Or(sent, most)
}

// bothWays reports whether messages of a block are not one way.
func bothWays(b collective.Block) bool {
	return slices.ContainsFunc(b.Stages, func(s collective.Stage) bool {
		return s.Pattern == collective.Exchange || s.Pattern == collective.Transfer
	})
}
