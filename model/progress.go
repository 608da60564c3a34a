package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
)

// A progress is a schedule that is followed message by message in the time of a
// Hierarchy. Each rank goes through turns, one after another: what it sends and receives
// in a stage, and in the stages after that as long as it only sends, or only receives,
// for then it need not wait in between. A turn is over when all its messages are.
type progress struct {
	h *Hierarchy

	messages []message
	turns    [][]turn // of each rank
	ranks    []rank
	memories []memory
	adapters [2][]float64 // when they are free again: of each node out, and in

	now     float64
	events  queue
	active  []int32     // single copies that are under way
	calls   [][]float64 // when each rank is done: with the first call, with the next
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
	posted       bool    // with all others of its rank
	longer       float64 // than alone, where its bytes come from another message
	offset       int     // of its bytes at its sender
	various      bool    // its sender has others under way, of other bytes
	behind       float64 // how long its request waits for those of its sender's others
	busy, moves  float64 // how long its sender is busy with it, and it takes, through a buffer
	waiting      float64 // part of its time that was over when its receiver came
	arrives      float64 // −1: not yet sent
	left, pace   float64 // of a single copy: part that is to be copied, and per second
	part         float64 // of the time that its ranks make it in, beside other copies
	out, in      *memory // that it shares; nil: none
	tau          int32   // most at once that it shared a memory with
	cause        int32   // the message that it had to wait for, −1: none
	began, ended float64
}

// A turn is what a rank does until it has to wait.
type turn struct {
	sends, takes       int32 // the first message of either; −1: none
	lastSent, lastTook int32
	sending, open      int32 // messages it sends, and those not yet over
}

// A rank on its way.
type rank struct {
	node, core  int
	among       int     // ranks of its memory
	at          int     // turn; −1: not begun
	since       float64 // when the turn began
	cause       int32   // the message that ended the one before, −1
	sent, taken float64 // when it is free to send the next, to receive the next
	entered     float64 // when the buffers that lead to it are free for one more message
	several     bool    // ranks send to it
	copies      int     // single copies that it makes, and are under way
	read        int     // those of its bytes

	stage, stageSends, stageTakes int       // of what was added last, and messages of its turn
	hears                         int       // first turn that a message arrives in; −1
	heard                         int32     // whose message was the last
	ends                          []int     // turns at which calls end
	got                           [3][2]int // bytes that arrived by buffer: from, to
}

// A memory counts the copies that leave it and that arrive, of a rank that makes several in
// turn the part that each has.
type memory struct{ out, in float64 }

// What happens.
const (
	flows    = iota // a single copy begins
	enters          // a message wants into its receiver's buffers
	sent            // the sender is free
	received        // the receiver is done
)

var errManyMessages = fmt.Errorf("makes more than %d messages, which are followed one by one: take fewer ranks, or larger chunks", mostMessages)

// errAbove is of schedules that cost more than is asked for.
var errAbove = errors.New("costs more than that")

