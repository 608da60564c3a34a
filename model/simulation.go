package model

import (
	"container/heap"
	"errors"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
)

// A simulation follows the messages of a schedule one by one through the times of a Hierarchy:
// each rank goes through its turns, and no stage waits for another.
type simulation struct {
	h *Hierarchy

	messages     []message
	turns        [][]turn // by rank
	ranks        []rank
	memories     []memory  // by node: its cores' memories, then its adapter
	ranksPerNode int       // at most
	adapters     []adapter // by node

	now        float64
	events     queue
	copies     []int32 // single copies under way
	updated    float64 // when their remaining parts were computed
	nextEnd    float64 // when the first of them ends
	ratesStale bool    // a copy began or ended

	done         [][]float64 // by call and rank: the first call, with Between also that, and the second
	last         []int32     // the message that ended each rank's first call, −1: none
	usesNetwork  bool
	extrapolated bool // a reduction was not measured
	err          error
}

// A message of the simulation; moments and times in seconds.
type message struct {
	*messageClass
	from, to              int32
	sendTurn, receiveTurn int32 // index of its sender's and of its receiver's turn
	local                 bool  // a rank's copy of its own block
	oneTransfer           bool  // one transfer out of a buffer, by the receiver
	reduce                bool
	together              bool    // its receiver waits for all messages of the turn at once
	additional            float64 // to T(m), for forwarded bytes or flags
	busy, transit         float64 // of its sender, and until it arrives, from where it enters the queue
	arrives               float64 // −1: not yet sent
	remaining, rate       float64 // of a single copy: share not yet copied, and share a second
	coreShare             float64 // of its receiver's core, which makes other copies too
	source, destination   *memory // that a single copy contends for
	tau                   int32   // most copies that shared one of its memories at once
	waitedFor             int32   // the message that delayed its begin, −1: none
	began, ended          float64
}

// A rank of the simulation.
type rank struct {
	node, core            int
	turn                  int     // −1: not begun
	began                 float64 // the turn
	waitedFor             int32   // the message that ended the turn before, −1: none
	sendFree, receiveFree float64 // when it can send, and receive, the next message
	queueFree             float64 // when one more message can enter its queue
	copies                int     // single copies under way that its core makes
	receiving             bool    // it has paid for waiting in this turn
	callEnds              []int   // turns at which calls end
	posting
}

// A memory counts the single copies that leave it and arrive in it; copies that one core makes in
// turn count as shares. It is free when the last buffered message has passed.
type memory struct{ leaving, arriving, free float64 }

// An adapter sends and receives one buffered message after another: when it is free.
type adapter struct{ handling, outbound, inbound float64 }

// pass is when a message from one adapter to another begins, from start on.
func (from *adapter) pass(to *adapter, m *messageClass, start float64) float64 {
	start = max(start, from.outbound, to.inbound)
	if m.handling > 0 {
		start = max(start, from.handling, to.handling)
		from.handling = start + m.handling
		to.handling = from.handling
	}
	from.outbound = start + m.handling + m.adapterTime
	to.inbound = from.outbound
	return start
}

// Kinds of events.
const (
	copyBegins  = iota
	entersQueue // a buffered message comes to its receiver's queue
	sendEnds    // the sender is free
	receiveEnds // the receiver is done
)

// errAbove is why a schedule dearer than a limit has no cost.
var errAbove = errors.New("costs more than that")

// simulate follows a schedule. It fails with errAbove once a single call takes more than limit
// seconds.
func (h *Hierarchy) simulate(s *collective.Schedule, limit float64) (*simulation, error) {
	sim, err := h.simulation(s)
	if err != nil {
		return nil, err
	}
	if s.Between != nil { // the limit is of one call
		limit = math.Inf(1)
	}
	if sim.run(limit); sim.now > limit {
		return nil, errAbove
	}
	if sim.err == nil && len(sim.copies)+len(sim.events) > 0 {
		sim.err = errors.New("its ranks wait for each other")
	}
	return sim, sim.err
}

// run handles events until there are none, or limit seconds have passed.
func (sim *simulation) run(limit float64) {
	sim.nextEnd = math.Inf(1)
	for r := range sim.ranks {
		sim.nextTurn(int32(r), -1)
	}
	for (len(sim.events) > 0 || len(sim.copies) > 0) && !(sim.now > limit) {
		if sim.ratesStale {
			sim.setRates()
		}
		sim.now = sim.nextEnd
		if len(sim.events) > 0 {
			sim.now = min(sim.now, sim.events[0].at)
		}
		if !(sim.now < sim.nextEnd) { // NaN ends copies, too
			sim.endCopies()
		}
		for len(sim.events) > 0 && sim.events[0].at <= sim.now*(1+1e-12) {
			e := heap.Pop(&sim.events).(event)
			m := &sim.messages[e.message]
			switch e.kind {
			case copyBegins:
				sim.beginCopy(e.message)
			case entersQueue:
				sim.enterQueue(e.message)
			case sendEnds:
				sim.finish(m.from, e.message)
			case receiveEnds:
				sim.finish(m.to, e.message)
			}
		}
	}
}

