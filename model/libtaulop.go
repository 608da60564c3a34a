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

// Libtaulop is τ-Lop as the authors' C++ library computes it, for comparison with its results.
// Messages are Whole, T(m,τ) = o(m) + 2L(m,τ). It differs from TauLop:
//
//   - τ beyond the largest measured counts as the largest;
//   - a message larger than the largest measured, M, costs T(M) + T(m−M);
//   - the rows of γ are read with the sizes of the transfers' table;
//   - a binomial scatter sends 1, 2, 4 … blocks in its stages, and not P/2, P/4 … 1;
//   - ranks of a pairwise alltoall also send to themselves;
//   - a reduction that has advanced by less than γ of the smallest size counts as one
//     byte. Where γ falls between the smallest size and m, as in one published file at
//     64 B, ranks that reduce at once are delayed and fall out of step; see drift.
type Libtaulop struct {
	Table    *params.Table
	Gamma    *params.Gamma // may be nil without reductions
	Operator string        // of reductions; "" means "sum"

	Cluster *Cluster // nil: one node
}

// LibtaulopRule says in words how Libtaulop extrapolates.
const LibtaulopRule = "beyond the largest τ the largest counts; m beyond the largest costs as many of the largest as fit in it, and the rest"

// maxDrifting bounds the ranks of a drift.
const maxDrifting = 1024

// Cost is the cost of a schedule, without a formula on several nodes and where ranks fall out of step.
func (l Libtaulop) Cost(s *collective.Schedule) (Cost, error) {
	on, err := l.Cluster.ranks(s)
	if err != nil {
		return Cost{}, err
	}
	s = asInLibrary(s)
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
	d := drift{times: times}
	if s.Algorithm.Reduces() {
		d.gamma, _ = times.operator(cmp.Or(l.Operator, "sum")) // m.Cost has found it
	}
	if l.Cluster.several() {
		d.on, d.net, d.copies = on, clamped{table: l.Cluster.Network.Table}, l.Cluster.Network.Copies
	}
	cost.Seconds, cost.Terms, cost.Stages = d.schedule(s), nil, nil
	return cost, nil
}

// asInLibrary gives a binomial scatter the library's sizes, and a pairwise alltoall its steps.
func asInLibrary(s *collective.Schedule) *collective.Schedule {
	scatter := s.Algorithm != nil && s.Algorithm.String() == "scatter:binomial"
	if !scatter && !isAlltoall(s, "pairwise") {
		return s
	}
	other := *s
	other.Blocks = nil
	bytes := s.Call.M
	for _, b := range s.Blocks {
		stage := b.Stages[0]
		switch {
		case scatter && stage.Pattern == collective.OneWay:
			stage.Shape = []collective.Batch{{Count: stage.Count(), Bytes: bytes}}
			bytes *= 2
		case !scatter && stage.Pattern == collective.Exchange:
			b.Repeat++
		}
		other.Blocks = append(other.Blocks, collective.Block{Repeat: b.Repeat, Stages: []collective.Stage{stage}})
	}
	return &other
}

// isAlltoall tells whether a schedule is the named algorithm of an alltoall.
func isAlltoall(s *collective.Schedule, name string) bool {
	return s.Algorithm != nil && s.Algorithm.Collective == collective.Alltoall && s.Algorithm.Name == name
}

// drifts tells whether some γ of concurrent reductions is below the smallest size's.
func (l Libtaulop) drifts(c Cost) bool {
	smallest := l.Table.Transfers.Sizes[0]
	for _, t := range c.Terms {
		if t.Parameter != "γ" || t.Tau == 1 {
			continue
		}
		least := t
		least.Bytes = smallest
		if first, _, err := gamma(clamped{l.Table, l.Gamma}, l.Operator, least); err == nil && t.Seconds < first {
			return true
		}
	}
	return false
}

// clamped reads tables by LibtaulopRule.
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

// add is the time of m bytes: beyond the largest size of as many of the largest as fit, and the rest.
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

// drift simulates ranks that fall out of step, as the library does: each makes its messages and
// reductions in turn. Concurrent messages to one node share a channel if they come from the node, and
// another one if they come from other nodes. Other messages, and reductions, do not contend. The activity with the least
// time left, at the present concurrency, finishes and its time is added; all others advance by the
// bytes of that time. Of equal ones the last counts as the shortest.
//
// Rounding decides whether one more byte fits, and so whether ranks stay in step. So transmissions
// are computed as in the library: in single precision, and from T of the two sizes around m.
type drift struct {
	times clamped
	gamma *params.Curve // of reductions

	on     *mapping.Map // nil: all ranks are on one node
	net    clamped      // o(m) and L(m,τ) between nodes
	copies int          // of a message between nodes, through memory
}

