package model

import (
	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// A crowd is all data that go through a rank's cache in one call. Copying part of them costs at
// least its share of a copy, or of a reduction, that fills the cache as the call does.
type crowd struct {
	bytes int // that a rank touches: its own, and what it reads of others
}

// crowdOf is the crowd of a call over single copies, whose receivers read the senders' memory.
// Messages alone have none: the rest of the call is unknown.
func crowdOf(s *collective.Schedule) crowd {
	if s == nil || s.Algorithm == nil {
		return crowd{}
	}
	_, bytes, _ := touched(s)
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

// cost is the time of m bytes, given alone, the time of any number by itself. Each byte of the call
// touches `each` bytes; of times in sizes the smallest is the same however much follows.
func (c crowd) cost(alone curve, sizes []int, each, m, tau int) (seconds float64, extrapolated bool) {
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

// among looks a curve up in a crowd; each byte touches `each` bytes.
func (c crowd) among(of *params.Curve, each int) curve {
	return func(m, tau int) (float64, bool) { return c.cost(of.At, of.Sizes, each, m, tau) }
}

// crowdedReductions are reductions in a crowd.
type crowdedReductions struct {
	of *params.Gamma
	crowd
}

// Gamma is the file's γ, and at least its share of what fills the cache.
func (c crowdedReductions) Gamma(operator string, m, tau int) (seconds float64, extrapolated bool, err error) {
	of, err := c.of.Operator(operator)
	if err != nil {
		return 0, false, err
	}
	seconds, extrapolated = c.among(&of.Curve, 2)(m, tau)
	return seconds, extrapolated, nil
}