// push adds an event.
func (sim *simulation) push(at float64, kind int, id int32) {
	heap.Push(&sim.events, event{at, kind, id})
}

// nextTurn has a rank begin its next turn.
func (sim *simulation) nextTurn(on, waitedFor int32) {
	r := &sim.ranks[on]
	r.turn++
	r.began, r.sendFree, r.receiveFree, r.waitedFor, r.receiving = sim.now, sim.now, sim.now, waitedFor, false
	for call, end := range r.callEnds {
		if r.turn == end && (call == 0 || r.callEnds[call-1] < end) {
			sim.done[call][on] = sim.now
			if call == 0 {
				sim.last[on] = waitedFor
			}
		}
	}
	if r.turn == len(sim.turns[on]) {
		return
	}
	t := &sim.turns[on][r.turn]
	for _, id := range t.sends {
		if sim.messages[id].singleCopy {
			sim.match(id)
		} else {
			sim.send(id)
		}
	}
	for _, id := range t.receives {
		switch m := &sim.messages[id]; {
		case m.local:
			m.waitedFor, m.began = r.waitedFor, sim.now
			m.ended = sim.now + (m.alone-m.latency)/2
			sim.push(m.ended, receiveEnds, id)
		case m.singleCopy:
			sim.match(id)
		default:
			sim.receive(id)
		}
	}
}

// finish ends a message for one of its ranks.
func (sim *simulation) finish(on, id int32) {
	if t := &sim.turns[on][sim.ranks[on].turn]; t.open > 1 {
		t.open--
		return
	}
	sim.nextTurn(on, id)
}

// match begins a single copy once both ranks have posted it.
func (sim *simulation) match(id int32) {
	m := &sim.messages[id]
	from, to := &sim.ranks[m.from], &sim.ranks[m.to]
	if from.turn != int(m.sendTurn) || to.turn != int(m.receiveTurn) {
		return
	}
	m.waitedFor, m.began = from.waitedFor, sim.now
	if to.began > from.began {
		m.waitedFor = to.waitedFor
	}
	sim.push(sim.now+m.latency, copyBegins, id)
}

// beginCopy begins the transfer of a single copy.
func (sim *simulation) beginCopy(id int32) {
	m := &sim.messages[id]
	sim.updateCopies()
	if m.remaining = 1; m.alone-m.latency+m.additional <= 0 {
		m.remaining = 0
	}
	if !m.level.network {
		sim.ranks[m.to].copies++
	}
	m.source, m.destination = sim.memoryOf(m, m.from), sim.memoryOf(m, m.to)
	sim.copies = append(sim.copies, id)
}

// memoryOf is the memory that a message contends for at a rank: its core's, or its node's adapter.
func (sim *simulation) memoryOf(m *message, of int32) *memory {
	r := &sim.ranks[of]
	perNode, index := len(sim.memories)/len(sim.adapters), 0
	switch {
	case m.level.network:
		index = perNode - 1
	case sim.h.memoryOf != nil:
		index = sim.h.memoryOf[r.core]
	}
	return &sim.memories[r.node*perNode+index]
}

// updateCopies computes what remains of all copies.
func (sim *simulation) updateCopies() {
	for _, id := range sim.copies {
		m := &sim.messages[id]
		m.remaining -= (sim.now - sim.updated) * m.rate
	}
	sim.updated, sim.ratesStale = sim.now, true
}

// setRates sets the rates of all copies under way, by contention.
func (sim *simulation) setRates() {
	sim.ratesStale, sim.nextEnd = false, math.Inf(1)
	for i := range sim.memories {
		sim.memories[i].leaving, sim.memories[i].arriving = 0, 0
	}
	for _, id := range sim.copies {
		m := &sim.messages[id]
		if m.coreShare = 1; !m.level.network { // the receiver's core makes the copy; an adapter needs none
			m.coreShare /= float64(sim.ranks[m.to].copies)
		}
		m.source.leaving += m.coreShare
		m.destination.arriving += m.coreShare
	}
	for _, id := range sim.copies {
		m := &sim.messages[id]
		tau := max(1, int(math.Ceil(max(m.source.leaving, m.destination.arriving)-1e-9)))
		m.tau = max(m.tau, int32(tau))
		transfer := m.transfer(tau)
		if sim.turns[m.from][m.sendTurn].distinct {
			transfer = sim.h.distinctTransfer(m.messageClass, tau)
		}
		m.rate = m.coreShare / max(m.alone-m.latency+m.additional, transfer)
		sim.nextEnd = min(sim.nextEnd, sim.now+m.remaining/m.rate)
	}
}

