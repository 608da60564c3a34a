package model

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
)

// A progress is a schedule that is followed message by message in the time of a Hierarchy: ranks
// go through their turns, and no stage waits for another.
type progress struct {
	h *Hierarchy

	messages []message
	turns    [][]turn // of each rank
	ranks    []rank
	memories []memory     // of each node those of its cores, and its adapter last
	adapters [2][]float64 // when they are free again: of each node out, and in

	now     float64
	events  queue
	active  []int32 // single copies that are under way
	since   float64 // until when their parts that are left count
	soonest float64 // when the first of them is over
	changed bool    // one began or ended, so that their paces are others

	calls   [][]float64 // when each rank is done: with the first call, what is between, the next
	last    []int32     // the message that ended each rank's first call, −1: none
	crosses bool        // a message goes between nodes
	beyond  bool        // a reduction was not measured
	err     error
}

// A message under way.
type message struct {
	*class
	from, to     int32
	sends, takes int32 // index of the turn of its sender and of its receiver
	next, also   int32 // of the same turn: the next to send, the next to receive; −1: none
	own          bool  // a copy of the rank's own
	transfer     bool  // one transfer out of a buffer, by the receiver
	reduce       bool
	longer       float64 // than alone, where its bytes come from another message
	busy, moves  float64 // how long its sender is busy with it, and how long it takes, through a buffer
	arrives      float64 // −1: not yet sent
	left, pace   float64 // of a single copy: part that is to be copied, and per second
	part         float64 // of its receiver's core, which makes other copies too
	out, in      *memory // that it shares; nil: none
	tau          int32   // most at once that it shared a memory with
	cause        int32   // the message that it had to wait for, −1: none
	began, ended float64
}

// A rank on its way.
type rank struct {
	node, core  int
	at          int     // turn; −1: not begun
	since       float64 // when the turn began
	cause       int32   // the message that ended the one before, −1
	sent, taken float64 // when it is free to send the next, to receive the next
	entered     float64 // when its queue is free for one more message
	copies      int     // single copies that its core makes, and are under way
	ends        []int   // turns at which calls end
	laying
}

// A memory counts the copies that leave it and that arrive, of a rank that makes several in
// turn the part that each has. Messages through buffers go one after another: free is when the last of
// them has.
type memory struct{ out, in, free float64 }

// What happens.
const (
	flows    = iota // a single copy begins
	enters          // a message comes to its receiver's queue
	sent            // the sender is free
	received        // the receiver is done
)

var errManyMessages = fmt.Errorf("makes more than %d messages, which are followed one by one: take fewer ranks, or larger chunks", mostMessages)

// errAbove is of schedules that cost more than is asked for.
var errAbove = errors.New("costs more than that")

// follow goes through a schedule, and fails with errAbove once a single call takes more than so
// many seconds.
func (h *Hierarchy) follow(s *collective.Schedule, within float64) (*progress, error) {
	p, err := h.begin(s)
	if err != nil {
		return nil, err
	}
	if s.Between != nil { // which goes on after the first call
		within = math.Inf(1)
	}
	if p.run(within); p.now > within {
		return nil, errAbove
	}
	if p.err == nil && len(p.active)+len(p.events) > 0 {
		p.err = errors.New("its ranks wait for each other")
	}
	return p, p.err
}

// run lets time pass until nothing happens any more, or more than so many seconds have passed.
func (p *progress) run(most float64) {
	p.soonest = math.Inf(1)
	for r := range p.ranks {
		p.turn(int32(r), -1)
	}
	for (len(p.events) > 0 || len(p.active) > 0) && !(p.now > most) {
		if p.changed {
			p.share()
		}
		p.now = p.soonest
		if len(p.events) > 0 {
			p.now = min(p.now, p.events[0].at)
		}
		if !(p.now < p.soonest) { // which times that are no numbers never are
			p.over()
		}
		for len(p.events) > 0 && p.events[0].at <= p.now*(1+1e-12) {
			e := heap.Pop(&p.events).(event)
			m := &p.messages[e.message]
			switch e.what {
			case flows:
				p.flow(e.message)
			case enters:
				p.enter(e.message)
			case sent:
				p.finish(m.from, e.message)
			case received:
				p.finish(m.to, e.message)
			}
		}
	}
}