// follow goes through a schedule, so many times in a row, and fails with errAbove once a single
// call takes more than so many seconds.
func (h *Hierarchy) follow(s *collective.Schedule, calls int, within float64) (*progress, error) {
	ranks := s.Call.P
	if ranks > mostMessages {
		return nil, errManyMessages
	}
	nodes, cores, err := h.spots(ranks)
	if err != nil {
		return nil, err
	}
	p := &progress{h: h, ranks: make([]rank, ranks), turns: make([][]turn, ranks), last: slices.Repeat([]int32{-1}, ranks)}
	most, memories := 0, 1
	for _, m := range h.memory {
		memories = max(memories, m+1)
	}
	for r := range p.ranks {
		p.ranks[r] = rank{node: nodes[r], core: cores[r], at: -1, cause: -1, stage: -1, hears: -1}
		most = max(most, nodes[r])
	}
	if h.memory != nil {
		among := make(map[[2]int]int)
		of := func(r int) [2]int { return [2]int{nodes[r], h.memory[cores[r]]} }
		for r := range p.ranks {
			among[of(r)]++
		}
		for r := range p.ranks {
			p.ranks[r].among = among[of(r)]
		}
	}
	// Of each node its memories, and the adapter last.
	p.memories = make([]memory, (most+1)*(memories+1))
	p.adapters = [2][]float64{make([]float64, most+1), make([]float64, most+1)}
	all := 0
	for _, b := range s.Blocks {
		for i := range b.Stages {
			for _, batch := range b.Stages[i].Shape {
				all += batch.Count * b.Repeat * calls
			}
		}
	}
	p.messages = make([]message, 0, min(all, mostMessages))
	for range calls {
		if err := p.lay(s); err != nil {
			return nil, err
		}
		p.calls = append(p.calls, make([]float64, ranks))
		for r := range p.ranks {
			of := &p.ranks[r]
			of.ends = append(of.ends, len(p.turns[r]))
			of.stage, of.stageSends, of.stageTakes = -1, 1, 1 // what comes is of another turn
			of.hears, of.got = -1, [3][2]int{}
		}
	}
	if calls > 1 { // of which the next go on after the first
		within = math.Inf(1)
	}
	if p.run(memories, within); p.now > within {
		return nil, errAbove
	}
	if p.err == nil && len(p.active)+len(p.events) > 0 {
		p.err = errors.New("its ranks wait for each other")
	}
	return p, p.err
}

