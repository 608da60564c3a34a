package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// MLogNP is the model mlog_nP of Tu, Fan, Zhan and Zhao, "Accurate Analytical Models for Message
// Passing on Multi-core Clusters" (2009): log_nP with m levels of communication, each with its own
// overhead. Equation numbers here are theirs.
//
// Within a node a message takes n = 2 transfers, eqs. (1), (4) and (5): T = o_mw + l_mw = 2f(s,1) +
// 2f(s,d), where f(s,1) is one transfer of s bytes between two CPUs of the level and f(s,d) the
// additional time of elements d bytes apart, 0 if contiguous. The sender is busy with the first
// half, the receiver with the second. Between nodes n = 3: T = o_mw + l_mw + o_net, as packets
// are contiguous, l_net = 0 (section II.A), and the network keeps neither busy.
//
// A schedule costs its critical path, as in section IV.B: a linear broadcast occupies the root for
// the sum of (o_mw + l_mw)/2 over its P−1 messages, each of its own level, then come o_net of the last
// message and its receiver's half; a binomial one costs the sum of T over the messages on the way to
// the last leaf. The paper's log_3P includes the last half of the linear broadcast, its 2log_{2,3}P
// does not; here it is included, so that P = 2 is eq. (4), and m = 1 is log_3P: P·(o_mw + l_mw)/2 +
// o_net, and log2 P·T where P is a power of two.
//
// Like log_nP it has no concurrency.
type MLogNP struct {
	Levels     []Level
	Ranks      int // with a CPU
	Reductions Reductions
	Operator   string // of reductions; "" means "sum"

	level func(a, b int) int // of two ranks, −1: unknown
}

// A Level has the parameters of one of the m levels.
type Level struct {
	Name     string
	Transfer *params.Curve // f(s,1) at each end, in seconds
	Stride   *params.Curve // f(s,d) at each end; nil: messages are contiguous
	Network  *params.Curve // o_net between nodes, n = 3; nil within a node, n = 2
}

// Remedies where mlog_nP lacks the CPUs of ranks, or times between them.
var (
	ErrUnplaced = errors.New("choose another placement")
	ErrUnpaired = errors.New("measure all pairs, or take fewer ranks")
)

// MLogNPOf is mlog_nP of a file with pairs of CPUs, for ranks on the CPUs of a placement, by default the
// plan's first. It fails without pairs or placement.
func MLogNPOf(f *params.File, placement numa.Policy) (MLogNP, error) {
	pairs, err := f.Pairs()
	if err != nil {
		return MLogNP{}, err
	}
	if placement == "" && len(f.Plan.Policies) > 0 {
		placement = f.Plan.Policies[0]
	}
	at := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == placement })
	if at < 0 {
		return MLogNP{}, fmt.Errorf("the file does not say which CPUs ranks of placement %s are on: %w", placement, ErrUnplaced)
	}
	cpus := lists.Map(f.Placements[at].Workers, func(w numa.Worker) int { return w.ID })
	m := MLogNP{Ranks: len(cpus)}
	for i, l := range pairs.Levels {
		m.Levels = append(m.Levels, Level{Name: l.Name, Transfer: pairs.Curve(i)})
	}
	known := f.Provenance.Levels
	m.level = func(a, b int) int {
		switch {
		case max(a, b) >= len(cpus):
			return -1
		case len(known) == 0: // all pairs are of one level
			return 0
		}
		i := known.Of(cpus[a], cpus[b])
		return slices.IndexFunc(pairs.Levels, func(l params.PairLevel) bool { return i >= 0 && l.Name == known[i].Name })
	}
	return m, nil
}

// stride sets f(s,d) of elements d = stride bytes apart of each level: the measured one, else the time of
// packing alone.
func (m MLogNP) stride(f *params.File, packing *params.Curve, stride int, offCache bool) {
	for i := range m.Levels {
		l := &m.Levels[i]
		if between, err := f.Latency(l.Name, stride, offCache); err == nil {
			l.Stride = between
		} else {
			l.Stride = packing
		}
	}
}

