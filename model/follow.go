package model

import (
	"iter"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// channel is the channel of a stage's messages at a level of the node. Their source and destination
// are found by following the buffers through the call.
func (m TauLop) channel(stage *collective.Stage, level int) Channel {
	c := Channel{Level: level, Transport: carried(m.Transport)}
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
	at := Channel{Transport: c.Transport, Way: Exchange, Source: OtherCache} // of the closest level, which tells for all
	if m.Channels.has(at) && m.written(stage) {
		if c.Source, c.Destination = OtherCache, Untouched; c.Way != Exchange {
			c.Way = OneWay
		}
		if at.Destination = OwnCache; m.Channels.has(at) && m.arrivesAtHand(stage) {
			c.Destination = OwnCache
		}
	}
	if stage.Pattern == collective.Transfer && c.Transport == params.CMA {
		c.Way, c.Destination = OneWay, Untouched
	}
	return m.Channels.Nearest(c)
}

// ends are where the messages of an exchange come from and go to.
func (m TauLop) ends(stage *collective.Stage) (source, destination Place) {
	var near, there bool
	switch {
	case !m.Channels.has(Channel{Transport: carried(m.Transport), Way: Exchange, Destination: OwnCache}): // in cache, where all data are in reach
		near = stage.Reduce && m.written(stage)
		there = near
	case m.Evicted:
		there = intoTemporary(stage) && m.written(stage)
	default:
		near, there = m.written(stage), m.arrivesAtHand(stage)
	}
	if near {
		source = OwnCache
	}
	if there {
		destination = OwnCache
	}
	return source, destination
}

// copied is the channel of what ranks copy within themselves in a local stage.
func (m TauLop) copied(stage *collective.Stage) Channel {
	c := Channel{Way: Alone, Destination: OwnCache}
	tells := m.Channels.has(c)
	if m.written(stage) {
		c.Source = OwnCache
	}
	if !tells || !m.arrivesAtHand(stage) {
		c.Destination = Untouched
	}
	return m.Channels.Nearest(c)
}

// intoTemporary tells whether a stage's messages arrive in temporary buffers, as its first
// does: what is to be reduced arrives in the library's own memory.
func intoTemporary(s *collective.Stage) bool {
	for msg := range (collective.Step{Stage: s}).Messages() {
		return s.Reduce || msg.Dst.Buffer == collective.Temp
	}
	return false
}

// written tells whether some message of a stage comes out of what its sender wrote in the same
// call: whatever is not what the rank brought. Of stages of many the first messages tell.
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

// arrivesAtHand tells whether messages of a stage arrive where their receivers were before in
// the call, most of them, and so in their caches, wherever users have their data. What is to
// be reduced arrives in the library's own memory, which is, like all temporary buffers.
func (m TauLop) arrivesAtHand(stage *collective.Stage) bool {
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
	for i := range m.Call.Blocks {
		for j := range m.Call.Blocks[i].Stages {
			before := &m.Call.Blocks[i].Stages[j]
			if before == stage {
				return false
			}
			there := 0
			for msg := range firstMessages(before) {
				if msg.To != receiver {
					continue
				}
				for _, dst := range into {
					if msg.Dst.Buffer == dst.Buffer {
						there += max(0, min(msg.Dst.Offset+msg.Dst.Bytes, dst.Offset+dst.Bytes)-max(msg.Dst.Offset, dst.Offset))
					}
				}
			}
			if 2*there > bytes {
				return true
			}
		}
	}
	return false
}

// firstMessages are the first messages of a stage, which represent it where there are many.
func firstMessages(stage *collective.Stage) iter.Seq[collective.Message] {
	const enough = 1 << 12
	return func(yield func(collective.Message) bool) {
		n := 0
		for msg := range (collective.Step{Stage: stage}).Messages() {
			if n++; !yield(msg) || n == enough {
				return
			}
		}
	}
}
