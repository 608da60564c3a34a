package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Hierarchy is τ-Lop for a machine whose messages were measured level by level: T(m), the time
// of a message alone, and perhaps F(m,τ), the time until the last of τ receivers of one sender is
// done. Levels are channels, and messages share the memories that they leave and arrive in.
//
// A message takes one of two ways, as in MPI libraries:
//
//   - Below SingleCopy bytes, two transfers through a buffer, eq. (11): T(m) = o + 2L(m,1),
//     o = T(0). The sender is busy with the first, for (F(m,τ) − T(m))/(τ−1), or T(m)/2 where F
//     is not known, and sends one message after another. The receiver is busy with the second.
//   - From there on, one transfer, T(m) = o + L(m,1), which the receiver's core makes. Of τ that
//     leave a memory at once, or arrive in it, each takes L(m,τ) = max(L(m,1), F(m,τ) − o), or
//     τL(m,1), a serial channel and the upper bound of eq. (8), where F is not known.
//
// Where the sender waits for each message, as in a ping-pong, the first way goes up to Waiting
// bytes, and the sender is busy until the receiver is done. Messages of the first way enter the
// queue of their receiver one at a time, each for as long as the receiver is busy with an empty
// one, half of the closest ranks' o; a sender is not done before. Where F is known they also share the
// memories, one after another at the bandwidth of single copies, see carries. Copies of different bytes of one
// sender hold each other up less than those of a fan-out, see various. A memory is that of a NUMA
// node; between nodes it is their adapter.
//
// A rank that passes on what has just arrived within its node takes longer than a ping-pong, which
// sends what nobody has written since: through buffers by o, for flags that other ranks had, else by
// L(m,1), for bytes that are in another core's cache; not where the file knows no levels of a node. An
// answer to the rank heard from last is as in a ping-pong. No factor is fitted to collectives.
//
// Ranks go on when their own messages are over, see progress. A cost is the slowest rank's.
type Hierarchy struct {
	SingleCopy int // bytes from which on messages are copied once
	Waiting    int // the same of messages whose sender waits for each; not below SingleCopy
	Reductions Reductions
	Operator   string // of reductions; "" means "sum"

	levels  []channel // from the closest on
	within  [][]int8  // level of two cores of a node; nil: of all the closest
	memory  []int     // of each core
	crowd   int       // most cores of a memory
	cores   []int     // of a node, in the order in which launchers fill it
	between int       // level of ranks on different nodes, −1: none
	cluster *Cluster  // nil: ranks fill nodes core by core
}

// usualSingleCopy is the size from which on MPI libraries copy messages of collectives once: 4 to
// 64 KiB where the sender does not wait. It counts where no library is named.
const usualSingleCopy = 16 << 10

// Warnings of levels.
var (
	errNoLevels = errors.New("it has no messages between two ranks at any level: import them with taulop import")
	errNoFanout = errors.New("it does not say how one sender feeds several receivers: memories count as serial channels, which is the upper bound")
	errNoLevel  = errors.New("it has no messages between ranks of a node: they count as those between nodes, but for the adapter")
)

// HierarchyOf is the model of a file that has messages by levels. Cluster may be nil. It fails
// where the file has no messages.
func HierarchyOf(f *params.File, cluster *Cluster) (*Hierarchy, []error, error) {
	h := &Hierarchy{SingleCopy: usualSingleCopy, between: -1, cluster: cluster}
	var warnings []error
	var known numa.Levels
	for _, l := range f.LevelTimes() {
		if l.Message == nil {
			continue
		}
		c := channel{name: l.Name, message: l.Message, fanout: l.Fanout, sender: l.Message, gap: l.Gap, network: len(l.Groups) == 0}
		if c.network {
			h.between = len(h.levels)
		} else {
			known = append(known, numa.Level{Name: l.Name, Groups: l.Groups})
			for _, g := range l.Groups {
				c.cores = max(c.cores, len(g))
			}
		}
		h.levels = append(h.levels, c)
	}
	switch {
	case len(h.levels) == 0:
		return nil, nil, errNoLevels
	case len(known) == 0: // whose memories nobody knows
		within := h.levels[0]
		within.network, within.fanout, within.gap = false, nil, nil
		h.levels, h.between = append([]channel{within}, h.levels...), h.between+1
		warnings = append(warnings, errNoLevel)
	default:
		h.place(f.Provenance.Levels, known)
	}
	for i := len(known) - 2; i >= 0; i-- { // a level without a fan-out takes the next one's
		if c := &h.levels[i]; c.fanout == nil {
			c.fanout, c.sender = h.levels[i+1].fanout, h.levels[i+1].sender
		}
	}
	h.Waiting = max(h.change(), h.SingleCopy)
	for i := range h.levels {
		h.levels[i].bytes()
	}
	if !slices.ContainsFunc(h.levels, func(c channel) bool { return c.fanout != nil || c.gap != nil }) {
		warnings = append(warnings, errNoFanout)
	}
	return h, warnings, nil
}

// place finds the level of two cores, and the memory of each core: its NUMA node's, or where no
// level is called so, that of the largest part that is not the whole node.
func (h *Hierarchy) place(all, known numa.Levels) {
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
	h.cores = mapping.Cores(all)
	most := slices.Max(h.cores)
	h.memory = make([]int, most+1)
	if memory >= 0 {
		for i, g := range all[memory].Groups {
			for _, core := range g {
				h.memory[core] = i
			}
		}
	}
	of := make(map[int]int)
	for _, core := range h.cores {
		of[h.memory[core]]++
		h.crowd = max(h.crowd, of[h.memory[core]])
	}
	cores := make([]int, most+1)
	for core := range cores {
		cores[core] = core
	}
	h.within = known.Between(cores)
	for _, row := range h.within {
		for b, level := range row {
			if level < 0 { // as the farthest
				row[b] = int8(len(known) - 1)
			}
		}
	}
}