// endCopies ends the copies of which nothing remains.
func (sim *simulation) endCopies() {
	sim.updateCopies()
	var ended []int32
	sim.copies = slices.DeleteFunc(sim.copies, func(id int32) bool {
		m := &sim.messages[id]
		if m.remaining > 1e-9 {
			return false
		}
		if ended = append(ended, id); !m.level.network {
			sim.ranks[m.to].copies--
		}
		return true
	})
	for _, id := range ended {
		m := &sim.messages[id]
		m.ended = sim.now
		sim.finish(m.from, id)
		if reduction := sim.reduction(m); reduction > 0 {
			m.ended += reduction
			sim.push(m.ended, receiveEnds, id)
		} else {
			sim.finish(m.to, id)
		}
	}
}

// reduction is γ of a message that its receiver reduces, else 0.
func (sim *simulation) reduction(m *message) float64 {
	if !m.reduce {
		return 0
	}
	t, extrapolated, err := gamma(sim.h.Reductions, sim.h.Operator, Term{Bytes: m.bytes, Tau: 1})
	if err != nil && sim.err == nil {
		sim.err = err
	}
	sim.extrapolated = sim.extrapolated || extrapolated
	return t
}

// send has a sender copy a message into a buffer, after the ones before.
func (sim *simulation) send(id int32) {
	m := &sim.messages[id]
	r := &sim.ranks[m.from]
	m.waitedFor, m.began = r.waitedFor, r.began
	busy, transit := m.senderTime, m.alone+m.additional
	if m.oneTransfer { // the receiver's alone
		busy, transit = 0, m.alone/2
	}
	start := r.sendFree
	if m.level.network {
		start = sim.adapters[r.node].pass(&sim.adapters[sim.ranks[m.to].node], m.messageClass, start)
	}
	m.busy, m.transit = r.sendFree+busy-start, transit
	r.sendFree += busy
	if m.queueTime > 0 && !m.oneTransfer {
		sim.push(start, entersQueue, id)
		return
	}
	sim.transmit(id, start)
}

// enterQueue has a message wait until no other one enters its receiver's queue.
func (sim *simulation) enterQueue(id int32) {
	m := &sim.messages[id]
	to := &sim.ranks[m.to]
	start := max(sim.now, to.queueFree)
	to.queueFree = start + m.queueTime
	sim.transmit(id, start)
}

// transmit begins a buffered message.
func (sim *simulation) transmit(id int32, start float64) {
	m := &sim.messages[id]
	m.arrives = start + m.transit
	passed := sim.passMemories(m, start)
	m.arrives = max(m.arrives, passed)
	sim.push(max(start+m.busy, passed), sendEnds, id)
	sim.receive(id)
}

// receive has a receiver copy a message out of the buffer, once it has arrived and is expected.
func (sim *simulation) receive(id int32) {
	m := &sim.messages[id]
	r := &sim.ranks[m.to]
	if m.arrives < 0 || r.turn != int(m.receiveTurn) {
		return
	}
	ready := r.receiveFree + m.receiverTime
	if !m.together || !r.receiving {
		ready += m.overhead
	}
	r.receiving = true
	if ready > m.arrives { // the receiver came late, or is busy
		m.waitedFor, m.began = r.waitedFor, r.began
	}
	m.ended = max(m.arrives, ready)
	m.ended += sim.reduction(m)
	r.receiveFree = m.ended
	sim.push(m.ended, receiveEnds, id)
}

// passMemories takes a buffered message through the memories of both ranks, after the ones before,
// and returns when it has passed.
func (sim *simulation) passMemories(m *message, start float64) (passed float64) {
	if m.memoryTime == 0 {
		return 0
	}
	source, destination := sim.memoryOf(m, m.from), sim.memoryOf(m, m.to)
	source.free = max(source.free, start) + m.memoryTime
	if destination != source {
		destination.free = max(destination.free, start) + m.memoryTime
	}
	return max(source.free, destination.free)
}

// ownCopy is a rank's copy of its own block in formulas.
const ownCopy = "own"

// criticalPath is the messages that a rank's end waited for, the first in front, each with the time
// from the end of the one before it.
func (sim *simulation) criticalPath(of int, y Symbols) []Term {
	var all sum
	end := sim.done[0][of]
	for id := sim.last[of]; id >= 0; {
		m := &sim.messages[id]
		t := Term{Count: Count{Fixed: 1}, Parameter: "T[" + m.level.name + "]", Bytes: m.bytes, Size: y.size(m.bytes), Tau: int(max(1, m.tau)), Extrapolated: m.extrapolated}
		if m.local {
			t.Parameter, t.Tau = ownCopy, 0
		}
		all.add(t)
		all.terms[all.at[t.key()]].Seconds += end - m.began
		end, id = m.began, m.waitedFor
	}
	for i := range all.terms { // equal messages take their mean
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
	kind    int
	message int32
}

// A queue is a heap of events, the next one first.
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
