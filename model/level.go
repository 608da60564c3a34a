package model

import (
	"github.com/taulop/taulop/params"
)

// A channel is what is known of messages at a level.
type channel struct {
	name    string
	message *params.Curve // T(m)
	fanout  *params.Curve // F(m,τ), nil: unknown
	sender  *params.Curve // T(m) of the level that F is of
	gap     *params.Curve // between two messages of τ pairs; nil: unknown
	perByte float64       // of large messages, seconds
	network bool
	cores   int // that its largest group has
}

// latency is T(0), o of the model.
func (c *channel) latency() float64 {
	t, _ := c.message.At(0, 1)
	return t
}

// bytes finds what a byte of large messages takes.
func (c *channel) bytes() {
	largest := min(1<<20, c.message.Sizes[len(c.message.Sizes)-1])
	much, _ := c.message.At(largest, 1)
	less, _ := c.message.At(largest/4, 1)
	c.perByte = max(0, (much-less)/float64(largest-largest/4))
}

// busy is what a sender is busy with each of several messages through buffers, one after another: as
// the largest fan-out tells, for in smaller ones the moments at which ranks begin make as much of a
// difference. Without a fan-out that is one of the two transfers, with half of o.
func (c *channel) busy(bytes int, alone float64) float64 {
	switch {
	case c.network && c.gap != nil:
		t, _ := c.gap.At(bytes, 1)
		return t
	case c.fanout == nil || c.fanout.Taus[len(c.fanout.Taus)-1] < 2:
		return alone / 2
	}
	tau := c.fanout.Taus[len(c.fanout.Taus)-1]
	all, _ := c.fanout.At(bytes, tau)
	first, _ := c.sender.At(bytes, 1)
	return max(all-first, 0) / float64(tau-1)
}

// share is L(m,τ) of single copies, L(m,1) being alone.
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

// passes is what an adapter is busy with one of many messages: a part of the gap in streams of
// most pairs; else its bytes, and what an empty message keeps a sender busy longer than within a
// node, where there is no adapter.
func (h *Hierarchy) passes(c *channel, bytes int) float64 {
	if c.gap != nil {
		most := c.gap.Taus[len(c.gap.Taus)-1]
		t, _ := c.gap.At(bytes, most)
		return t / float64(most)
	}
	more := 0.0
	if far := h.between - 1; far >= 0 && c.fanout != nil && h.levels[far].fanout != nil {
		more = c.busy(0, c.latency()) - h.levels[far].busy(0, h.levels[far].latency())
	}
	return max(0, more) + c.perByte*float64(bytes)
}

// carries is how long a memory is busy with one of many messages through buffers: for its bytes at the
// bandwidth that the largest fan-out of single copies reaches, or that of such messages if it is higher. A cache that fewer cores share than a memory
// has keeps messages between them out of the memory.
func (h *Hierarchy) carries(l *channel, bytes int) float64 {
	if l.fanout == nil || l.cores < h.crowd {
		return 0
	}
	most, size := l.fanout.Taus[len(l.fanout.Taus)-1], max(bytes, h.SingleCopy)
	once, _ := l.fanout.At(size, most)
	through, _ := l.fanout.At(bytes, most)
	return max(0, min(through-l.latency(), (once-l.latency())*float64(bytes)/float64(size))) / float64(most)
}

// A class is messages of a size at a level: all that their times depend on, in seconds.
type class struct {
	of           *channel
	bytes        int
	copied       bool     // once
	waits        bool     // through a buffer, at a size from which on others are copied once
	holds        bool     // its sender until it is received
	latency      float64  // o = T(0)
	alone        float64  // T(m)
	waited, anew float64  // what it takes longer where its sender has waited for another message, and where it has just got these bytes
	drain        float64  // the receiver's half of two transfers
	entry        float64  // for how long it keeps others out of its receiver's queue: drain of an empty message
	adapter      float64  // a node's, of two transfers
	sending      *channel // whose times tell what a sender of several is busy with
	carries      float64  // each memory's, of one of many messages through buffers
	extrapolated bool
	shares       []float64 // L(m,τ) of single copies by τ, as far as known; 0: not yet
	busy         float64   // what a sender of several is busy with each; 0: not yet known
}

// class is that of messages whose sender waits for each, or does not.
func (h *Hierarchy) class(level, bytes int, waits bool) *class {
	l := &h.levels[level]
	c := &class{bytes: bytes, of: l, sending: l, latency: l.latency(), waits: waits && bytes >= h.SingleCopy && bytes < h.Waiting}
	c.copied, c.holds = bytes >= h.SingleCopy && !c.waits, c.waits && !l.network
	c.alone, c.extrapolated = l.message.At(bytes, 1)
	c.alone = max(c.alone, c.latency)
	moved := c.alone - c.latency
	empty := h.levels[0].latency() / 2
	if c.drain = empty + moved/2; !l.network {
		c.entry = empty
	}
	if l.network && l.gap == nil && l.fanout == nil && h.within != nil {
		// Half of T(m) would be the way through the network, which the sender has no part in.
		c.sending = &h.levels[h.between-1]
	}
	switch {
	case l.network:
		if !c.copied {
			c.adapter = h.passes(l, bytes)
		}
	case h.within == nil: // a network's times stand for it, whose flags and bytes no cache has
	case c.copied:
		c.anew = min(moved, l.perByte*float64(bytes))
	default:
		c.waited = c.latency
		c.carries = h.carries(l, bytes)
	}
	return c
}

// share is L(m,τ) of a single copy among τ that leave a memory, or arrive in it.
func (c *class) share(tau int) float64 {
	if tau >= len(c.shares) {
		c.shares = append(c.shares, make([]float64, tau+1-len(c.shares))...)
	}
	if c.shares[tau] == 0 {
		c.shares[tau] = c.of.share(c.bytes, tau, c.alone-c.latency, c.latency)
	}
	return c.shares[tau]
}

// various is L(m,τ) of copies of different bytes of a sender. What many readers of the same pages wait
// for in a fan-out, they do not: they hold each other up no more than as many as a memory has cores.
func (h *Hierarchy) various(c *class, tau int) float64 {
	if c.of.network || h.crowd == 0 {
		return c.share(tau)
	}
	return c.share(min(tau, h.crowd))
}

// gap is what a sender is busy with each of several messages, one after another.
func (c *class) gap() float64 {
	switch {
	case c.holds:
		return c.alone
	case c.waits:
		return c.alone / 2
	}
	if c.busy == 0 {
		alone, _ := c.sending.message.At(c.bytes, 1)
		c.busy = c.sending.busy(c.bytes, max(alone, c.sending.latency()))
	}
	return c.busy
}
