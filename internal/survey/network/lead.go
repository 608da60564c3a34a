package network

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A sampler is a launch: its own connections to every host, made on demand.
type sampler struct {
	Request
	cpus   []int
	launch uint64
	links  map[int]*link // by host
	batch  uint32
}

// A link is the flows between this host and another.
type link struct {
	Target
	group *group
	lanes []*lane

	overhead float64 // o in ns; 0: not measured yet
	took     float64 // time of a whole message of the last batch, ns
}

// A lane is the thread of a flow's leading end.
type lane struct {
	*end
	tasks chan order
	done  chan struct{}
	span  span
}

// Open prepares for sampling; nothing is connected yet.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) {
	cpus, err := CPUs(b.Machine)
	if err != nil {
		return nil, err
	}
	return &sampler{Request: r, cpus: cpus, launch: rand.Uint64(), links: make(map[int]*link)}, nil
}

const (
	batches   = 3 // of a sample, which is their median
	batchTime = 8 * time.Millisecond
	longTime  = 40 * time.Millisecond // after this time a sample has no further batch
	warm      = 2                     // untimed messages, which open TCP's window
)

func (s *sampler) Sample(ctx context.Context, k params.Key, hint float64) (engine.Reading, error) {
	p, parameter, target, err := partOf(k)
	if err != nil {
		return engine.Reading{}, err
	}
	l, err := s.link(ctx, target, k.Tau)
	if err != nil {
		return engine.Reading{}, err
	}
	defer context.AfterFunc(ctx, l.stop)()
	switch parameter {
	case params.NetOverhead: // o does not depend on the size
		k.Bytes = 1
	case params.NetTransfer:
		overhead, err := s.overhead(l)
		if err != nil {
			return engine.Reading{}, err
		}
		whole := p.time
		p.time = func(s span, o order) float64 { return max(0, whole(s, o)-overhead) }
	}
	if parameter != params.NetTransfer { // the time of a part does not give the number of messages
		hint = 0
	}
	if p.operation == ignored {
		p.least = min(p.least, uint32(s.Unread/k.Bytes))
		p.most = float64(p.least)
	}
	r, err := s.median(l, p, order{Operation: p.operation, Tau: uint16(k.Tau), Bytes: uint32(k.Bytes), Warm: p.warm}, hint)
	if err == nil && parameter == params.NetOverhead {
		l.overhead = r.NS
	}
	return r, err
}

// overhead is o of messages to a host, which a launch measures once.
func (s *sampler) overhead(l *link) (ns float64, err error) {
	if l.overhead == 0 {
		var r engine.Reading
		r, err = s.median(l, sending, order{Operation: sending.operation, Tau: 1, Bytes: 1, Warm: sending.warm}, 0)
		l.overhead = r.NS
	}
	return l.overhead, err
}

// median is the median of batches, which have batchTime/hint messages each. Without a hint a first
// batch gives it.
func (s *sampler) median(l *link, p part, o order, hint float64) (r engine.Reading, err error) {
	if hint == 0 {
		o.Times = max(1, p.least)
		began := time.Now()
		ns, err := s.once(l, o, p)
		if err != nil || time.Since(began) > longTime {
			r.NS = ns
			return r, err
		}
		hint = l.took
	}
	o.Times = uint32(min(max(float64(batchTime)/max(hint, 1), 1, float64(p.least)), p.most))
	var times []float64
	for began := time.Now(); len(times) < batches && (len(times) == 0 || time.Since(began) < longTime); {
		ns, err := s.once(l, o, p)
		if err != nil {
			return r, err
		}
		times = append(times, ns)
	}
	return setups.SampleOf(times), nil
}

// once carries out a batch and returns the part's time of a message, in ns.
func (s *sampler) once(l *link, o order, p part) (float64, error) {
	s.batch++
	o.Batch, o.Seed = s.batch, rand.Uint64()
	lanes := l.lanes[:o.Tau]
	for _, w := range lanes {
		w.tasks <- o
	}
	var failed error
	var all span
	for _, w := range lanes {
		<-w.done
		switch {
		case w.err == nil:
		case failed == nil || errors.Is(failed, errGivenUp):
			failed = w.err
		}
		if all.start.IsZero() || w.span.start.Before(all.start) {
			all.start = w.span.start
		}
		if w.span.finish.After(all.finish) {
			all.finish = w.span.finish
		}
	}
	if failed != nil {
		return 0, fmt.Errorf("%s: %w", l.Name, failed)
	}
	all.parts, all.result = lanes[0].span.parts, lanes[0].span.result
	l.took = all.whole(o)
	return p.time(all, o), nil
}