// lay puts the messages of a schedule into turns of ranks.
func (p *progress) lay(s *collective.Schedule) error {
	type key struct {
		level, bytes int
		waits        bool
	}
	classes := make(map[key]*class)
	for n, step := range s.Steps() {
		first := len(p.messages)
		apart := s.Blocking || step.Blocking || step.Pattern == collective.Exchange || step.Pattern == collective.Local
		posted := s.Posted && !s.Blocking && step.Pattern == collective.Exchange
		// Libraries send what is reduced by MPI_Send, and exchange by MPI_Sendrecv.
		waits := apart && !posted || step.Reduce
		for m := range step.Messages() {
			if len(p.messages) == mostMessages {
				return errManyMessages
			}
			from, to := &p.ranks[m.From], &p.ranks[m.To]
			level := p.level(from, to)
			k := key{level, m.Bytes(), waits}
			c := classes[k]
			if c == nil {
				c = p.h.class(level, m.Bytes(), waits)
				classes[k] = c
			}
			p.crosses = p.crosses || c.network
			id := int32(len(p.messages))
			p.messages = append(p.messages, message{class: c, from: int32(m.From), to: int32(m.To),
				next: -1, also: -1, cause: -1, arrives: -1, offset: m.Src.Offset, own: m.From == m.To, transfer: step.Pattern == collective.Transfer, reduce: m.Reduce})
			msg := &p.messages[id]
			if msg.own {
				msg.takes = p.add(m.To, n, id, false, true)
				msg.sends = msg.takes
				continue
			}
			stage := n
			if posted && !c.copied { // others take their time from each other, in whatever order
				stage, msg.posted = math.MaxInt, true
			}
			msg.sends = p.add(m.From, stage, id, true, apart)
			msg.takes = p.add(m.To, stage, id, false, apart || m.Reduce)
			if from.hears >= 0 && from.hears < int(msg.sends) && from.heard != msg.to { // an answer is as in a ping-pong
				msg.longer = c.waited
			}
			if at := from.got[m.Src.Buffer]; m.Bytes() > 0 && at[0] < m.Src.Offset+m.Src.Bytes && m.Src.Offset < at[1] {
				msg.longer += c.anew
			}
		}
		n := first
		for m := range step.Messages() {
			msg := &p.messages[n]
			n++
			to := &p.ranks[m.To]
			if msg.own {
				continue
			}
			if to.hears < 0 {
				to.hears = int(msg.takes)
			}
			to.several = to.several || to.hears >= 0 && to.heard != msg.from
			to.heard = msg.from
			if b := &to.got[m.Dst.Buffer]; m.Bytes() > 0 {
				if b[0] == b[1] {
					*b = [2]int{m.Dst.Offset, m.Dst.Offset + m.Bytes()}
				}
				b[0], b[1] = min(b[0], m.Dst.Offset), max(b[1], m.Dst.Offset+m.Bytes())
			}
		}
	}
	return nil
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
		of.sending++
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

// run lets time pass until nothing happens any more, or more than so many seconds have passed.
func (p *progress) run(memories int, most float64) {
	memoryOf := func(m *message, r int32) *memory {
		of := &p.ranks[r]
		base := of.node * (memories + 1)
		if m.network {
			return &p.memories[base+memories]
		}
		return &p.memories[base+p.h.memory[of.core]]
	}
	// A receiver makes its copies in turn; what comes from another node its adapter brings.
	part := func(m *message) float64 {
		switch {
		case m.network || !m.copied:
			return 1
		case m.both:
			return 1 / max(1, m.core*float64(max(p.ranks[m.from].copies, p.ranks[m.to].copies)))
		}
		return 1 / float64(p.ranks[m.to].copies)
	}
	for r := range p.ranks {
		p.begin(int32(r), -1)
	}
	var over []int32
	// Paces change when a single copy begins or ends. Until then what is left of each counts
	// from since, and soonest is when the first is over.
	changed, since, soonest := false, 0.0, math.Inf(1)
	pass := func() {
		for _, id := range p.active {
			m := &p.messages[id]
			m.left -= (p.now - since) * m.pace
		}
		since = p.now
	}
	for (len(p.events) > 0 || len(p.active) > 0) && !(p.now > most) {
		if changed {
			changed, soonest = false, math.Inf(1)
			clear(p.memories)
			for _, id := range p.active {
				m := &p.messages[id]
				if m.part = part(m); m.out != nil {
					m.out.out += m.part
					m.in.in += m.part
				}
			}
			for _, id := range p.active {
				m := &p.messages[id]
				tau := 1
				if m.out != nil {
					tau = int(math.Ceil(max(m.out.out, m.in.in)*m.spread - 1e-9))
					tau = max(1, tau, min(p.ranks[m.from].read, int(math.Ceil(m.out.out-1e-9))))
				}
				if m.various && p.h.crowd > 0 { // beyond, readers of the same bytes hold each other up
					tau = min(tau, p.h.crowd)
				}
				m.tau = max(m.tau, int32(tau))
				m.pace = m.part / (max(m.alone-m.latency+m.longer, m.share(tau)) - m.waiting)
				soonest = min(soonest, p.now+m.left/m.pace)
			}
		}
		next := soonest
		if len(p.events) > 0 {
			next = min(next, p.events[0].at)
		}
		p.now = next
		if !(next < soonest) { // which times that are no numbers never are
			pass()
			changed = true
			over = over[:0]
			still := p.active[:0]
			for _, id := range p.active {
				m := &p.messages[id]
				if m.left > 1e-9 {
					still = append(still, id)
					continue
				}
				p.copying(m, -1)
				over = append(over, id)
			}
			p.active = still
			for _, id := range over {
				m := &p.messages[id]
				if !m.copied { // its sender is free already, and it lies in a buffer
					m.arrives = p.now
					p.take(id)
					continue
				}
				m.ended = p.now
				p.finish(m.from, id)
				if more := p.combine(m); more > 0 {
					m.ended += more
					p.events.push(event{m.ended, received, id})
				} else {
					p.finish(m.to, id)
				}
			}
		}
		for len(p.events) > 0 && p.events[0].at <= p.now*(1+1e-12) {
			e := p.events.pop()
			m := &p.messages[e.message]
			switch e.what {
			case flows:
				pass()
				changed = true
				if m.left = 1; m.alone-m.latency+m.longer <= 0 {
					m.left = 0
				}
				p.copying(m, 1)
				if m.network || p.h.memory != nil && (!m.both || m.crowds) {
					m.out, m.in = memoryOf(m, m.from), memoryOf(m, m.to)
				}
				p.active = append(p.active, e.message)
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

// copying counts a copy, or one less, of the ranks whose cores make it.
func (p *progress) copying(m *message, more int) {
	if !m.network && m.copied {
		p.ranks[m.to].copies += more
		p.ranks[m.from].read += more
	}
	if m.both {
		p.ranks[m.from].copies += more
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
	p.begin(on, id)
}

// begin has a rank begin its next turn.
func (p *progress) begin(on, cause int32) {
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
	requests := 0.0
	for id, before := of.sends, int32(-1); id >= 0; id = p.messages[id].next {
		switch m := &p.messages[id]; {
		case m.copied:
			if before >= 0 && p.messages[before].offset != m.offset {
				p.messages[before].various, m.various = true, true
				requests += m.request
				m.behind = requests
			}
			before = id
			p.meet(id)
		default:
			p.send(id, int(of.sending))
		}
	}
	if of.sending > 1 { // before it receives any
		r.taken = max(r.taken, r.sent)
	}
	for id := of.takes; id >= 0; id = p.messages[id].also {
		switch m := &p.messages[id]; {
		case m.own:
			m.cause, m.began = r.cause, p.now
			m.ended = p.now + (m.alone-m.latency)/2
			p.events.push(event{m.ended, received, id})
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
	if m.both { // what has come unexpected is only moved to its place
		m.waiting = min(max(0, to.since-from.since), m.early)
	}
	p.events.push(event{max(p.now, from.since+m.behind) + m.latency, flows, id})
}

// send has a sender copy a message into a buffer, one of so many after another.
func (p *progress) send(id int32, messages int) {
	m := &p.messages[id]
	r := &p.ranks[m.from]
	m.cause, m.began = r.cause, r.since
	busy, takes := m.gap(messages), m.alone+m.longer
	if m.transfer { // of which the sender has no part
		busy, takes = 0, m.alone/2
	}
	if m.crowds && m.posted { // as all ranks of the memory send
		busy = max(busy, m.share(r.among))
	}
	start := r.sent
	if m.adapter > 0 { // which sends one message after another, as it receives them
		out, in := &p.adapters[0][r.node], &p.adapters[1][p.ranks[m.to].node]
		start = max(start, *out, *in)
		*out, *in = start+m.adapter, start+m.adapter
	}
	m.busy, m.moves = r.sent+busy-start, takes
	r.sent += busy
	if p.ranks[m.to].several && m.entry > 0 && !m.transfer {
		p.events.push(event{start, enters, id})
		return
	}
	p.leave(id, start)
}

// enter has a message wait until the buffers that lead to its receiver are free for it.
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
	p.events.push(event{start + m.busy, sent, id})
	if m.crowds && !m.transfer && !m.posted {
		p.events.push(event{start + m.latency, flows, id})
		return
	}
	m.arrives = start + m.moves
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
	m.ended = max(m.arrives, r.taken+m.drain) + p.combine(m)
	r.taken = m.ended
	p.events.push(event{m.ended, received, id})
}

// ownCopy is a rank's copy of its own block in formulas.
const ownCopy = "own"

// chain is the messages that the end of a rank waited for, the first in front: what a
// message takes from the end of the one that it had to wait for.
func (p *progress) chain(of int, y Symbols) []Term {
	var all []Term
	at := make(map[sumKey]int)
	end := p.calls[0][of]
	for id := p.last[of]; id >= 0; {
		m := &p.messages[id]
		t := Term{Count: Count{Fixed: 1}, Times: 1, Parameter: "T[" + m.of.name + "]", Bytes: m.bytes, Size: y.size(m.bytes), Tau: int(max(1, m.tau)),
			Seconds: end - m.began, Extrapolated: m.extrapolated}
		if m.own {
			t.Parameter, t.Tau = ownCopy, 0
		}
		end = m.began
		if i, there := at[t.key()]; there { // as long as they are on average
			all[i].Seconds = (all[i].Seconds*all[i].Times + t.Seconds) / (all[i].Times + 1)
			all[i].Times++
			all[i].Count.Fixed++
		} else {
			at[t.key()] = len(all)
			all = append(all, t)
		}
		id = m.cause
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// An event happens to a message.
type event struct {
	at      float64
	what    int
	message int32
}

// A queue is events, the next one first: a heap.
type queue []event

func (q *queue) push(e event) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (q *queue) pop() event {
	h := *q
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < len(h) && h[down].at < h[least].at {
				least = down
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*q = h
	return first
}
