package model

import (
	"math"

	"github.com/taulop/taulop/params"
)

// levelTimes are the measured times of messages at one level.
type levelTimes struct {
	name          string
	message       *params.Curve // T(m)
	fanout        *params.Curve // F(m,τ); nil: unknown
	fanoutMessage *params.Curve // T(m) of the level of fanout
	gap           *params.Curve // between two messages in streams of τ pairs; nil: unknown
	perByte       float64       // seconds, of large messages
	network       bool
	groupCores    int // cores of the largest group
}

// timeAt is a curve's time in seconds, extrapolated or not.
func timeAt(c *params.Curve, m, tau int) float64 {
	t, _ := c.At(m, tau)
	return t
}

// latency is T(0), o of the model.
func (l *levelTimes) latency() float64 { return timeAt(l.message, 0, 1) }

// setPerByte derives perByte from messages of at most 1 MiB and of a quarter of that.
func (l *levelTimes) setPerByte() {
	largest := min(1<<20, l.message.Sizes[len(l.message.Sizes)-1])
	l.perByte = max(0, (timeAt(l.message, largest, 1)-timeAt(l.message, largest/4, 1))/float64(largest-largest/4))
}

// singleCopy is T(m) of a message whose sender does not wait: a single copy. Ping-pongs below rendezvous
// bytes are buffered; there the line through the ping-pongs of rendezvous bytes and of twice as many goes
// on, but no message takes less than its share of the first.
func (l *levelTimes) singleCopy(bytes, rendezvous int) (seconds float64, extrapolated bool) {
	if l.network || bytes >= rendezvous {
		return l.message.At(bytes, 1)
	}
	first, extrapolated := l.message.At(rendezvous, 1)
	second, beyond := l.message.At(2*rendezvous, 1)
	share := float64(bytes) / float64(rendezvous)
	if beyond {
		return first * share, true
	}
	return max(first*share, first-(1-share)*(second-first)), extrapolated
}

// largestTau is the largest τ of a curve.
func largestTau(c *params.Curve) int { return c.Taus[len(c.Taus)-1] }

// senderTime is how long each of several buffered messages keeps its sender busy, by the largest
// fan-out: in smaller ones start skew weighs as much. Without a fan-out it is one of the two
// transfers with half of o.
func (l *levelTimes) senderTime(bytes int) float64 {
	switch {
	case l.network && l.gap != nil:
		return timeAt(l.gap, bytes, 1)
	case l.fanout == nil || largestTau(l.fanout) < 2:
		return max(timeAt(l.message, bytes, 1), l.latency()) / 2
	}
	tau := largestTau(l.fanout)
	return max(timeAt(l.fanout, bytes, tau)-timeAt(l.fanoutMessage, bytes, 1), 0) / float64(tau-1)
}

// transfer is L(m,τ) of single copies, given L(m,1).
func (l *levelTimes) transfer(bytes, tau int, alone, latency float64) float64 {
	switch {
	case tau < 2:
		return alone
	case l.fanout == nil && (l.network || l.groupCores > 0): // only the time of the bytes is the memory's
		return alone + float64(tau-1)*min(alone, l.perByte*float64(bytes))
	case l.fanout == nil:
		return l.withinBounds(bytes, tau, alone)
	}
	measured := largestTau(l.fanout)
	return max(alone, (timeAt(l.fanout, bytes, min(tau, measured))-latency)*max(1, float64(tau)/float64(measured)))
}

// withinBounds is L(m,τ) where only the bounds of eq. (8) are known, L(m,1) and τL(m,1): their geometric
// mean, which is wrong by a factor of √τ at most.
func (l *levelTimes) withinBounds(bytes, tau int, alone float64) float64 {
	return alone + (math.Sqrt(float64(tau))-1)*min(alone, l.perByte*float64(bytes))
}

// adapterTimes are how long an adapter is busy with one of many messages. In each direction it is a
// τ-th of the gap in streams of the most pairs; else the time of its bytes, after, in both directions
// together, half of the additional time that an empty message keeps its sender busy compared with one
// within a node, where there is no adapter: the other half is that of the other node's adapter.
func (h *Hierarchy) adapterTimes(network *levelTimes, bytes int) (handling, direction float64) {
	if network.gap != nil {
		pairs := largestTau(network.gap)
		return 0, timeAt(network.gap, bytes, pairs) / float64(pairs)
	}
	if farthest := h.network - 1; farthest >= 0 && network.fanout != nil && h.levels[farthest].fanout != nil {
		handling = max(0, network.senderTime(0)-h.levels[farthest].senderTime(0)) / 2
	}
	return handling, network.perByte * float64(bytes)
}

