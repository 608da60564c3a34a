package model

import (
	"slices"

	"github.com/taulop/taulop/collective"
)

// A turn is what a rank does until it has to wait: what it sends and receives in a stage, and in
// the stages after that as long as it only sends, or only receives. It is over when all its
// messages are.
type turn struct {
	sends, takes       int32 // the first message of either; −1: none
	lastSent, lastTook int32
	open               int32 // messages not yet over
	offset             int   // of the bytes that it sends first
	various            bool  // it sends different bytes
}

// laying is what is known of a rank while its messages are put into turns.
type laying struct {
	stage, stageSends, stageTakes int     // of what was added last, and messages of its turn
	hears                         int     // first turn that a message arrives in; −1
	heard                         int32   // the rank that it heard from last
	got                           [3]bool // whether bytes arrived, by buffer
}

// begin is a schedule that is to be followed, a second time after what is between. It fails for
// ranks that are nowhere, and for too many messages.
func (h *Hierarchy) begin(s *collective.Schedule) (*progress, error) {
	ranks := s.Call.P
	if ranks > mostMessages {
		return nil, errManyMessages
	}
	nodes, cores, err := h.spots(ranks)
	if err != nil {
		return nil, err
	}
	p := &progress{h: h, ranks: make([]rank, ranks), turns: make([][]turn, ranks), last: slices.Repeat([]int32{-1}, ranks)}
	of, memories := 1, 1
	for _, m := range h.memory {
		memories = max(memories, m+1)
	}
	for r := range p.ranks {
		p.ranks[r] = rank{node: nodes[r], core: cores[r], at: -1, cause: -1, laying: laying{stage: -1, hears: -1}}
		of = max(of, nodes[r]+1)
	}
	p.memories = make([]memory, of*(memories+1))
	p.adapters = [2][]float64{make([]float64, of), make([]float64, of)}
	calls := []*collective.Schedule{s}
	if s.Between != nil {
		calls = append(calls, s.Between, s)
	}
	all := 0
	for _, of := range calls {
		for _, b := range of.Blocks {
			for i := range b.Stages {
				all += active(&b.Stages[i]) * b.Repeat
			}
		}
	}
	p.messages = make([]message, 0, min(all, mostMessages))
	for _, of := range calls {
		if err := p.lay(of); err != nil {
			return nil, err
		}
		p.calls = append(p.calls, make([]float64, ranks))
		for r := range p.ranks {
			of := &p.ranks[r]
			of.ends = append(of.ends, len(p.turns[r]))
			of.laying = laying{stage: -1, stageSends: 1, stageTakes: 1, hears: -1} // what comes is of another turn
		}
	}
	return p, nil
}

// lay puts the messages of a schedule into turns of ranks.
func (p *progress) lay(s *collective.Schedule) error {
	type key struct {
		level, bytes int
		waits        bool
	}
	classes := make(map[key]*class)
	for n, step := range s.Steps() {
		apart := s.Blocking || step.Blocking || step.Pattern == collective.Exchange || step.Pattern == collective.Local
		// Libraries send by MPI_Send what is reduced, and exchange by MPI_Sendrecv.
		waits := apart && (s.Blocking || !s.Posted) || step.Reduce
		first := len(p.messages)
		for m := range step.Messages() {
			if len(p.messages) == mostMessages {
				return errManyMessages
			}
			from := &p.ranks[m.From]
			k := key{p.level(from, &p.ranks[m.To]), m.Bytes(), waits}
			c := classes[k]
			if c == nil {
				c = p.h.class(k.level, k.bytes, waits)
				classes[k] = c
			}
			p.crosses = p.crosses || c.of.network
			id := int32(len(p.messages))
			p.messages = append(p.messages, message{class: c, from: int32(m.From), to: int32(m.To),
				next: -1, also: -1, cause: -1, arrives: -1, own: m.From == m.To, transfer: step.Pattern == collective.Transfer, reduce: m.Reduce})
			msg := &p.messages[id]
			if msg.own {
				msg.takes = p.add(m.To, n, id, false, true)
				msg.sends = msg.takes
				continue
			}
			msg.sends = p.add(m.From, n, id, true, apart)
			msg.takes = p.add(m.To, n, id, false, apart || m.Reduce)
			if of := &p.turns[m.From][msg.sends]; of.sends == id {
				of.offset = m.Src.Offset
			} else {
				of.various = of.various || of.offset != m.Src.Offset
			}
			if from.hears >= 0 && from.hears < int(msg.sends) && from.heard != msg.to { // an answer is as in a ping-pong
				msg.longer = c.waited
			}
			if m.Bytes() > 0 && from.got[m.Src.Buffer] {
				msg.longer += c.anew
			}
		}
		for m := range step.Messages() {
			msg := &p.messages[first]
			if first++; !msg.own {
				p.ranks[m.To].hear(&m, int(msg.takes))
			}
		}
	}
	return nil
}

// hear notes a message that arrives in a turn.
func (l *laying) hear(m *collective.Message, turn int) {
	if l.hears < 0 {
		l.hears = turn
	}
	l.heard = int32(m.From)
	l.got[m.Dst.Buffer] = l.got[m.Dst.Buffer] || m.Bytes() > 0
}

// level is that of two ranks.
func (p *progress) level(a, b *rank) int {
	switch {
	case a.node != b.node:
		return p.h.between
	case p.h.within == nil:
		return 0
	}
	return int(p.h.within[a.core][b.core])
}

// add puts a message into the turn of a rank, the last or a new one. A message apart is in
// the turn of its stage.
func (p *progress) add(on, stage int, id int32, sends, apart bool) int32 {
	r, n := &p.ranks[on], len(p.turns[on])
	same := n > 0 && (r.stage == stage || !apart && (sends && r.stageTakes == 0 || !sends && r.stageSends == 0))
	if !same {
		p.turns[on] = append(p.turns[on], turn{sends: -1, takes: -1})
		n++
		r.stageSends, r.stageTakes = 0, 0
	}
	r.stage = stage
	of := &p.turns[on][n-1]
	of.open++
	if sends {
		if r.stageSends++; of.sends < 0 {
			of.sends = id
		} else {
			p.messages[of.lastSent].next = id
		}
		of.lastSent = id
	} else {
		if r.stageTakes++; of.takes < 0 {
			of.takes = id
		} else {
			p.messages[of.lastTook].also = id
		}
		of.lastTook = id
	}
	return int32(n - 1)
}
