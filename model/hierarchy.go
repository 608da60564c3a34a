package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Hierarchy is τ-Lop for a machine whose messages were measured level by level: T(m), the time
// of a lone message, and perhaps F(m,τ), the time of a fan-out until the last of τ receivers of
// one sender is done. Levels are channels, and messages contend for the memories that they leave
// and arrive in. A memory is a NUMA node's; between nodes it is their adapter.
//
// As in MPI libraries there are two protocols:
//
//   - Eager, below SingleCopy bytes: two transfers through a buffer, eq. (11), T(m) = o + 2L(m,1)
//     with o = T(0). The sender makes the first, in (F(m,τ) − T(m))/(τ−1), without F in T(m)/2,
//     and several messages one after another. The receiver makes the second.
//   - Rendezvous, from SingleCopy bytes on: a single copy by the receiver's core, T(m) = o + L(m,1).
//     Of τ copies that leave a memory at once, or arrive in it, each takes
//     L(m,τ) = max(L(m,1), F(m,τ) − o); without F τL(m,1), a serial channel and the upper bound of
//     eq. (8). Copies of different bytes of one sender contend less, see distinctTransfer; in a node
//     without levels all messages do, see withinBounds.
//
// A sender that waits for each message, as in a ping-pong, uses the buffer up to Rendezvous bytes, in
// pieces of SingleCopy bytes: sender and receiver copy k of them in k of k+1 steps, eq. (10).
//
// Buffered messages enter the receiver's queue one at a time, each for a quarter of its level's o, one
// of four moves of a cache line: the queue's and the message's, to the sender and to the receiver. With
// a fan-out, and in a node without levels, they also pass through the memories one after another, see
// memoryTime. The sender is busy until then.
//
// A rank that forwards what has just arrived from another rank of its node takes longer than in a
// ping-pong, whose bytes stay unwritten: through buffers by o, for flags in other cores' caches, in
// single copies by L(m,1), for bytes in another core's cache. Answers to the last source take no
// longer, and nothing does where the file has no levels of a node. No factor is fitted to collectives.
//
// A rank goes on when its own messages are over, see simulation. A cost is the slowest rank's.
type Hierarchy struct {
	SingleCopy int // bytes from which on messages are single copies
	Rendezvous int // the same where the sender waits for each message; at least SingleCopy
	Reductions Reductions
	Operator   string // of reductions; "" means "sum"

	levels    []levelTimes // from the closest on
	levelOf   [][]int8     // by two cores of a node; nil: the closest for all
	memoryOf  []int        // by core
	sharers   int          // most cores of a memory
	coreOrder []int        // cores of a node, as launchers fill them
	network   int          // index of the level between nodes, −1: none
	cluster   *Cluster     // nil: ranks fill nodes core by core
}

// usualSingleCopy is the least size of single copies where no library is named. MPI libraries begin
// at 4 to 64 KiB where the sender does not wait.
const usualSingleCopy = 16 << 10

// Warnings of levels.
var (
	errNoLevels = errors.New("it has no messages between two ranks at any level: import them with taulop import")
	errNoFanout = errors.New("it does not say how one sender feeds several receivers: memories count as serial channels, the upper bound, for equal bytes, and less for different ones")
	errNoLevel  = errors.New("it has no messages between ranks of a node: those between nodes stand in, without the adapter, and contention in a node's memory is a guess")
)

