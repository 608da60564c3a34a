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
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Hierarchy is τ-Lop for a machine of which is known, level by level, what a message
// alone takes, T(m), and perhaps how long one rank needs to feed τ others, F(m,τ). Its
// levels are channels, and the memories that messages leave and arrive in are what they
// share.
//
// A message takes one of two ways, as in MPI libraries:
//
//   - Up to SingleCopy bytes it is two transfers through a buffer, eq. (11): T(m) = o + 2L(m,1).
//     The sender is busy with the first and sends one message after another; the
//     receiver is busy with the second. What a sender is busy for each message is
//     (F(m,τ) − T(m))/(τ−1), or where F is not known half of o and two thirds of the rest.
//   - From there on it is one transfer, T(m) = o + L(m,1), and a rank's messages are under
//     way together. Of τ messages that leave a memory at once, or arrive in it, each takes
//     L(m,τ) = max(L(m,1), F(m,τ) − o), or max(L(m,1), τL(m,1)), a serial channel, the upper
//     bound of eq. (8), where F is not known and up to 16 cores share the memory. o is T(0).
//   - Where ping-pongs change to one transfer at a larger size, Waiting, messages between the
//     two sizes take T(m) if their sender waits for each, as that of a ping-pong does: piece by
//     piece through the buffer, with which both ranks are busy side by side.
//
// Transfers through buffers between ranks that share no cache carry as many bytes out of a
// memory, and into it, as the shortest single copies, if F is known.
//
// A memory is that of a NUMA node, and between nodes their adapter, which messages of
// either way share. What several levels take of a memory they take in turn: each message
// has its τ-th part of the time.
//
// Messages through buffers to one rank enter them one after another, which keeps their senders
// waiting. What came piece by piece while its receiver was busy is only moved to its place.
//
// Ping-pongs and linear broadcasts send over and over what nobody has written since. A rank
// that passes on what has just arrived has it in the caches of its core, from which lines
// must come first: that is one more transfer, L(m,1), of a single copy, and of two transfers, of
// which one reads, o and one more transfer unless both ranks share a cache. No factor of this is
// fitted to collectives.
//
// Messages begin when both ranks have come so far, and no stage waits for another: the
// schedule is followed rank by rank, see progress. A cost is that of the slowest rank.
type Hierarchy struct {
	SingleCopy int // bytes from which on messages are copied once
	Waiting    int // the same of messages whose sender waits for each, as ping-pongs do; no less
	Reductions Reductions
	Operator   string // of reductions; "" means "sum"

	levels  []channel        // from the closest on
	within  [][]int8         // level of two cores of a node; nil: of all the closest
	memory  []int            // of each core, whose messages share it
	crowd   int              // most cores of a memory
	cores   []int            // of a node, in the order in which launchers fill it
	between int              // level of ranks on different nodes, −1: none
	cluster *Cluster         // nil: ranks fill nodes core by core
	trial   map[[2]int]trial // by level and bytes, while parameters are estimated
}

// A channel is what is known of messages at a level.
type channel struct {
	name    string
	message *params.Curve // T(m)
	single  *params.Curve // T(m) of single copies, from SingleCopy on
	fanout  *params.Curve // F(m,τ), nil: unknown
	sender  *params.Curve // T(m) of the level that F is of
	gap     *params.Curve // between two messages of τ pairs; nil: unknown
	relay   *params.Curve // what passing on takes longer; nil: unknown
	perByte float64       // of large single copies, seconds
	shared  bool          // ranks share a cache
	network bool
}

// usualSingleCopy is from how many bytes on MPI libraries copy messages of collectives
// once if nobody says so: their thresholds are 4 to 64 KiB for messages that
// the sender does not wait for.
const usualSingleCopy = 16 << 10

// piece is by how many bytes libraries send longer messages through their buffers.
const piece = 8 << 10

// Warnings of levels.
var (
	errNoLevels = errors.New("it has no messages between two ranks at any level: import them with taulop import")
	errNoFanout = errors.New("it does not say how one sender feeds several receivers: 16 cores' memory counts as a serial channel, which is the upper bound")
	errNoLevel  = errors.New("it has no messages between ranks of a node: they count as those between nodes, but for the adapter")
)