// flow begins a single copy.
func (p *progress) flow(id int32) {
	m := &p.messages[id]
	p.pass()
	if m.left = 1; m.alone-m.latency+m.longer <= 0 {
		m.left = 0
	}
	if !m.of.network {
		p.ranks[m.to].copies++
	}
	if m.of.network || p.h.memory != nil {
		m.out, m.in = p.memoryOf(m, m.from), p.memoryOf(m, m.to)
	}
	p.active = append(p.active, id)
}

// memoryOf is the memory of a rank that a message shares: the adapter of its node, or its core's.
func (p *progress) memoryOf(m *message, r int32) *memory {
	of := &p.ranks[r]
	each := len(p.memories) / len(p.adapters[0])
	if m.of.network {
		return &p.memories[of.node*each+each-1]
	}
	return &p.memories[of.node*each+p.h.memory[of.core]]
}

// pass takes off what has been copied by now.
func (p *progress) pass() {
	for _, id := range p.active {
		m := &p.messages[id]
		m.left -= (p.now - p.since) * m.pace
	}
	p.since, p.changed = p.now, true
}

// share sets the paces of all copies under way.
func (p *progress) share() {
	p.changed, p.soonest = false, math.Inf(1)
	for i := range p.memories {
		p.memories[i].out, p.memories[i].in = 0, 0
	}
	for _, id := range p.active {
		m := &p.messages[id]
		if m.part = 1; !m.of.network { // a core makes its copies in turn; an adapter brings others
			m.part /= float64(p.ranks[m.to].copies)
		}
		if m.out != nil {
			m.out.out += m.part
			m.in.in += m.part
		}
	}
	for _, id := range p.active {
		m := &p.messages[id]
		tau := 1
		if m.out != nil {
			tau = max(1, int(math.Ceil(max(m.out.out, m.in.in)-1e-9)))
		}
		m.tau = max(m.tau, int32(tau))
		takes := m.class.share(tau)
		if p.turns[m.from][m.sends].various {
			takes = p.h.various(m.class, tau)
		}
		m.pace = m.part / max(m.alone-m.latency+m.longer, takes)
		p.soonest = min(p.soonest, p.now+m.left/m.pace)
	}
}

// over ends the copies of which nothing is left.
func (p *progress) over() {
	p.pass()
	var over []int32
	p.active = slices.DeleteFunc(p.active, func(id int32) bool {
		done := !(p.messages[id].left > 1e-9)
		if done {
			over = append(over, id)
		}
		return done
	})
	for _, id := range over {
		if m := &p.messages[id]; !m.of.network {
			p.ranks[m.to].copies--
		}
	}
	for _, id := range over {
		m := &p.messages[id]
		m.ended = p.now
		p.finish(m.from, id)
		if more := p.combine(m); more > 0 {
			m.ended += more
			heap.Push(&p.events, event{m.ended, received, id})
		} else {
			p.finish(m.to, id)
		}
	}
}

// combine is what the receiver of a reduction takes beyond the message.
func (p *progress) combine(m *message) float64 {
	if !m.reduce {
		return 0
	}
	t, beyond, err := gamma(p.h.Reductions, p.h.Operator, Term{Bytes: m.bytes, Tau: 1})
	if err != nil && p.err == nil {
		p.err = err
	}
	p.beyond = p.beyond || beyond
	return t
}

// finish is the end of a message for one of its ranks.
func (p *progress) finish(on, id int32) {
	r := &p.ranks[on]
	if of := &p.turns[on][r.at]; of.open > 1 {
		of.open--
		return
	}
	p.turn(on, id)
}

// turn has a rank begin its next turn.
func (p *progress) turn(on, cause int32) {
	r := &p.ranks[on]
	r.at++
	r.since, r.sent, r.taken, r.cause = p.now, p.now, p.now, cause
	for call, end := range r.ends {
		if r.at == end && (call == 0 || r.ends[call-1] < end) {
			p.calls[call][on] = p.now
			if call == 0 {
				p.last[on] = cause
			}
		}
	}
	if r.at == len(p.turns[on]) {
		return
	}
	of := &p.turns[on][r.at]
	for id := of.sends; id >= 0; id = p.messages[id].next {
		if p.messages[id].copied {
			p.meet(id)
		} else {
			p.send(id)
		}
	}
	for id := of.takes; id >= 0; id = p.messages[id].also {
		switch m := &p.messages[id]; {
		case m.own:
			m.cause, m.began = r.cause, p.now
			m.ended = p.now + (m.alone-m.latency)/2
			heap.Push(&p.events, event{m.ended, received, id})
		case m.copied:
			p.meet(id)
		default:
			p.take(id)
		}
	}
}