// hierarchy makes a model of messages by levels. It fails where the file has no messages.
func (p *Predictor) hierarchy(f *params.File) error {
	h := &Hierarchy{SingleCopy: usualSingleCopy, Operator: p.Operator, network: -1, cluster: p.Cluster}
	var names []string
	var known numa.Levels
	for _, l := range f.LevelTimes() {
		if l.Message == nil {
			continue
		}
		times := levelTimes{name: l.Name, message: l.Message, fanout: l.Fanout, fanoutMessage: l.Message, gap: l.Gap, network: len(l.Groups) == 0}
		if times.network {
			h.network = len(h.levels)
		} else {
			known = append(known, numa.Level{Name: l.Name, Groups: l.Groups})
			times.groupCores = lists.Most(l.Groups, numa.CPUSet.Len)
		}
		h.levels = append(h.levels, times)
	}
	switch {
	case len(h.levels) == 0:
		return errNoLevels
	case len(known) == 0: // the network's times stand in within a node
		within := h.levels[0]
		within.network, within.fanout, within.gap = false, nil, nil
		h.levels, h.network = append([]levelTimes{within}, h.levels...), h.network+1
		p.Warnings = append(p.Warnings, errNoLevel)
	default:
		h.placeCores(f.Provenance.Levels, known)
	}
	for i := len(known) - 2; i >= 0; i-- { // a level without a fan-out takes the next one's
		if l := &h.levels[i]; l.fanout == nil {
			l.fanout, l.fanoutMessage = h.levels[i+1].fanout, h.levels[i+1].fanoutMessage
		}
	}
	h.Rendezvous = max(h.rendezvousSize(), h.SingleCopy)
	for i := range h.levels {
		l := &h.levels[i]
		l.setPerByte()
		names, p.Largest = append(names, l.name), max(p.Largest, l.message.Sizes[len(l.message.Sizes)-1])
	}
	if !slices.ContainsFunc(h.levels, func(l levelTimes) bool { return l.fanout != nil || l.gap != nil }) {
		p.Warnings = append(p.Warnings, errNoFanout)
	}
	if p.Gamma == nil {
		p.Gamma, _ = f.Gamma(params.Published)
	}
	if h.Reductions = h; p.Gamma != nil {
		h.Reductions = p.Gamma
		_, p.NoGamma = p.Gamma.Operator(cmp.Or(p.Operator, "sum"))
	}
	p.Channel = "messages by levels: " + strings.Join(slices.Compact(names), ", ")
	p.in, p.levels = func(*collective.Schedule) Coster { return h }, h
	return nil
}

// placeCores finds the level of two cores, and the memory of each core: its NUMA node's, or without
// a level of that name the largest part's that is not the whole node.
func (h *Hierarchy) placeCores(all, known numa.Levels) {
	memory := slices.IndexFunc(all, func(l numa.Level) bool {
		return len(l.Groups) > 0 && strings.Contains(strings.ToLower(l.Name), "numa")
	})
	if memory < 0 {
		for i, l := range all {
			if len(l.Groups) > 1 {
				memory = i
			}
		}
	}
	h.coreOrder = mapping.Cores(all)
	last := slices.Max(h.coreOrder)
	h.memoryOf = make([]int, last+1)
	if memory >= 0 {
		for i, group := range all[memory].Groups {
			for _, core := range group {
				h.memoryOf[core] = i
			}
		}
	}
	sharers := make(map[int]int) // cores, by memory
	for _, core := range h.coreOrder {
		sharers[h.memoryOf[core]]++
		h.sharers = max(h.sharers, sharers[h.memoryOf[core]])
	}
	h.levelOf = known.Between(lists.Indices(last + 1))
	for _, row := range h.levelOf {
		for b, level := range row {
			if level < 0 { // as the farthest
				row[b] = int8(len(known) - 1)
			}
		}
	}
}

// rendezvousSize is the size from which on ping-pongs are single copies: the largest, at least
// SingleCopy, at which a message within a node takes no longer than one of half the size. 0: none.
func (h *Hierarchy) rendezvousSize() (size int) {
	for _, l := range h.levels {
		for i, m := range l.message.Sizes {
			if m < h.SingleCopy || i == 0 || l.network || l.message.Sizes[i-1]*2 != m {
				continue
			}
			if l.message.Times[i][0] <= l.message.Times[i-1][0] {
				size = max(size, m)
			}
		}
	}
	return size
}

