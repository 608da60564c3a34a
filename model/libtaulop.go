package model

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/params"
)

// Libtaulop is τ-Lop as the authors' C++ library computes it, for comparing with
// its results. Messages are Whole, T(m,τ) = o(m) + 2L(m,τ), and it differs from
// TauLop in what it takes for a time that the tables do not have:
//
//   - τ beyond the largest measured counts as the largest;
//   - a message larger than the largest measured, M, costs T(M) + T(m−M);
//   - the rows of γ are read with the sizes of the transfers' table;
//   - a binomial scatter sends 1, 2, 4 … blocks in its stages, and not P/2, P/4 … 1;
//   - ranks of a pairwise alltoall send to themselves, too;
//   - a rank that has reduced for less than γ of the smallest size counts as
//     having reduced one byte. Where γ falls between the smallest size and m, as
//     in one published file at 64 B, ranks that reduce at once are then held up
//     and fall out of step; see drift.
type Libtaulop struct {
	Table    *params.Table
	Gamma    *params.Gamma // may be nil where nothing is reduced
	Operator string        // of reductions; "" means "sum"

	Cluster *Cluster // nil: one node
}

// LibtaulopRule is in words what Libtaulop takes a time for that was not measured.
const LibtaulopRule = "τ beyond the largest counts as the largest; m beyond the largest costs as many of the largest as fit in it, and the rest"

// maxDrifting bounds the ranks that are followed one by one.
const maxDrifting = 1024

// Cost is the cost of a schedule. On several nodes, and where ranks fall out of step, it
// has no formula.
func (l Libtaulop) Cost(s *collective.Schedule) (Cost, error) {
	on, err := l.Cluster.ranks(s)
	if err != nil {
		return Cost{}, err
	}
	s = asThere(s)
	times := clamped{l.Table, l.Gamma}
	m := TauLop{Channels: Uniform(times), Operator: l.Operator, Transport: Whole}
	if l.Gamma != nil {
		m.Reductions = times
	}
	cost, err := m.Cost(s)
	if err != nil || !l.Cluster.several() && !l.drifts(cost) {
		return cost, err
	}
	if s.Call.P > maxDrifting {
		return Cost{}, fmt.Errorf("%s: the library lets ranks fall out of step here, which is followed for at most %d ranks, got P = %d", s.Algorithm, maxDrifting, s.Call.P)
	}
	d := drift{times: times, operator: m.Operator}
	if l.Cluster.several() {
		d.on, d.net, d.copies = on, clamped{table: l.Cluster.Network.Table}, l.Cluster.Network.Copies
	}
	cost.Seconds, err = d.schedule(s)
	cost.Terms, cost.Stages = nil, nil
	return cost, err
}

// asThere gives a binomial scatter the sizes, and a pairwise alltoall the steps, that they
// have in the library.
func asThere(s *collective.Schedule) *collective.Schedule {
	scatter := s.Algorithm != nil && s.Algorithm.String() == "scatter:binomial"
	if !scatter && !toAll(s, "pairwise") {
		return s
	}
	other := *s
	other.Blocks = nil
	bytes := s.Call.M
	for _, b := range s.Blocks {
		stage := b.Stages[0]
		switch {
		case scatter && stage.Pattern == collective.OneWay:
			stage.Shape = []collective.Batch{{Count: active(&stage), Bytes: bytes}}
			bytes *= 2
		case !scatter && stage.Pattern == collective.Exchange:
			b.Repeat++
		}
		other.Blocks = append(other.Blocks, collective.Block{Repeat: b.Repeat, Stages: []collective.Stage{stage}})
	}
	return &other
}

// toAll tells whether a schedule is that algorithm of an alltoall.
func toAll(s *collective.Schedule, name string) bool {
	return s.Algorithm != nil && s.Algorithm.Collective == collective.Alltoall && s.Algorithm.Name == name
}