// change is the size from which on ping-pongs are copied once: the largest, not below SingleCopy,
// at which a message within a node takes no longer than one of half the size. 0: there is none.
func (h *Hierarchy) change() (size int) {
	for _, c := range h.levels {
		for i, m := range c.message.Sizes {
			if m < h.SingleCopy || i == 0 || c.network || c.message.Sizes[i-1]*2 != m {
				continue
			}
			if c.message.Times[i][0] <= c.message.Times[i-1][0] {
				size = max(size, m)
			}
		}
	}
	return size
}

// spots are the nodes of ranks and their cores there. It fails for more ranks than the machine
// has cores, and on several nodes without a level between nodes.
func (h *Hierarchy) spots(ranks int) (nodes, cores []int, err error) {
	nodes, cores = make([]int, ranks), make([]int, ranks)
	switch {
	case h.cluster.several() || h.cluster != nil && h.cluster.Order.Ranks() > 0: // of one node, too, a list says which cores
		place, err := h.cluster.place(ranks)
		if err != nil {
			return nil, nil, err
		}
		for r := range ranks {
			nodes[r], cores[r] = place.Node(r), place.Core(r)
			if h.cluster.Order.Ranks() == 0 && cores[r] < len(h.cores) {
				cores[r] = h.cores[cores[r]]
			}
		}
	default:
		for r := range ranks {
			if cores[r] = r; len(h.cores) > 0 {
				nodes[r], cores[r] = r/len(h.cores), h.cores[r%len(h.cores)]
			}
		}
	}
	if ranks > 0 && slices.Max(nodes) > 0 && h.between < 0 {
		return nil, nil, fmt.Errorf("%d ranks are on several nodes of %d cores, and the file has no messages between nodes: take fewer ranks, or import these too", ranks, len(h.cores))
	}
	if len(h.cores) == 0 {
		return nodes, cores, nil
	}
	for _, core := range cores {
		if core >= len(h.within) {
			return nil, nil, fmt.Errorf("core %d is none of the %d that the file knows the levels of: place ranks on these", core, len(h.cores))
		}
	}
	return nodes, cores, nil
}

// Cost is the cost of a schedule: the slowest rank's time, as the chain of messages that it waits
// for; where something is Between, of the second call, each rank's from where it leaves that. It
// fails where a reduction has no γ, for too many messages, and for ranks that are nowhere.
func (h *Hierarchy) Cost(s *collective.Schedule) (Cost, error) { return h.costWithin(s, math.Inf(1)) }

// costWithin is the cost of a schedule if it is not above so many seconds, else errAbove.
func (h *Hierarchy) costWithin(s *collective.Schedule, most float64) (Cost, error) {
	p, err := h.follow(s, most)
	if err != nil {
		return Cost{}, fmt.Errorf("%s: %w", s.Algorithm, err)
	}
	c := Cost{Symbols: symbolsOf(s, 0)}
	slowest := 0
	done := p.calls[len(p.calls)-1]
	for r := range done {
		if s.Between != nil { // which each leaves at another moment
			done[r] -= p.calls[1][r]
		}
		if done[r] > done[slowest] {
			slowest = r
		}
		c.Mean += done[r] / float64(len(done))
	}
	c.Seconds = done[slowest]
	c.Terms, c.Extrapolated = p.chain(slowest, c.Symbols), p.beyond
	for _, t := range c.Terms {
		c.Extrapolated = c.Extrapolated || t.Extrapolated
	}
	if p.crosses && h.levels[h.between].gap == nil {
		c.Spread = betweenNodes
	}
	return c, nil
}

// betweenNodes is the Spread of costs on several nodes where no streams were measured: the least mean
// error there of all collectives in docs/accuracy.md of which one of the machines is left out.
const betweenNodes = 0.2

// hierarchy makes a model of messages by levels.
func (p *Predictor) hierarchy(f *params.File) error {
	h, warnings, err := HierarchyOf(f, p.Cluster)
	if err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, warnings...)
	h.Operator = p.Operator
	if p.Gamma == nil {
		p.Gamma, p.NoGamma = f.Gamma(params.Published)
	}
	if h.Reductions, p.NoGamma = h, nil; p.Gamma != nil {
		h.Reductions = p.Gamma
		_, p.NoGamma = p.Gamma.Operator(cmp.Or(p.Operator, "sum"))
	}
	var names []string
	for _, l := range h.levels {
		names = append(names, l.name)
		p.Largest = max(p.Largest, l.message.Sizes[len(l.message.Sizes)-1])
	}
	p.Channel = "messages by levels: " + strings.Join(slices.Compact(names), ", ")
	p.in, p.levels = func(*collective.Schedule) Coster { return h }, h
	return nil
}

// LevelsRule says in words what Hierarchy takes a time for that was not measured.
const LevelsRule = "beyond the largest m the line through the last two measured goes on, and " +
	"a reduction without γ takes as long as a transfer between the closest ranks"

// Gamma stands for a γ that was not measured: what a transfer of the two vectors takes
// between the closest ranks, as extrapolated.
func (h *Hierarchy) Gamma(_ string, m, _ int) (seconds float64, extrapolated bool, err error) {
	c := &h.levels[0]
	t, _ := c.message.At(min(m, h.SingleCopy-1), 1)
	part := max(1, float64(m)/float64(h.SingleCopy))
	return max(0, (t-c.latency())/2) * part, true, nil
}
