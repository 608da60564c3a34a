package model

import (
	"fmt"
	"math"
	"sort"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// Library is τ-Lop as the authors' C++ library computes it, for comparing with
// its results. Messages are Whole, T(m,τ) = o(m) + 2L(m,τ), and it differs from
// TauLop in what it takes for a time that the tables do not have:
//
//   - τ beyond the largest measured counts as the largest;
//   - a message larger than the largest measured, M, costs T(M) + T(m−M);
//   - the rows of γ are read with the sizes of the transfers' table;
//   - a rank that has reduced for less than γ of the smallest size counts as
//     having reduced one byte. Where γ falls between the smallest size and m, as
//     in one published file at 64 B, ranks that reduce at once are then held up
//     and fall out of step; see drift.
type Library struct {
	Table    *params.Table
	Gamma    *params.Gamma // may be nil where nothing is reduced
	Operator string        // of reductions; "" means "sum"
}

// LibraryRule is in words what Library takes a time for that was not measured.
const LibraryRule = "τ beyond the largest counts as the largest; m beyond the largest costs as many of the largest as fit in it, and the rest"

// maxDrifting bounds the ranks that are followed one by one.
const maxDrifting = 1024

// Cost is the cost of a schedule. Where ranks fall out of step it has no formula.
func (l Library) Cost(s *collective.Schedule) (Cost, error) {
	times := clamped{l.Table, l.Gamma}
	m := TauLop{Parameters: times, Operator: l.Operator, Transport: Whole}
	if l.Gamma != nil {
		m.Reductions = times
	}
	cost, err := m.Cost(s)
	if err != nil || !l.drifts(cost) {
		return cost, err
	}
	if s.Call.P > maxDrifting {
		return Cost{}, fmt.Errorf("%s: the library lets ranks fall out of step here, which is followed for at most %d ranks, got P = %d", s.Algorithm, maxDrifting, s.Call.P)
	}
	cost.Seconds, err = drift{times, m.Operator}.schedule(s)
	cost.Terms, cost.Stages = nil, nil
	return cost, err
}

// drifts tells whether some γ is less than that of the smallest size.
func (l Library) drifts(c Cost) bool {
	smallest := l.Table.Transfers.Sizes[0]
	for _, t := range c.Terms {
		if t.Parameter != "γ" || t.Tau == 1 {
			continue // alone, nobody falls behind
		}
		at := t
		at.Bytes = smallest
		if first, _, err := gamma(clamped{l.Table, l.Gamma}, l.Operator, at); err == nil && t.Seconds < first {
			return true
		}
	}
	return false
}

// clamped reads tables by the library's rules.
type clamped struct {
	table *params.Table
	gamma *params.Gamma
}

func (c clamped) L(m, tau int) (seconds float64, extrapolated bool) {
	taus := c.table.Transfers.Taus
	beyond := tau > taus[len(taus)-1]
	tau = min(tau, taus[len(taus)-1])
	seconds, extrapolated = c.add(m, func(m int) (float64, bool) { return c.table.L(m, tau) })
	return seconds, extrapolated || beyond
}

func (c clamped) O(m int) (seconds float64, extrapolated bool) { return c.add(m, c.table.O) }

func (c clamped) Gamma(operator string, m, _ int) (seconds float64, extrapolated bool, err error) {
	curve, err := c.operator(operator)
	if err != nil {
		return 0, false, err
	}
	seconds, extrapolated = c.add(m, func(m int) (float64, bool) { return curve.At(m, 1) })
	return seconds, extrapolated, nil
}

// operator is γ over the sizes of the transfers' table.
func (c clamped) operator(name string) (*params.Curve, error) {
	o, err := c.gamma.Operator(name)
	if err != nil {
		return nil, err
	}
	sizes := c.table.Transfers.Sizes
	if len(o.Sizes) != len(sizes) {
		return nil, fmt.Errorf("γ has %d sizes and L has %d; the library wants the same", len(o.Sizes), len(sizes))
	}
	return &params.Curve{Sizes: sizes, Taus: o.Taus, Times: o.Times}, nil
}

// add reads a time at m bytes as the sum of as many times at the largest size as
// it takes, and the time of the rest.
func (c clamped) add(m int, at func(m int) (float64, bool)) (seconds float64, extrapolated bool) {
	sizes := c.table.Transfers.Sizes
	largest := sizes[len(sizes)-1]
	if m <= largest {
		return at(m)
	}
	whole := (m - 1) / largest
	most, _ := at(largest)
	rest, _ := at(m - whole*largest)
	return float64(whole)*most + rest, true
}

// drift follows ranks that fall out of step, as the library does: each carries
// out its messages and reductions in turn. Messages on the way at the same time
// share the channel; reductions do not disturb each other. What takes the
// shortest, at the concurrency of the moment, is finished and its time added;
// everything else advances by the bytes that fit into that time.
type drift struct {
	times    clamped
	operator string
}

// work is a message or a reduction that a rank has still to do.
type work struct {
	reduce bool
	bytes  int
	tau    int // transfers that a message takes at once
}

// schedule adds up blocks. Within a block ranks do not wait for each other.
// The two messages that partners exchange are one piece of work with two transfers
// where the algorithm is Paired; everywhere else each rank does its own.
func (d drift) schedule(s *collective.Schedule) (float64, error) {
	curve, err := d.times.operator(d.operatorName())
	if err != nil {
		return 0, err
	}
	var seconds float64
	for _, b := range s.Blocks {
		ranks := make([][]work, s.Call.P)
		for r := range b.Repeat {
			for i := range b.Stages {
				step := collective.Step{Stage: &b.Stages[i], Repetition: r}
				if step.Pattern == collective.Local {
					continue
				}
				for m := range step.Messages() {
					tau := 1
					if s.Algorithm.Paired && step.Pattern == collective.Exchange {
						if tau = 2; m.From > m.To {
							continue
						}
					}
					ranks[m.From] = append(ranks[m.From], work{bytes: m.Bytes(), tau: tau})
					if m.Reduce {
						ranks[m.From] = append(ranks[m.From], work{reduce: true, bytes: m.Bytes()})
					}
				}
			}
		}
		seconds += d.run(ranks, curve)
	}
	return seconds, nil
}

func (d drift) operatorName() string {
	if d.operator == "" {
		return "sum"
	}
	return d.operator
}

func (d drift) run(ranks [][]work, curve *params.Curve) (seconds float64) {
	for {
		// All messages at once, as small as the smallest and with all transfers.
		message := work{bytes: math.MaxInt}
		shortest, by := math.Inf(1), -1
		for _, todo := range ranks {
			if len(todo) > 0 && !todo[0].reduce {
				message.bytes = min(message.bytes, todo[0].bytes)
				message.tau += todo[0].tau
			}
		}
		transmission := func(m int) float64 {
			l, _ := d.times.L(m, message.tau)
			o, _ := d.times.O(m)
			return o + 2*l
		}
		reduction := func(m int) float64 {
			g, _ := d.times.add(m, func(m int) (float64, bool) { return curve.At(m, 1) })
			return g
		}
		for rank, todo := range ranks {
			if len(todo) == 0 {
				continue
			}
			takes := 0.0
			if todo[0].reduce {
				takes = reduction(todo[0].bytes)
			} else {
				takes = transmission(message.bytes)
			}
			if takes < shortest {
				shortest, by = takes, rank
			}
		}
		if by < 0 {
			return seconds
		}
		seconds += shortest

		byMessage := !ranks[by][0].reduce
		for rank, todo := range ranks {
			if len(todo) == 0 {
				continue
			}
			done := 0
			switch {
			case byMessage && !todo[0].reduce:
				done = message.bytes
			case rank == by:
				done = todo[0].bytes
			case todo[0].reduce:
				done = d.bytes(shortest, reduction)
			default:
				done = d.bytes(shortest, transmission)
			}
			if todo[0].bytes -= done; todo[0].bytes <= 0 {
				ranks[rank] = todo[1:]
			}
		}
	}
}

// bytes is how far something gets in a time. Before the first size's time it is
// one byte, or none if it is less than a hundredth.
func (d drift) bytes(seconds float64, takes func(m int) float64) int {
	sizes := d.times.table.Transfers.Sizes
	// The first size that takes longer, if times are rising or not.
	next := 0
	for next < len(sizes) && takes(sizes[next]) <= seconds {
		next++
	}
	switch {
	case next == 0 && takes(sizes[0]) > 100*seconds:
		return 0
	case next == 0:
		return 1
	case next == len(sizes):
		largest := sizes[next-1]
		rest := seconds - takes(largest)
		if rest <= 0 {
			return largest
		}
		return largest + d.bytes(rest, takes)
	}
	low, high := sizes[next-1], sizes[next]
	return low + sort.Search(high-low, func(m int) bool { return takes(low+m) >= seconds })
}