// NetworkLevel is the level of a network: o_mw is o(m) and the copies through shared memory, as between
// the closest CPUs, which L(m,τ) leaves out; o_net is L(m,1).
func (m MLogNP) NetworkLevel(n params.Network, t *params.Table) Level {
	l := Level{Name: n.Name, Transfer: &params.Curve{}, Network: &params.Curve{}}
	for i, bytes := range t.Transfers.Sizes {
		half := t.Overheads[i] / 2
		if n.Copies > 0 && len(m.Levels) > 0 {
			half += timeAt(m.Levels[0].Transfer, bytes, 1) * float64(n.Copies) / 2
		}
		for c, seconds := range map[*params.Curve]float64{l.Transfer: half, l.Network: timeAt(&t.Transfers, bytes, 1)} {
			c.Sizes, c.Times = append(c.Sizes, bytes), append(c.Times, []float64{seconds})
		}
	}
	return l
}

// Across is the model for ranks on several such nodes: messages between nodes are at the level
// network, others at the level of their CPUs. node is a rank's node, slot its number there, from 0.
func (m MLogNP) Across(network Level, node, slot func(rank int) int) MLogNP {
	within, between := m.level, len(m.Levels)
	m.Levels = append(slices.Clone(m.Levels), network)
	m.Ranks = math.MaxInt // ranks beyond a node's CPUs have no level
	m.level = func(a, b int) int {
		if node(a) != node(b) {
			return between
		}
		return within(slot(a), slot(b))
	}
	return m
}

// Reduced is 2log_{2,3}P, section III.B: two levels, m = 2. All messages within a node are as between
// the closest cores, all others through the network.
func (m MLogNP) Reduced() MLogNP {
	closest := slices.IndexFunc(m.Levels, func(l Level) bool { return l.Network == nil && l.Name != numa.Siblings })
	return m.as(func(level int) int {
		if closest < 0 || m.Levels[level].Network != nil {
			return level
		}
		return closest
	})
}

// One is log_3P: all messages are as through the network, or without one as between the CPUs farthest
// apart.
func (m MLogNP) One() MLogNP { return m.as(func(int) int { return len(m.Levels) - 1 }) }

// as replaces levels.
func (m MLogNP) as(other func(level int) int) MLogNP {
	level := m.level
	m.level = func(a, b int) int {
		if l := level(a, b); l >= 0 {
			return other(l)
		}
		return -1
	}
	return m
}

// part is a part of a message on a chain: f(s,1), f(s,d), o_net or l_net; or a γ.
type part struct {
	before *part
	term   Term
	end    float64 // seconds
}

func (p *part) done() float64 {
	if p == nil {
		return 0
	}
	return p.end
}

// later is the part that ends later.
func later(a, b *part) *part {
	if b.done() > a.done() {
		return b
	}
	return a
}

// Cost is the cost of a schedule. It fails where a reduction has no γ, for too many messages, for more
// than Ranks, and for messages at a level that was not measured.
func (m MLogNP) Cost(s *collective.Schedule) (Cost, error) {
	if s.Call.P > m.Ranks {
		return Cost{}, fmt.Errorf("%s: the file says where %d ranks are, and P = %d: take fewer ranks", s.Algorithm, m.Ranks, s.Call.P)
	}
	if s.Call.P > mostMessages {
		return Cost{}, fmt.Errorf("%s: P = %d %w", s.Algorithm, s.Call.P, ErrTooMany)
	}
	y := symbolsOf(s, 0)
	last := make([]*part, s.Call.P) // of each rank's chain
	left := mostMessages
	if s.Levels > 0 {
		if err := m.tree(s, y, last); err != nil {
			return Cost{}, err
		}
	} else {
		for _, step := range s.Steps() {
			if err := m.step(s, y, step, last, &left); err != nil {
				return Cost{}, err
			}
		}
	}
	var end *part
	for _, h := range last {
		end = later(end, h)
	}
	c := Cost{Symbols: y}
	var all sum
	for h := end; h != nil; h = h.before {
		all.add(h.term)
	}
	slices.Reverse(all.terms)
	for i := range all.terms {
		t := &all.terms[i]
		t.Times, c.Extrapolated = float64(t.Count.Fixed), c.Extrapolated || t.Extrapolated
	}
	c.Terms, c.Seconds = all.terms, total(all.terms)
	return c, nil
}