// drifts tells whether some γ is below the smallest size's.
func (l Libtaulop) drifts(c Cost) bool {
	smallest := l.Table.Transfers.Sizes[0]
	for _, t := range c.Terms {
		if t.Parameter != "γ" || t.Tau == 1 {
			continue // alone, no rank falls behind
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

// drift follows ranks that fall out of step, as the library does: each carries out its messages and
// reductions in turn. Concurrent messages share their channel where they end on the same node: within
// it, or through the network. Others, and reductions, do not disturb each other. The activity with the
// least time left, at the present concurrency, is finished and its time added; all others advance by
// the bytes that fit into that time. Of equal ones the last counts as the shortest.
//
// Rounding decides whether one byte more fits, and so whether ranks stay in step. So transmissions
// are computed as in the library: in single precision, and from T of the two sizes beside m.
type drift struct {
	times    clamped
	operator string

	on     *mapping.Map // nil: all ranks are on one node
	net    clamped      // o(m) and L(m,τ) between nodes
	copies int          // that a message between nodes takes besides
}

// work is a message or a reduction that a rank has still to do.
type work struct {
	reduce  bool
	bytes   int
	tau     int // transfers that a message takes at once
	channel int // of a message: twice the node where it ends, and one more if it comes from another
}

// schedule adds up stages. Ranks of a stage wait for each other. A ring counts as one, and so does an
// alltoall: a pairwise one, in which every rank sends to its right neighbour first and to itself last,
// and a linear one, in which it begins with itself and leaves out its left neighbour.
func (d drift) schedule(s *collective.Schedule) (float64, error) {
	var curve *params.Curve // of reductions
	if s.Algorithm.Reduces() {
		var err error
		if curve, err = d.times.operator(cmp.Or(d.operator, "sum")); err != nil {
			return 0, err
		}
	}
	ranks := make([][]work, s.Call.P)
	if pairwise := toAll(s, "pairwise"); pairwise || toAll(s, "linear") {
		first, steps := 0, s.Call.P-1
		if pairwise {
			first, steps = 1, s.Call.P
		}
		for rank := range ranks {
			for t := range steps {
				d.send(ranks, rank, (rank+first+t)%s.Call.P, s.Call.M, 1)
			}
		}
		return d.run(ranks, curve), nil
	}
	var seconds float64
	for _, b := range s.Blocks {
		for r := range b.Repeat {
			for i := range b.Stages {
				step := collective.Step{Stage: &b.Stages[i], Repetition: r}
				if step.Pattern == collective.Local {
					continue
				}
				d.queue(ranks, step, s.Algorithm.Paired)
				if !ring(step.Stage) || r == b.Repeat-1 {
					seconds += d.run(ranks, curve)
				}
			}
		}
	}
	return seconds, nil
}

// ring tells whether ranks send to the same neighbour in every repetition.
func ring(stage *collective.Stage) bool {
	return stage.Peers != nil && !stage.Peers(0).Flip && stage.Peers(0).Distance == stage.Peers(1).Distance
}

// queue adds what ranks do in a step. The two messages that partners exchange are one piece
// of work with two transfers, which ends at the higher of them, where the algorithm is
// Paired; everywhere else each rank does its own.
func (d drift) queue(ranks [][]work, step collective.Step, paired bool) {
	for m := range step.Messages() {
		bytes, tau := m.Bytes(), 1
		if len(step.Shape) == 1 {
			bytes = step.Shape[0].Bytes
		}
		if paired && step.Pattern == collective.Exchange {
			if tau = 2; m.From > m.To {
				continue
			}
		}
		d.send(ranks, m.From, m.To, bytes, tau)
		if m.Reduce {
			ranks[m.From] = append(ranks[m.From], work{reduce: true, bytes: bytes})
		}
	}
}

// send adds a message to its sender's work.
func (d drift) send(ranks [][]work, from, to, bytes, tau int) {
	w := work{bytes: bytes, tau: tau}
	if d.on != nil {
		w.channel = 2 * d.on.Node(to)
	}
	if d.between(from, to) {
		w.channel++
	}
	ranks[from] = append(ranks[from], w)
}

// between tells whether two ranks are on different nodes.
func (d drift) between(a, b int) bool { return d.on != nil && d.on.Node(a) != d.on.Node(b) }

// sizes are the sizes that a channel was measured with.
func (d drift) sizes(channel int) []int {
	if channel%2 == 0 {
		return d.times.table.Transfers.Sizes
	}
	return d.net.table.Transfers.Sizes
}

// measured is T(m,τ) of a channel at one of its sizes.
func (d drift) measured(channel, m, tau int) float64 {
	single := func(seconds float64, _ bool) float64 { return float64(float32(seconds)) }
	if channel%2 == 0 {
		return single(d.times.O(m)) + 2*single(d.times.L(m, tau))
	}
	t := single(d.net.O(m))
	if d.copies > 0 {
		t += float64(d.copies) * single(d.times.L(m, tau))
	}
	return t + single(d.net.L(m, tau))
}

// transmission is T(m,τ) of a channel.
func (d drift) transmission(channel, m, tau int) float64 {
	sizes := d.sizes(channel)
	row := sort.SearchInts(sizes, m)
	switch n := len(sizes); {
	case row == n:
		largest := sizes[n-1]
		whole := (m - 1) / largest
		return float64(whole)*d.measured(channel, largest, tau) + d.transmission(channel, m-whole*largest, tau)
	case row == 0 || sizes[row] == m:
		return d.measured(channel, sizes[row], tau)
	}
	low, high := sizes[row-1], sizes[row]
	least, most := d.measured(channel, low, tau), d.measured(channel, high, tau)
	return least + float64(m-low)*(most-least)/float64(high-low)
}

// A share is messages that share a channel: as small as the smallest and with all transfers.
type share struct {
	bytes, tau int
	found      int // place of its first message among all
	takes      float64
	advances   int // bytes, while something else is finished
}

// run carries out all that ranks have to do, and leaves nothing.
func (d drift) run(ranks [][]work, curve *params.Curve) (seconds float64) {
	reduction := func(m int) float64 {
		g, _ := d.times.add(m, func(m int) (float64, bool) { return curve.At(m, 1) })
		return g
	}
	channels := make(map[int]*share)
	for {
		clear(channels)
		found := 0
		for _, todo := range ranks {
			if len(todo) == 0 || todo[0].reduce {
				continue
			}
			c := channels[todo[0].channel]
			if c == nil {
				found++
				c = &share{bytes: math.MaxInt, found: found}
				channels[todo[0].channel] = c
			}
			c.bytes = min(c.bytes, todo[0].bytes)
			c.tau += todo[0].tau
		}
		for channel, c := range channels {
			c.takes = d.transmission(channel, c.bytes, c.tau)
		}
		shortest, by, latest := math.Inf(1), -1, 0
		for rank, todo := range ranks {
			if len(todo) == 0 {
				continue
			}
			takes, found := 0.0, 0
			if todo[0].reduce {
				takes = reduction(todo[0].bytes)
			} else {
				c := channels[todo[0].channel]
				takes, found = c.takes, c.found
			}
			if takes < shortest || takes == shortest && found > latest {
				shortest, by, latest = takes, rank, found
			}
		}
		if by < 0 {
			for rank := range ranks {
				ranks[rank] = ranks[rank][:0]
			}
			return seconds
		}
		seconds += shortest

		finished := ranks[by][0]
		for channel, c := range channels {
			if c.advances = c.bytes; finished.reduce || channel != finished.channel {
				c.advances = bytesIn(shortest, d.sizes(channel), func(m int) float64 { return d.transmission(channel, m, c.tau) })
			}
		}
		for rank, todo := range ranks {
			if len(todo) == 0 {
				continue
			}
			done := 0
			switch {
			case !todo[0].reduce:
				done = channels[todo[0].channel].advances
			case rank == by:
				done = todo[0].bytes
			default:
				done = bytesIn(shortest, d.times.table.Transfers.Sizes, reduction)
			}
			if todo[0].bytes -= done; todo[0].bytes <= 0 {
				ranks[rank] = todo[1:]
			}
		}
	}
}

// bytesIn is how far something gets in a time. Before the first size's time it is
// one byte, or none if it is less than a hundredth.
func bytesIn(seconds float64, sizes []int, takes func(m int) float64) int {
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
		return largest + bytesIn(rest, sizes, takes)
	}
	low, high := sizes[next-1], sizes[next]
	least, most := takes(low), takes(high)
	return low + int(math.Ceil((seconds-least)*float64(high-low)/(most-least)))
}
