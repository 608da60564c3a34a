package model

import (
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
		from, to = m.written(stage), m.arrivesCached(stage)
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
	if m.written(stage) {
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

// arrivesCached tells whether messages of a stage arrive in the receivers' caches: in temporary
// buffers, or where an earlier stage of the call has already received into more than half of the bytes.
func (m TauLop) arrivesCached(stage *collective.Stage) bool {
	if intoTemporary(stage) {
		return true
	}
	if m.Call == nil {
		return false
	}
	var into []collective.Span // of one receiver
	receiver, bytes := 0, 0
	for msg := range firstMessages(stage) {
		if len(into) == 0 {
			receiver = msg.To
		}
		if msg.To == receiver {
			into = append(into, msg.Dst)
			bytes += msg.Dst.Bytes
		}
	}
	for before := range m.Call.Stages() {
		if before == stage {
			return false
		}
		cached := 0
		for msg := range firstMessages(before) {
			if msg.To != receiver {
				continue
			}
			for _, dst := range into {
				if msg.Dst.Buffer == dst.Buffer {
					cached += max(0, min(msg.Dst.Offset+msg.Dst.Bytes, dst.Offset+dst.Bytes)-max(msg.Dst.Offset, dst.Offset))
				}
			}
		}
		if 2*cached > bytes {
			return true
		}
	}
	return false
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