// link connects to a host with tau flows or more.
func (s *sampler) link(ctx context.Context, host, tau int) (*link, error) {
	l := s.links[host]
	if l == nil {
		l = &link{Target: s.Targets[host], group: newGroup()}
		s.links[host] = l
	}
	for i := len(l.lanes); i < tau; i++ {
		c, err := call(ctx, l.Target, s.Secret, hello{Purpose: flowing, Flow: uint32(i), Launch: s.launch, Run: s.Run}, false)
		if err != nil {
			return nil, err
		}
		f, err := newFlow(c)
		if err != nil {
			return nil, err
		}
		w := &lane{end: &end{flow: f, index: i, cpu: s.cpus[i%len(s.cpus)], group: l.group}, tasks: make(chan order), done: make(chan struct{}, 1)}
		l.lanes = append(l.lanes, w)
		go w.work()
	}
	return l, nil
}

// work leads batches on a pinned thread, which ends with the goroutine.
func (w *lane) work() {
	defer w.release()
	w.err = numa.Pin(w.cpu)
	for o := range w.tasks {
		if w.err == nil {
			w.span = w.lead(o)
		}
		if w.err != nil {
			w.group.stop.Store(true)
			w.end.stop() // else the other end waits for its patience
		}
		w.done <- struct{}{}
	}
}

func (l *link) stop() {
	l.group.stop.Store(true)
	for _, w := range l.lanes {
		w.end.stop()
	}
}

func (s *sampler) Close() {
	for _, l := range s.links {
		for _, w := range l.lanes {
			close(w.tasks)
			w.end.stop()
			w.end.close()
		}
	}
}

// A part is how a parameter is measured.
type part struct {
	operation operation
	warm      uint32  // untimed messages
	least     uint32  // timed messages in a batch
	most      float64 // the same
	time      func(s span, o order) float64
}

// whole is a batch's time by its messages, in ns.
func (s span) whole(o order) float64 { return float64(s.finish.Sub(s.start)) / float64(o.Times) }

// parts are by parameter. L here includes o, which Sample subtracts.
var parts = map[string]part{
	params.NetTransfer:   {operation: exchange, warm: warm, most: 10000, time: func(s span, o order) float64 { return s.whole(o) / 2 }},
	params.NetOverhead:   sending,
	params.TamSend:       sending,
	params.TamTake:       {operation: alone, warm: 1, least: 2, most: 200, time: func(s span, o order) float64 { return float64(s.NS) / float64(o.Times) }},
	params.TamSendGap:    {operation: stream, warm: 64, least: 64, most: 10000, time: func(s span, o order) float64 { return s.whole(o) }},
	params.TamReceiveGap: {operation: stream, warm: 64, least: 64, most: 10000, time: func(s span, o order) float64 { return float64(s.NS) / float64(max(1, o.Times-1)) }},
	params.TamReceive:    {operation: ignored, warm: warm, least: idealIgnored, most: idealIgnored, time: func(s span, o order) float64 { return float64(s.NS) / float64(o.Times) }},
	params.NetQueue:      {operation: stream, warm: 64, least: 256, most: 256, time: func(s span, o order) float64 { return float64(s.queued) }},
}

// sending is the time of a call that sends, at most half a round trip: if both ends share a CPU, the
// call may return after the message has arrived.
var sending = part{operation: exchange, warm: 1, most: 10000, time: func(s span, o order) float64 {
	return min(float64(s.parts)/float64(o.Times), s.whole(o)/2)
}}

// partOf is the part, parameter and target of a cell.
func partOf(k params.Key) (p part, parameter string, target int, err error) {
	parameter, target = k.Parameter().Name, max(0, k.Parameter().Host-1)
	p, known := parts[parameter]
	if !known || k.Kind != params.NetCell || k.Tau > mostFlows || k.Bytes < 1 || k.Bytes > mostMessage {
		return p, "", 0, fmt.Errorf("%v is no cell of a network that this taulop measures", k)
	}
	return p, parameter, target, nil
}
