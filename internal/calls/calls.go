// Package calls measures the time of an instruction in code like an MPI library's: short functions
// that call each other, some through pointers, lists of a few elements, conditions, and headers that are
// written and read. It has no loop over a vector, and all its data are in L1.
//
// Its opinion: the number of instructions in a call is a property of the library, counted once; the time
// of one is a property of the machine, measured on it. docs/mpi.md has how well that separation holds.
package calls

import (
	"slices"
	"sync/atomic"
	"time"
)

// Nanoseconds measures the time of an instruction on the current CPU, the median of some batches, in
// about 2 ms. 0: the instructions of this architecture were not counted.
func Nanoseconds() float64 {
	p := NewProbe()
	if p == nil {
		return 0
	}
	took := make([]float64, 21)
	for i := range took {
		took[i] = p.Pass(1000)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// A Probe runs the same code for about a microsecond at a time.
type Probe struct{ layer *layer }

// NewProbe returns nil if the instructions of this architecture were not counted.
func NewProbe() *Probe {
	if instructions == 0 {
		return nil
	}
	return &Probe{newLayer()}
}

// Pass passes messages, and returns the time of one instruction of that, in ns.
func (p *Probe) Pass(messages int) float64 {
	began := time.Now()
	for range messages {
		p.layer.pass(64)
	}
	return float64(time.Since(began).Nanoseconds()) / (float64(messages) * instructions)
}

// A layer passes messages without data between ranks through a queue in memory.
type layer struct {
	ranks     []peer
	posted    list // waiting receives
	free      list
	tail      atomic.Pointer[header] // of the queue
	seen      *header
	headers   [4]header
	sent, got int
	progress  []func(*layer) bool
}

type peer struct {
	rank, next int
	send       func(*layer, *request) bool
	type_      *kind
}

type kind struct {
	size      int
	committed bool
}

type header struct {
	peer, tag, bytes, number int
	of                       *request
}

type request struct {
	next             *request
	peer, tag, bytes int
	type_            *kind
	done             bool
	finish           func(*layer, *request)
}

type list struct{ first, last *request }

func newLayer() *layer {
	l := &layer{}
	bytes := &kind{size: 1, committed: true}
	for rank := range 4 {
		l.ranks = append(l.ranks, peer{rank: rank, send: (*layer).write, type_: bytes})
	}
	for range 4 {
		l.free.push(&request{finish: (*layer).release})
	}
	l.progress = []func(*layer) bool{(*layer).nothing, (*layer).poll}
	for tag := 100; tag < 102; tag++ { // no message has these tags
		l.receive(2, tag, 8)
	}
	return l
}

// pass posts a receive, sends its message and waits for it.
func (l *layer) pass(bytes int) {
	r := l.receive(1, 7, bytes)
	s := l.send(1, 7, bytes)
	if r == nil || s == nil {
		return
	}
	l.wait(s)
	l.wait(r)
}

//go:noinline
func (l *layer) valid(rank, tag, bytes int) bool {
	if rank < 0 || rank >= len(l.ranks) || tag < 0 || bytes < 0 {
		return false
	}
	k := l.ranks[rank].type_
	return k != nil && k.committed && k.size > 0
}

//go:noinline
func (l *layer) request(rank, tag, bytes int) *request {
	r := l.free.pop()
	if r == nil {
		return nil
	}
	r.peer, r.tag, r.type_, r.done = rank, tag, l.ranks[rank].type_, false
	r.bytes = bytes * r.type_.size
	return r
}

//go:noinline
func (l *layer) receive(rank, tag, bytes int) *request {
	if !l.valid(rank, tag, bytes) {
		return nil
	}
	r := l.request(rank, tag, bytes)
	if r != nil {
		l.posted.push(r)
	}
	return r
}

//go:noinline
func (l *layer) send(rank, tag, bytes int) *request {
	if !l.valid(rank, tag, bytes) {
		return nil
	}
	r := l.request(rank, tag, bytes)
	if r == nil || !l.ranks[rank].send(l, r) {
		return nil
	}
	return r
}

// write appends a message to the queue, as several ranks may do at the same time.
//
//go:noinline
func (l *layer) write(r *request) bool {
	p := &l.ranks[r.peer]
	h := &l.headers[l.sent%len(l.headers)]
	h.peer, h.tag, h.bytes, h.number, h.of = r.peer, r.tag, r.bytes, p.next, r
	p.next++
	l.sent++
	l.seen = l.tail.Swap(h)
	return true
}

//go:noinline
func (l *layer) nothing() bool { return l.got > l.sent }

// poll takes the next message, and finds its receive.
//
//go:noinline
func (l *layer) poll() bool {
	if l.got == l.sent {
		return false
	}
	h := &l.headers[l.got%len(l.headers)]
	l.got++
	r := l.posted.match(h)
	if r == nil {
		return false
	}
	r.bytes = min(r.bytes, h.bytes)
	r.done, h.of.done = true, true
	return true
}

//go:noinline
func (l *layer) wait(r *request) {
	for !r.done {
		for _, f := range l.progress {
			f(l)
		}
	}
	r.finish(l, r)
}

//go:noinline
func (l *layer) release(r *request) { l.free.push(r) }

//go:noinline
func (q *list) push(r *request) {
	r.next = nil
	if q.last == nil {
		q.first = r
	} else {
		q.last.next = r
	}
	q.last = r
}

//go:noinline
func (q *list) pop() *request {
	r := q.first
	if r != nil {
		q.remove(nil, r)
	}
	return r
}

//go:noinline
func (q *list) match(h *header) *request {
	var before *request
	for r := q.first; r != nil; before, r = r, r.next {
		if r.peer == h.peer && r.tag == h.tag {
			q.remove(before, r)
			return r
		}
	}
	return nil
}

//go:noinline
func (q *list) remove(before, r *request) {
	if before == nil {
		q.first = r.next
	} else {
		before.next = r.next
	}
	if q.last == r {
		q.last = before
	}
	r.next = nil
}