// mostMessages bounds the messages of a schedule that are evaluated one by one.
const mostMessages = 1 << 18

// ErrTooMany: a model follows messages one by one.
var ErrTooMany = fmt.Errorf("makes more than %d messages, which this model follows one by one: take fewer ranks, larger chunks, or another model", mostMessages)

// step adds a stage to the chains of ranks: all sends in the order of messages, then all receives.
func (m MLogNP) step(s *collective.Schedule, y Symbols, step collective.Step, last []*part, left *int) error {
	if step.Pattern == collective.Local {
		return nil
	}
	var sent []*part
	for msg := range step.Messages() {
		if *left--; *left < 0 {
			return fmt.Errorf("%s: P = %d %w", s.Algorithm, s.Call.P, ErrTooMany)
		}
		level := m.level(msg.From, msg.To)
		if level < 0 {
			return m.unmeasured(s, msg.From, msg.To)
		}
		last[msg.From] = m.transfer(last[msg.From], level, msg.Bytes(), y)
		sent = append(sent, m.network(last[msg.From], level, msg.Bytes(), y))
	}
	for msg := range step.Messages() {
		last[msg.To] = m.transfer(later(last[msg.To], sent[0]), m.level(msg.From, msg.To), msg.Bytes(), y)
		if sent = sent[1:]; step.Reduce {
			t := y.one("γ", msg.Bytes(), 1)
			var err error
			if t.Seconds, t.Extrapolated, err = gamma(m.Reductions, m.Operator, t); err != nil {
				return fmt.Errorf("%s: %w", s.Algorithm, err)
			}
			last[msg.To] = &part{last[msg.To], t, last[msg.To].done() + t.Seconds}
		}
	}
	return nil
}

func (m MLogNP) unmeasured(s *collective.Schedule, from, to int) error {
	return fmt.Errorf("%s: ranks %d and %d are at a level of which no pair of CPUs was measured: %w", s.Algorithm, from, to, ErrUnpaired)
}

// transfer is one end of a message: f(s,1), and f(s,d) if it is strided.
func (m MLogNP) transfer(before *part, level, bytes int, y Symbols) *part {
	l := m.Levels[level]
	h := newPart(before, "f["+l.Name+"]", l.Transfer, bytes, y)
	if l.Stride != nil && bytes > 0 {
		h = newPart(h, "l["+l.Name+"]", l.Stride, bytes, y)
	}
	return h
}

// network is the part of a message between its ends, none within a node.
func (m MLogNP) network(sent *part, level, bytes int, y Symbols) *part {
	l := m.Levels[level]
	if l.Network == nil {
		return sent
	}
	return newPart(sent, "o_net["+l.Name+"]", l.Network, bytes, y)
}

func newPart(before *part, parameter string, of *params.Curve, bytes int, y Symbols) *part {
	t := y.one(parameter, bytes, 0)
	t.Seconds, t.Extrapolated = of.At(bytes, 1)
	return &part{before, t, before.done() + t.Seconds}
}

// tree counts a tree of transfers, which the model cannot represent, as log_nP does: one message for
// each of its levels, between the root and the rank farthest from it.
func (m MLogNP) tree(s *collective.Schedule, y Symbols, last []*part) error {
	message := func(before *part, level int) *part {
		return m.transfer(m.network(m.transfer(before, level, s.Call.M, y), level, s.Call.M, y), level, s.Call.M, y)
	}
	var worst int // level
	end := -1.0
	for to := 1; to < s.Call.P; to++ {
		level := m.level(0, to)
		if level < 0 {
			return m.unmeasured(s, 0, to)
		}
		if h := message(nil, level); h.end > end {
			worst, end = level, h.end
		}
	}
	for range s.Levels {
		last[0] = message(last[0], worst)
	}
	return nil
}