// work is a rank's message or reduction, or what is left of it.
type work struct {
	reduce  bool
	bytes   int
	tau     int // concurrent transfers of a message
	channel int // of a message: twice the receiver's node, plus one if the sender is on another
}

// schedule adds up stages, at whose ends ranks wait for each other. A ring is one stage, and so is an
// alltoall: in a pairwise one each rank sends to its right neighbour first and to itself last; in a
// linear one it begins with itself and omits its left neighbour.
func (d drift) schedule(s *collective.Schedule) (seconds float64) {
	ranks := make([][]work, s.Call.P)
	if pairwise := isAlltoall(s, "pairwise"); pairwise || isAlltoall(s, "linear") {
		first, steps := 0, s.Call.P-1
		if pairwise {
			first, steps = 1, s.Call.P
		}
		for rank := range ranks {
			for t := range steps {
				d.send(ranks, rank, (rank+first+t)%s.Call.P, s.Call.M, 1)
			}
		}
		return d.run(ranks)
	}
	for _, b := range s.Blocks {
		for r := range b.Repeat {
			for i := range b.Stages {
				step := collective.Step{Stage: &b.Stages[i], Repetition: r}
				if step.Pattern == collective.Local {
					continue
				}
				d.queue(ranks, step, s.Algorithm.Paired)
				if !ring(step.Stage) || r == b.Repeat-1 {
					seconds += d.run(ranks)
				}
			}
		}
	}
	return seconds
}

// ring tells whether ranks send to the same neighbour in every repetition.
func ring(stage *collective.Stage) bool {
	return stage.Peers != nil && !stage.Peers(0).Flip && stage.Peers(0).Distance == stage.Peers(1).Distance
}

// queue adds the work of a step. In Paired algorithms the two messages of an exchange are one piece of
// work with two transfers, to the higher rank; in others each rank has its own.
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
		if w.channel = 2 * d.on.Node(to); d.on.Node(from) != d.on.Node(to) {
			w.channel++
		}
	}
	ranks[from] = append(ranks[from], w)
}

// sizes are a channel's measured sizes.
func (d drift) sizes(channel int) []int {
	if channel%2 == 0 {
		return d.times.table.Transfers.Sizes
	}
	return d.net.table.Transfers.Sizes
}

// measured is T(m,τ) of a channel at a measured size.
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

// A busyChannel is a channel's concurrent messages, as the bytes of the smallest and all transfers.
type busyChannel struct {
	bytes, tau int
	order      int // of its first message among the channels
	seconds    float64
	advance    int // bytes, until the next activity finishes
}

// run does all work of ranks.
func (d drift) run(ranks [][]work) (seconds float64) {
	reduction := func(m int) float64 {
		g, _ := d.times.add(m, func(m int) (float64, bool) { return d.gamma.At(m, 1) })
		return g
	}
	channels := make(map[int]*busyChannel)
	for {
		d.fill(channels, ranks)
		shortest, by, latest := math.Inf(1), -1, 0
		for rank, todo := range ranks {
			if len(todo) == 0 {
				continue
			}
			left, order := 0.0, 0
			if todo[0].reduce {
				left = reduction(todo[0].bytes)
			} else {
				c := channels[todo[0].channel]
				left, order = c.seconds, c.order
			}
			if left < shortest || left == shortest && order > latest {
				shortest, by, latest = left, rank, order
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
			if c.advance = c.bytes; finished.reduce || channel != finished.channel {
				c.advance = bytesIn(shortest, d.sizes(channel), func(m int) float64 { return d.transmission(channel, m, c.tau) })
			}
		}
		for rank, todo := range ranks {
			if len(todo) == 0 {
				continue
			}
			done := 0
			switch {
			case !todo[0].reduce:
				done = channels[todo[0].channel].advance
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

// fill finds the busy channels, in the order of the ranks' first messages.
func (d drift) fill(channels map[int]*busyChannel, ranks [][]work) {
	clear(channels)
	for _, todo := range ranks {
		if len(todo) == 0 || todo[0].reduce {
			continue
		}
		c := channels[todo[0].channel]
		if c == nil {
			c = &busyChannel{bytes: math.MaxInt, order: len(channels) + 1}
			channels[todo[0].channel] = c
		}
		c.bytes = min(c.bytes, todo[0].bytes)
		c.tau += todo[0].tau
	}
	for channel, c := range channels {
		c.seconds = d.transmission(channel, c.bytes, c.tau)
	}
}

// bytesIn is the bytes of a time. Before the first size's time it is one byte, or none before a
// hundredth of it.
func bytesIn(seconds float64, sizes []int, takes func(m int) float64) int {
	next := 0 // the first size that takes longer, whether times rise or not
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