// meet begins a single copy if both ranks have come so far.
func (p *progress) meet(id int32) {
	m := &p.messages[id]
	from, to := &p.ranks[m.from], &p.ranks[m.to]
	if from.at != int(m.sends) || to.at != int(m.takes) {
		return
	}
	m.cause, m.began = from.cause, p.now
	if to.since > from.since {
		m.cause = to.cause
	}
	heap.Push(&p.events, event{p.now + m.latency, flows, id})
}

// send has a sender copy a message into a buffer, one after another.
func (p *progress) send(id int32) {
	m := &p.messages[id]
	r := &p.ranks[m.from]
	m.cause, m.began = r.cause, r.since
	busy, takes := m.gap(), m.alone+m.longer
	if m.transfer { // of which the sender has no part
		busy, takes = 0, m.alone/2
	}
	start := r.sent
	if m.adapter > 0 { // which sends one message after another, as it receives them
		out, in := &p.adapters[0][r.node], &p.adapters[1][p.ranks[m.to].node]
		start = max(start, *out, *in)
		*out, *in = start+m.adapter, start+m.adapter
	}
	m.busy, m.moves = r.sent+busy-start, takes
	r.sent += busy
	if m.entry > 0 && !m.transfer {
		heap.Push(&p.events, event{start, enters, id})
		return
	}
	p.leave(id, start)
}

// enter has a message wait until no other one enters its receiver's queue.
func (p *progress) enter(id int32) {
	m := &p.messages[id]
	to := &p.ranks[m.to]
	start := max(p.now, to.entered)
	to.entered = start + m.entry
	p.leave(id, start)
}

// leave has a sender copy a message into a buffer from a moment on.
func (p *progress) leave(id int32, start float64) {
	m := &p.messages[id]
	m.arrives = start + m.moves
	if !m.holds {
		carried := p.carry(m, start)
		m.arrives = max(m.arrives, carried)
		heap.Push(&p.events, event{max(start+m.busy, carried), sent, id})
	}
	p.take(id)
}

// take has a receiver copy a message out of a buffer once it is there.
func (p *progress) take(id int32) {
	m := &p.messages[id]
	r := &p.ranks[m.to]
	if m.arrives < 0 || r.at != int(m.takes) {
		return
	}
	if r.taken+m.drain > m.arrives { // the receiver came late, or is busy
		m.cause, m.began = r.cause, r.since
	}
	m.ended = max(m.arrives, r.taken+m.drain)
	if m.holds {
		m.ended = max(m.ended, p.carry(m, max(p.now, m.arrives-m.moves)))
		heap.Push(&p.events, event{m.ended, sent, id})
	}
	m.ended += p.combine(m)
	r.taken = m.ended
	heap.Push(&p.events, event{m.ended, received, id})
}

// carry has the memories of both ranks carry a message through a buffer, one after another, from a moment
// on, and says when they have.
func (p *progress) carry(m *message, from float64) (until float64) {
	if m.carries == 0 {
		return 0
	}
	out, in := p.memoryOf(m, m.from), p.memoryOf(m, m.to)
	out.free = max(out.free, from) + m.carries
	if in != out {
		in.free = max(in.free, from) + m.carries
	}
	return max(out.free, in.free)
}

// ownCopy is a rank's copy of its own block in formulas.
const ownCopy = "own"

// chain is the messages that the end of a rank waited for, the first in front: what a
// message takes from the end of the one that it had to wait for.
func (p *progress) chain(of int, y Symbols) []Term {
	var all sum
	end := p.calls[0][of]
	for id := p.last[of]; id >= 0; {
		m := &p.messages[id]
		t := Term{Count: Count{Fixed: 1}, Parameter: "T[" + m.of.name + "]", Bytes: m.bytes, Size: y.size(m.bytes), Tau: int(max(1, m.tau)), Extrapolated: m.extrapolated}
		if m.own {
			t.Parameter, t.Tau = ownCopy, 0
		}
		all.add(t)
		all.terms[all.at[t.key()]].Seconds += end - m.began
		end, id = m.began, m.cause
	}
	for i := range all.terms { // as long as they are on average
		t := &all.terms[i]
		t.Times = float64(t.Count.Fixed)
		t.Seconds /= t.Times
	}
	slices.Reverse(all.terms)
	return all.terms
}

// An event happens to a message.
type event struct {
	at      float64
	what    int
	message int32
}

// A queue is events, the next one first: a heap.
type queue []event

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)        { *q = append(*q, e.(event)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}