// HierarchyOf is the model of a file that has messages by levels, copied once as by a library.
// Cluster and library may be nil. It fails where the file has no messages.
func HierarchyOf(f *params.File, cluster *Cluster, as *mpi.Library) (*Hierarchy, []error, error) {
	h := &Hierarchy{SingleCopy: usualSingleCopy, between: -1, cluster: cluster}
	if as != nil {
		h.SingleCopy = math.MaxInt
		for i := len(as.Ways) - 1; i >= 0 && as.Ways[i].Single; i-- {
			if h.SingleCopy = 1; i > 0 {
				h.SingleCopy = as.Ways[i-1].Most + 1
			}
		}
	}
	var warnings []error
	var known numa.Levels
	for _, l := range f.LevelTimes() {
		if l.Message == nil {
			continue
		}
		c := channel{name: l.Name, message: l.Message, fanout: l.Fanout, sender: l.Message, gap: l.Gap, relay: l.Relay, network: len(l.Groups) == 0}
		if c.network {
			h.between = len(h.levels)
		} else {
			known = append(known, numa.Level{Name: l.Name, Groups: l.Groups})
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
	last := max(0, len(known)-1)
	h.levels[0].shared = len(known) > 0
	for i := last; i >= 0; i-- { // a level without takes those of the next
		if c := &h.levels[i]; i < last && c.fanout == nil {
			c.fanout, c.sender = h.levels[i+1].fanout, h.levels[i+1].sender
		}
	}
	change := h.change()
	h.Waiting = h.SingleCopy
	if as == nil {
		h.Waiting = max(change, h.SingleCopy)
	}
	for i := range h.levels {
		h.levels[i].singles(h.SingleCopy, change)
	}
	if !slices.ContainsFunc(h.levels, func(c channel) bool { return c.fanout != nil || c.gap != nil }) {
		warnings = append(warnings, errNoFanout)
	}
	return h, warnings, nil
}

// place says which level two cores are at, and what memory is theirs: that of their NUMA
// node, or where no level is called so, of the largest part that is not the whole node.
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
	counts := make(map[int]int)
	for _, core := range h.cores {
		counts[h.memory[core]]++
		h.crowd = max(h.crowd, counts[h.memory[core]])
	}
	cores := make([]int, most+1)
	for core := range cores {
		cores[core] = core
	}
	h.within = known.Between(cores)
	for _, row := range h.within {
		for b, level := range row {
			if level < 0 { // which the farthest has
				row[b] = int8(len(known) - 1)
			}
		}
	}
}

// change is the size from which on ping-pongs are copied once, which may be larger than
// that of collectives, for there senders wait: the largest at which a message of some level
// takes less than a quarter longer than one of half the size, or more than thrice as
// long. 0: there is none.
func (h *Hierarchy) change() (size int) {
	for _, c := range h.levels {
		for i, m := range c.message.Sizes {
			if m < h.SingleCopy || i == 0 || c.network || c.message.Sizes[i-1]*2 != m {
				continue
			}
			if ratio := c.message.Times[i][0] / c.message.Times[i-1][0]; ratio < 1.25 || ratio > 3 {
				size = max(size, m)
			}
		}
	}
	return size
}

// singles works out what single copies take: of a level with a fan-out, its messages to one
// receiver; else T(m), and below the size at which ping-pongs change, the line through the
// next two sizes, which are copied once.
func (c *channel) singles(from, change int) {
	c.single = c.message
	one := c.fanout != nil && c.fanout.Taus[0] == 1
	if sizes := c.message.Sizes; one || change > from && !c.network {
		c.single = &params.Curve{}
		i, _ := slices.BinarySearch(sizes, change)
		for row, m := range sizes {
			t := c.message.Times[row][0]
			switch {
			case m < from:
				continue
			case one:
				t, _ = c.fanout.At(m, 1)
			case m < change && i+1 < len(sizes):
				first, second := c.message.Times[i][0], c.message.Times[i+1][0]
				t = max(c.message.Times[0][0], first-(second-first)*float64(change-m)/float64(sizes[i+1]-change))
			}
			c.single.Sizes, c.single.Times = append(c.single.Sizes, m), append(c.single.Times, []float64{t})
		}
		if len(c.single.Sizes) < 2 {
			c.single = c.message
		}
	}
	largest := min(1<<20, c.single.Sizes[len(c.single.Sizes)-1])
	much, _ := c.single.At(largest, 1)
	less, _ := c.single.At(largest/4, 1)
	c.perByte = max(0, (much-less)/float64(largest-largest/4))
}

// spots are where ranks are: their node, and the core there. It fails where they are more
// than the machine has cores, and on several nodes without a level between nodes.
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

// A class is messages of a size at a level: all that their times depend on, in seconds.
type class struct {
	level, bytes int
	copied       bool    // once, or by both ranks side by side
	both         bool    // piece by piece through a buffer, which keeps both ranks' cores busy
	core         float64 // the part of that time that it keeps either busy
	crowds       bool    // of transfers through buffers: they hold each other up in a memory
	network      bool    // between nodes
	latency      float64 // o = T(0)
	alone        float64 // T(m)
	waited, anew float64 // what it takes longer where the sender has waited for another message, and where it has just got these bytes
	drain        float64 // the receiver's half of two transfers
	adapter      float64 // a node's, of two transfers
	request      float64 // of single copies, what its sender is busy with the request of each
	early        float64 // of both: the part that is over where the sender came long before
	entry        float64 // for how long it keeps others from its receiver's buffers
	extrapolated bool
	from         int     // SingleCopy
	spread       float64 // of messages of a memory those that share a channel
	of           *channel
	shares       []float64 // L(m,τ) of single copies by τ, as far as known; 0: not yet
	gaps         []float64 // what a sender of τ messages is busy with each
	trial        *trial
}

// class is that of messages whose sender waits for each, or does not.
func (h *Hierarchy) class(level, bytes int, waits bool) *class {
	l := &h.levels[level]
	c := &class{level: level, bytes: bytes, of: l, network: l.network, copied: bytes >= h.SingleCopy, from: h.SingleCopy}
	if c.both = c.copied && waits && bytes < h.Waiting; c.both && c.network { // which lets its sender go on
		c.copied, c.both = false, false
	}
	if c.spread = 1; !c.network && l.fanout == nil && h.crowd > channelCores {
		c.spread = channelCores / float64(h.crowd)
	}
	c.latency = l.latency()
	if c.copied && !c.both {
		c.alone, c.extrapolated = l.single.At(bytes, 1)
	} else {
		c.alone, c.extrapolated = l.message.At(bytes, 1)
	}
	c.alone = max(c.alone, c.latency)
	closest, moved := h.levels[0].latency(), c.alone-c.latency
	c.drain = (moved + min(closest, c.latency)) / 2
	switch {
	case c.network:
		c.waited = c.latency
		if !c.copied {
			c.adapter = h.passes(l, bytes)
		}
	case c.copied && !c.both:
		c.anew = min(moved, l.perByte*float64(bytes))
		c.request = l.request(h.SingleCopy)
	default:
		c.crowds = !l.shared && l.fans() && h.crowd > 1 && c.share(h.crowd) > moved+c.alone/50
		if c.both && moved > 0 {
			first, _ := l.message.At(piece, 1)
			c.core = max(0.5, 1-max(0, first-c.latency)/2/moved)
			c.early = moved * senderAhead
		}
		if c.waited = c.latency; !l.shared { // of two transfers the one that reads
			c.anew = moved / 2
		}
	}
	if !c.copied && !c.network {
		if c.entry = max(closest*closestEntry, c.latency*entryPart); c.crowds {
			c.entry = max(c.entry, c.share(h.crowd)/float64(h.crowd))
		}
	}
	if c.both { // of which timings say nothing
		return c
	}
	if r := l.relay; r != nil && bytes >= r.Sizes[0] && bytes <= r.Sizes[len(r.Sizes)-1] {
		t, _ := r.At(bytes, 1)
		c.passOn(t)
	}
	if t, there := h.trial[[2]int{level, bytes}]; there {
		c.trial = &t
		c.passOn(t.relay)
	}
	return c
}

// passOn sets what passing on takes longer, of empty messages waiting alone.
func (c *class) passOn(longer float64) {
	c.waited = min(c.waited, longer)
	if c.bytes == 0 {
		c.waited = longer
	}
	c.anew = longer - c.waited
}

// latency is T(0), o of the model.
func (c *channel) latency() float64 {
	t, _ := c.message.At(0, 1)
	return t
}

// passes is what an adapter is busy with one of many messages: a part of what streams of
// most pairs show; else its bytes, and what a sender of empty messages is busy with for longer
// than in a node, where there is no adapter.
func (h *Hierarchy) passes(c *channel, bytes int) float64 {
	if c.gap != nil {
		most := c.gap.Taus[len(c.gap.Taus)-1]
		t, _ := c.gap.At(bytes, most)
		return t / float64(most)
	}
	more := 0.0
	if far := h.between - 1; far >= 0 && c.fanout != nil && h.levels[far].fanout != nil {
		most := c.fanout.Taus[len(c.fanout.Taus)-1]
		more = c.busy(0, most, c.latency()) - h.levels[far].busy(0, most, h.levels[far].latency())
	}
	return max(0, more) + c.perByte*float64(bytes)
}

// share is L(m,τ) of a single copy among τ that leave a memory, or arrive in it.
func (c *class) share(tau int) float64 {
	if tau >= len(c.shares) {
		c.shares = append(c.shares, make([]float64, tau+1-len(c.shares))...)
	}
	if t := c.trial; t != nil && c.copied && !math.IsNaN(t.share) {
		return c.alone - c.latency + float64(max(0, tau-1))*t.share
	}
	if c.shares[tau] == 0 {
		c.shares[tau] = c.carried(tau)
	}
	return c.shares[tau]
}

// carried is L(m,τ), which several copies of a library's share as what is copied once does. Of
// two transfers a memory carries as many bytes in a time as of the shortest single copies.
func (c *class) carried(tau int) float64 {
	alone := c.alone - c.latency
	switch {
	case tau < 2:
		return alone
	case c.copied && !c.both:
		return c.of.share(c.bytes, tau, alone, c.latency)
	}
	bytes := max(c.bytes, c.from)
	single, _ := c.of.single.At(bytes, 1)
	single = max(0, single-c.latency)
	all := c.of.share(bytes, tau, single, c.latency)
	if c.both {
		return max(alone, all)
	}
	fixed := max(0, single-c.of.perByte*float64(bytes)) // is not of the memory
	return max(alone, (all-fixed)*float64(c.bytes)/float64(bytes))
}

func (c *channel) share(bytes, tau int, alone, latency float64) float64 {
	switch {
	case tau < 2:
		return alone
	case c.network && c.gap != nil:
		t, _ := c.gap.At(bytes, tau)
		return max(alone, t)
	case c.fanout == nil: // what does not depend on the bytes is not of the memory
		return alone + float64(tau-1)*min(alone, c.perByte*float64(bytes))
	}
	most := c.fanout.Taus[len(c.fanout.Taus)-1]
	t, _ := c.fanout.At(bytes, min(tau, most))
	return max(alone, (t-latency)*max(1, float64(tau)/float64(most)))
}

// gap is what a sender is busy with each of so many messages, one after another.
func (c *class) gap(messages int) float64 {
	if messages >= len(c.gaps) {
		c.gaps = append(c.gaps, make([]float64, messages+1-len(c.gaps))...)
	}
	if t := c.trial; t != nil && !math.IsNaN(t.share) {
		return t.share
	}
	if c.gaps[messages] == 0 {
		c.gaps[messages] = c.of.busy(c.bytes, messages, c.alone)
	}
	return c.gaps[messages]
}

// channelCores are the most cores whose memory counts as one serial channel where no fan-out
// says what it carries. Both memories of which somebody measured it, of 12 and of 16 cores,
// carry one or two copies at a time; what more cores have counts as several, and what one rank
// sends to many as one.
const channelCores = 16

// fewReceivers are not told apart from when they begin: a fan-out shows what a sender is
// busy with each message where there are more.
const fewReceivers = 8

// sendersPart is of what the bytes of two transfers take the sender's part where no fan-out says
// it: a core that writes where another one has read takes longer than one that reads.
const sendersPart = 2. / 3

// senderAhead is the part of a message that goes piece by piece which is over when its receiver
// comes late: its pieces have been written, by the faster of both ranks' copies, and are read
// twice, out of the buffers and to their place.
const senderAhead = 1. / 3

// entryPart is of an empty message the part for which its sender has the head of the receiver's
// queue: one of some four cache lines that move, to the sender and to the receiver; and
// closestEntry the least of it, half of that of the closest ranks.
const entryPart, closestEntry = 1. / 4, 1. / 2

// fans tells whether a fan-out to many receivers is known.
func (c *channel) fans() bool {
	return c.fanout != nil && c.fanout.Taus[len(c.fanout.Taus)-1] >= fewReceivers
}

func (c *channel) busy(bytes, messages int, alone float64) float64 {
	if !c.fans() {
		if c.network { // which a sender has little part in
			return alone / 2
		}
		o := min(alone, c.latency())
		return o/2 + sendersPart*(alone-o)
	}
	tau := min(max(messages, fewReceivers), c.fanout.Taus[len(c.fanout.Taus)-1])
	all, _ := c.fanout.At(bytes, tau)
	first, _ := c.sender.At(bytes, 1)
	return max(all-first, 0) / float64(tau-1)
}

// request is what a sender is busy with the request of each of many single copies, which the
// shortest tell.
func (c *channel) request(shortest int) float64 {
	if !c.fans() {
		return c.latency() / 2
	}
	return c.busy(shortest, c.fanout.Taus[len(c.fanout.Taus)-1], 0)
}

// Cost is the cost of a schedule: what its slowest rank takes, as the chain of messages
// that it waits for. Mean of a barrier is that of one barrier after another, as benchmarks
// have them. It fails where a reduction has no γ, for too many messages, and for
// ranks that are nowhere.
func (h *Hierarchy) Cost(s *collective.Schedule) (Cost, error) { return h.costWithin(s, math.Inf(1)) }

// costWithin is the cost of a schedule if it is not above so many seconds, else errAbove.
func (h *Hierarchy) costWithin(s *collective.Schedule, most float64) (Cost, error) {
	calls := 1
	barrier := s.Algorithm != nil && s.Algorithm.Collective == collective.Barrier
	if barrier {
		calls = 2
	}
	p, err := h.follow(s, calls, most)
	if err != nil {
		return Cost{}, fmt.Errorf("%s: %w", s.Algorithm, err)
	}
	c := Cost{Symbols: symbolsOf(s, 0)}
	slowest := 0
	done := p.calls[0]
	for r, t := range done {
		if t > done[slowest] {
			slowest = r
		}
		if barrier { // others enter the next while the slowest has not left
			t = p.calls[1][r] - t
		}
		c.Mean += t / float64(len(done))
	}
	c.Seconds = done[slowest]
	c.Terms, c.Extrapolated = p.chain(slowest, c.Symbols), p.beyond
	for _, t := range c.Terms {
		c.Extrapolated = c.Extrapolated || t.Extrapolated
	}
	if p.crosses && h.levels[h.between].gap == nil {
		c.Spread = unknownAdapter
	}
	return c, nil
}

// unknownAdapter is the Spread of ranks on several nodes where nothing says what many of them
// stream at once: who sends, and from which socket, makes as much of a difference.
const unknownAdapter = 0.2

// hierarchy makes a model of messages by levels.
func (p *Predictor) hierarchy(f *params.File) error {
	h, warnings, err := HierarchyOf(f, p.Cluster, p.As)
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
const LevelsRule = "beyond the largest m the line through the last two measured goes on; single copies of fewer bytes than " +
	"any that was measured as such take as long as the shortest; and a reduction without γ takes as long as a transfer between the closest ranks"

// Gamma stands for a γ that nobody measured: what a transfer of the two vectors takes
// between the closest ranks, as extrapolated.
func (h *Hierarchy) Gamma(_ string, m, _ int) (seconds float64, extrapolated bool, err error) {
	c := &h.levels[0]
	t, _ := c.message.At(min(m, h.SingleCopy-1), 1)
	part := max(1, float64(m)/float64(h.SingleCopy))
	return max(0, (t-c.latency())/2) * part, true, nil
}