// locate finds the node and the core of each rank. It fails for more ranks than the machine
// has cores, and on several nodes without a level between nodes.
func (h *Hierarchy) locate(ranks int) (nodes, cores []int, err error) {
	nodes, cores = make([]int, ranks), make([]int, ranks)
	cluster := h.cluster
	switch {
	case cluster.several() || cluster != nil && cluster.Order.Ranks() > 0: // a list names cores of one node, too
		place, err := cluster.place(ranks)
		if err != nil {
			return nil, nil, err
		}
		for r := range ranks {
			nodes[r], cores[r] = place.Node(r), place.Core(r)
			if cluster.Order.Ranks() == 0 && cores[r] < len(h.coreOrder) {
				cores[r] = h.coreOrder[cores[r]]
			}
		}
	default:
		for r := range ranks {
			if cores[r] = r; len(h.coreOrder) > 0 {
				nodes[r], cores[r] = r/len(h.coreOrder), h.coreOrder[r%len(h.coreOrder)]
			}
		}
	}
	if ranks > 0 && slices.Max(nodes) > 0 && h.network < 0 {
		return nil, nil, fmt.Errorf("%d ranks are on several nodes of %d cores, and the file has no messages between nodes: take fewer ranks, or import these too", ranks, len(h.coreOrder))
	}
	if len(h.coreOrder) == 0 || ranks == 0 {
		return nodes, cores, nil
	}
	if core := slices.Max(cores); core >= len(h.levelOf) {
		return nil, nil, fmt.Errorf("core %d is none of the %d that the file knows the levels of: place ranks on these", core, len(h.coreOrder))
	}
	return nodes, cores, nil
}

// Cost is the cost of a schedule: the slowest rank's time, and as terms the messages that it waited
// for. With something Between two calls it is the second call's, from where each rank leaves that. It
// fails where a reduction has no γ, for too many messages, and for ranks without a core.
func (h *Hierarchy) Cost(s *collective.Schedule) (Cost, error) { return h.costWithin(s, math.Inf(1)) }

// costWithin is the cost of a schedule; it fails with errAbove where this is above limit seconds.
func (h *Hierarchy) costWithin(s *collective.Schedule, limit float64) (Cost, error) {
	sim, err := h.simulate(s, limit)
	if err != nil {
		return Cost{}, fmt.Errorf("%s: %w", s.Algorithm, err)
	}
	c := Cost{Symbols: symbolsOf(s, 0)}
	slowest := 0
	done := sim.done[len(sim.done)-1]
	for r := range done {
		if s.Between != nil {
			done[r] -= sim.done[1][r]
		}
		if done[r] > done[slowest] {
			slowest = r
		}
		c.Mean += done[r] / float64(len(done))
	}
	c.Seconds = done[slowest]
	c.Terms = sim.criticalPath(slowest, c.Symbols)
	c.Extrapolated = sim.extrapolated || slices.ContainsFunc(c.Terms, func(t Term) bool { return t.Extrapolated })
	if sim.usesNetwork && h.levels[h.network].gap == nil {
		c.Spread = spreadBetweenNodes
	}
	return c, nil
}

// spreadBetweenNodes is the Spread of costs on several nodes where no streams were measured: the
// least mean error there of all collectives in docs/accuracy.md with one of the machines left out.
const spreadBetweenNodes = 0.2

// LevelsRule says in words what Hierarchy takes a time for that was not measured.
const LevelsRule = "beyond the largest m the line through the last two measured goes on, and " +
	"a reduction without γ takes as long as a transfer between the closest ranks"

// Gamma stands in for a γ that was not measured: a transfer of both vectors between the closest
// ranks, always extrapolated.
func (h *Hierarchy) Gamma(_ string, m, _ int) (seconds float64, extrapolated bool, err error) {
	l := &h.levels[0]
	pieces := max(1, float64(m)/float64(h.SingleCopy))
	return max(0, (timeAt(l.message, min(m, h.SingleCopy-1), 1)-l.latency())/2) * pieces, true, nil
}