// memoryTime is how long a memory is busy with one of many buffered messages: its bytes at the
// bandwidth of the largest fan-out, of single copies or of such messages, whichever is higher. A
// level of fewer cores than a memory has is a shared cache, which keeps messages out of the memory.
// In a node without levels the messages of all its ranks take as long as withinBounds says.
func (h *Hierarchy) memoryTime(l *levelTimes, bytes, ranks int) float64 {
	switch {
	case h.levelOf == nil:
		return l.perByte * float64(bytes) / math.Sqrt(float64(ranks))
	case l.fanout == nil || l.groupCores < h.sharers:
		return 0
	}
	tau, size := largestTau(l.fanout), max(bytes, h.SingleCopy)
	single, buffered := timeAt(l.fanout, size, tau)-l.latency(), timeAt(l.fanout, bytes, tau)-l.latency()
	return max(0, min(buffered, single*float64(bytes)/float64(size))) / float64(tau)
}

// A messageClass is the messages of one size at one level, with all that their times depend on,
// in seconds.
type messageClass struct {
	level        *levelTimes
	bytes        int
	singleCopy   bool    // else through a buffer
	latency      float64 // o = T(0)
	alone        float64 // T(m)
	afterReceive float64 // additional time of a buffered message if its sender has received before
	forwarded    float64 // additional time of a single copy of bytes that have just arrived
	overhead     float64 // of a receiver that waits, once for all that it waits for
	receiverTime float64 // of the second transfers of a buffered message
	queueTime    float64 // in which no other message enters the receiver's queue
	handling     float64 // of a buffered message, at either adapter, of messages in both directions
	adapterTime  float64 // of a buffered message, after that, of messages in its direction
	memoryTime   float64 // of a buffered message, for each of both memories
	senderTime   float64 // how long each of several messages keeps its sender busy
	extrapolated bool

	transfers []float64 // L(m,τ) of single copies by τ; 0: not yet computed
}

// class is the class of messages whose senders wait for each, or do not, among at most ranks of a node.
func (h *Hierarchy) class(level, bytes int, waits bool, ranks int) *messageClass {
	l := &h.levels[level]
	// Buffered between SingleCopy and Rendezvous bytes because its sender waits.
	blocking := waits && bytes >= h.SingleCopy && bytes < h.Rendezvous
	c := &messageClass{bytes: bytes, level: l, latency: l.latency(), singleCopy: bytes >= h.SingleCopy && !blocking}
	if c.alone, c.extrapolated = l.message.At(bytes, 1); c.singleCopy {
		c.alone, c.extrapolated = l.singleCopy(bytes, h.Rendezvous)
	}
	c.alone = max(c.alone, c.latency)
	transfers := c.alone - c.latency
	pieces := 1.0
	if blocking {
		pieces = float64(bytes) / float64(h.SingleCopy)
	}
	if c.overhead, c.receiverTime = h.levels[0].latency()/2, transfers*pieces/(pieces+1); !l.network {
		c.queueTime = c.latency / 4
	}
	switch {
	case blocking:
		c.senderTime = c.latency/2 + c.receiverTime
	case l.network && l.gap == nil && l.fanout == nil && h.levelOf != nil:
		// Half of T(m) would be the way through the network, in which the sender has no part.
		c.senderTime = h.levels[h.network-1].senderTime(bytes)
	default:
		c.senderTime = l.senderTime(bytes)
	}
	switch {
	case l.network:
		if !c.singleCopy {
			c.handling, c.adapterTime = h.adapterTimes(l, bytes)
		}
	case c.singleCopy && h.levelOf != nil: // else a network's times stand in, which no cache affects
		c.forwarded = min(transfers, l.perByte*float64(bytes))
	case !c.singleCopy:
		c.memoryTime = h.memoryTime(l, bytes, ranks)
		if h.levelOf != nil {
			c.afterReceive = c.latency
		}
	}
	return c
}

// transfer is L(m,τ) of a single copy among τ that leave a memory, or arrive in it.
func (c *messageClass) transfer(tau int) float64 {
	if tau >= len(c.transfers) {
		c.transfers = append(c.transfers, make([]float64, tau+1-len(c.transfers))...)
	}
	if c.transfers[tau] == 0 {
		c.transfers[tau] = c.level.transfer(c.bytes, tau, c.alone-c.latency, c.latency)
	}
	return c.transfers[tau]
}

// distinctTransfer is L(m,τ) of copies of different bytes of one sender. They do not contend for
// the same pages, as the readers of a fan-out do: F(m,τ) counts for them up to τ of a memory's cores. Without
// a fan-out they take withinBounds for any τ.
func (h *Hierarchy) distinctTransfer(c *messageClass, tau int) float64 {
	switch {
	case c.level.network || h.sharers == 0:
		return c.transfer(tau)
	case c.level.fanout == nil:
		return c.level.withinBounds(c.bytes, tau, c.alone-c.latency)
	}
	return c.transfer(min(tau, h.sharers))
}
