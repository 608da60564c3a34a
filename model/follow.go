package model

import (
	"cmp"
	"iter"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// channel is the channel of a stage's messages at a level of the node. Their source and destination
// are found by following the buffers through the call.
func (m TauLop) channel(stage *collective.Stage, level int) Channel {
	c := Channel{Level: level, Transport: measuredOver(m.Transport)}
	switch stage.Pattern {
	case collective.Exchange:
		c.Way = Exchange
		c.Source, c.Destination = m.ends(stage)
	case collective.OneWay:
		c.Way = OneWay
		if stage.Reduce { // into a temporary buffer
			c.Destination = OwnCache
		}
	}
	other := Channel{Transport: c.Transport, Way: Exchange, Source: OtherCache} // of the closest level, which tells for all
	if m.Channels.has(other) && m.written(stage) {
		if c.Source, c.Destination = OtherCache, Untouched; c.Way != Exchange {
			c.Way = OneWay
		}
		if other.Destination = OwnCache; m.Channels.has(other) && m.arrivesCached(stage) {
			c.Destination = OwnCache
		}
	}
	if stage.Pattern == collective.Transfer && c.Transport == params.CMA {
		c.Way, c.Destination = OneWay, Untouched
	}
	return m.Channels.Nearest(c)
}

// ends are the source and the destination of the messages of an exchange.
func (m TauLop) ends(stage *collective.Stage) (source, destination Place) {
	var from, to bool // cached
	switch {
	case !m.Channels.has(Channel{Transport: measuredOver(m.Transport), Way: Exchange, Destination: OwnCache}): // user data are cached, too
		from = stage.Reduce && m.written(stage)
		to = from
	default:
		from, to = m.leavesCached(stage), m.arrivesCached(stage)
	}
	if from {
		source = OwnCache
	}
	if to {
		destination = OwnCache
	}
	return source, destination
}

// localChannel is the channel of a stage's local copies.
func (m TauLop) localChannel(stage *collective.Stage) Channel {
	c := Channel{Way: Alone, Destination: OwnCache}
	measured := m.Channels.has(c)
	if m.leavesCached(stage) {
		c.Source = OwnCache
	}
	if !measured || !m.arrivesCached(stage) {
		c.Destination = Untouched
	}
	return m.Channels.Nearest(c)
}

// intoTemporary tells whether the first message of a stage arrives in a temporary buffer, as vectors
// to be reduced do.
func intoTemporary(s *collective.Stage) bool {
	for msg := range (collective.Step{Stage: s}).Messages() {
		return s.Reduce || msg.Dst.Buffer == collective.Temp
	}
	return false
}

// written tells whether one of the first messages of a stage has data that its sender wrote in the
// same call: anything but the rank's input.
func (m TauLop) written(stage *collective.Stage) bool {
	if m.Call == nil {
		return false
	}
	for msg := range firstMessages(stage) {
		if given := m.Call.Brings(msg.From); msg.Bytes() > 0 && (given.Buffer != msg.Src.Buffer || given.Bytes == 0) {
			return true
		}
	}
	return false
}

// leavesCached tells whether messages of a stage leave the senders' caches: written in the call, or touched
// by an earlier stage.
func (m TauLop) leavesCached(stage *collective.Stage) bool {
	return m.written(stage) || m.touchedBefore(stage, func(msg collective.Message) (int, collective.Span) { return msg.From, msg.Src })
}

// arrivesCached tells whether messages of a stage arrive in the receivers' caches: in temporary
// buffers, or where an earlier stage has touched the bytes.
func (m TauLop) arrivesCached(stage *collective.Stage) bool {
	return intoTemporary(stage) || m.touchedBefore(stage, func(msg collective.Message) (int, collective.Span) { return msg.To, msg.Dst })
}

// touchedBefore reports whether an earlier stage of the call has touched more than half of the bytes at one
// end of a rank's messages.
func (m TauLop) touchedBefore(stage *collective.Stage, end func(collective.Message) (rank int, bytes collective.Span)) bool {
	if m.Call == nil {
		return false
	}
	var spans []collective.Span
	rank, bytes := -1, 0
	for msg := range firstMessages(stage) {
		of, span := end(msg)
		if rank < 0 {
			rank = of
		}
		if of == rank {
			spans = append(spans, span)
			bytes += span.Bytes
		}
	}
	receiverCopies := m.Transport == SingleCopy || m.Transport == CMA
	for before := range m.Call.Stages() {
		if before == cmp.Or(m.whole, stage) {
			return false
		}
		touched := 0
		for msg := range firstMessages(before) {
			if msg.From == rank && (before.Pattern == collective.Local || !receiverCopies) {
				touched += overlap(spans, msg.Src)
			}
			if msg.To == rank {
				touched += overlap(spans, msg.Dst)
			}
		}
		if 2*touched > bytes {
			return true
		}
	}
	return false
}

// overlap is the number of bytes that spans have in common with another.
func overlap(spans []collective.Span, with collective.Span) (bytes int) {
	for _, s := range spans {
		if s.Buffer == with.Buffer {
			bytes += max(0, min(s.Offset+s.Bytes, with.Offset+with.Bytes)-max(s.Offset, with.Offset))
		}
	}
	return bytes
}

// firstMessages are the first messages of a stage, which represent all.
func firstMessages(stage *collective.Stage) iter.Seq[collective.Message] {
	const most = 1 << 12
	return func(yield func(collective.Message) bool) {
		n := 0
		for msg := range (collective.Step{Stage: stage}).Messages() {
			if n++; !yield(msg) || n == most {
				return
			}
		}
	}
}
