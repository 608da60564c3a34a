package setups

import (
	"context"
	"fmt"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/shm"
	"github.com/taulop/taulop/strided"
)

// A RoundTrip is a parametrised round trip, PRTT(n,d,m): a client sends n messages of m bytes with a
// delay d between them, and the server answers the last with one of the same size (Hoefler, Lichei,
// Rehm, IPDPS 2007). LogGP's parameters follow from several round trips.
type RoundTrip struct {
	N            int
	Delay        time.Duration
	Bytes        int
	Segments     int // nseg of both channels
	SegmentBytes int // S
	Runs         int // timed, after one that warms up
	// Receiver: the server times each reception, from seeing the flag to being ready for the next.
	// The delay must be long enough for it to wait for each message.
	Receiver   bool
	ArenaBytes int // > 0: off cache, messages walk through at least that much
	// Layout, if not nil, is the messages' layout in memory: they are packed before they are sent and
	// unpacked after they have arrived (mlognp-2009, section IV). Bytes is then the layout's.
	Layout *strided.Message
}

// span is the memory from a message's first to its last byte.
func (rt RoundTrip) span() int {
	if rt.Layout != nil {
		return rt.Layout.Span()
	}
	return rt.Bytes
}

// roundTrips runs a round trip between the first two workers of the team, while the others sleep. It
// returns the time of each run in ns, corrected for clock readings and for delays longer than Delay;
// with Receiver, the server's mean time of a reception in each run.
func (t *Team) roundTrips(ctx context.Context, rt RoundTrip) ([]float64, error) {
	if t.Tau() < 2 {
		return nil, fmt.Errorf("a round trip needs 2 workers, there are %d", t.Tau())
	}
	if rt.N < 1 || rt.Runs < 1 || rt.Segments < 1 || rt.SegmentBytes < 1 || rt.span() < 0 {
		return nil, fmt.Errorf("a round trip needs a message, a run, a segment and a byte of it, or more, got %d, %d, %d and %d, and messages of 0 bytes or more, got %d",
			rt.N, rt.Runs, rt.Segments, rt.SegmentBytes, rt.span())
	}
	run := &roundTrip{RoundTrip: rt, waited: make([]time.Duration, 2*rt.Runs+2), receiving: make([]time.Duration, rt.Runs+1)}
	defer run.unmap()
	if err := run.enlist(t, 2, rt.Runs, 2); err != nil {
		return nil, err
	}
	of, bytes, down := userBuffer, rt.span(), 0
	if rt.ArenaBytes > 0 {
		of, bytes = arena, t.memory.common(arena, max(rt.ArenaBytes, 2*rt.span()))
	}
	for w := range run.users {
		if _, err := run.channelsOf(w, 1, rt.Segments, rt.SegmentBytes, 1, fresh); err != nil {
			return nil, err
		}
		for side := range run.users[w] {
			mem, err := run.user(of, w, side, bytes)
			if err != nil {
				return nil, err
			}
			run.users[w][side].buffer = buffer{mem: mem[:cap(mem)], size: rt.span()}
			if rt.Layout == nil {
				continue
			}
			if run.packed[w][side], err = run.user(userBuffer, w, receiving, rt.Bytes); err != nil {
				return nil, err
			}
		}
	}
	if rt.ArenaBytes > 0 {
		down = t.arenas()
	}
	for w := range run.users {
		for side := range run.users[w] {
			u := &run.users[w][side]
			u.walk = newWalk(len(u.mem), u.size, down)
		}
	}
	if err := t.run(ctx, run); err != nil {
		return nil, err
	}
	if rt.ArenaBytes > 0 {
		t.down = run.users[0][sending].down() // the client's messages walk further than the server's
	}
	for w := range run.users {
		from, to := &run.users[1-w][sending], &run.users[w][receiving]
		arrived, sent := to.mem[to.at(to.n-1):][:rt.span()], from.at(from.n-1)
		if rt.Layout != nil && !elements(*rt.Layout, arrived, t.patterns[1-w], sent) ||
			rt.Layout == nil && differ(arrived, t.patterns[1-w], sent) >= 0 {
			return nil, fmt.Errorf("round trip: worker %d does not hold what worker %d sent: this machine's copies cannot be trusted", w, 1-w)
		}
	}
	if rt.Receiver {
		return lists.Map(run.receiving[1:], func(all time.Duration) float64 { return max(0, float64(all)/float64(rt.N)) }), nil
	}
	nothing, times := make([]float64, rt.Runs), make([]float64, rt.Runs)
	for i := range times {
		nothing[i], times[i] = run.busy(2*i+2), run.busy(2*i+3)
	}
	delays := float64(rt.N-1) * float64(rt.Delay)
	return lists.Map(t.beyond(nothing, times), func(ns float64) float64 { return ns + delays }), nil
}

// A roundTrip is a RoundTrip with its memory. Even rounds are delays alone, odd rounds are runs, the
// first of which warms up.
type roundTrip struct {
	RoundTrip
	measurement
	users     [2][2]walked    // by worker, sending and receiving
	packed    [2][2][]byte    // likewise: packed messages
	waited    []time.Duration // by round: its delays, between their first and last clock reading
	receiving []time.Duration // by run: the server's receptions, without clock readings
}

// busy is the time of a round without its delays, in ns.
func (p *roundTrip) busy(round int) float64 { return p.took(round) - float64(p.waited[round]) }

// walked is memory through which n messages have walked.
type walked struct {
	buffer
	n int
}

func (u *walked) next() []byte {
	u.n++
	return u.mem[u.at(u.n-1):][:u.size]
}

func (u *walked) down() int { return u.walk.down(u.n) }

// verify leaves the check of messages to roundTrips, when both ends are done.
func (p *roundTrip) verify(w *worker) error {
	if p.ArenaBytes > 0 {
		for side := range p.users[w.id] {
			u := &p.users[w.id][side]
			p.read(w, side, below(len(u.mem)-u.down(), len(u.mem)))
		}
	}
	return nil
}

func (p *roundTrip) measure(w *worker) error {
	out, in := p.channels[w.id].Sender(w.wait), p.channels[1-w.id].Receiver(0, w.wait)
	outgoing, incoming := &p.users[w.id][sending], &p.users[w.id][receiving]
	if p.ArenaBytes > 0 {
		for _, u := range []*walked{outgoing, incoming} {
			u.reach(u.mem, u.size, p.N*(p.Runs+1))
		}
	}
	if err := p.meet(w, nil); err != nil {
		return err
	}
	for i := range p.Runs + 1 {
		if i%max(1, p.Runs/2) == 0 && !p.look(w) {
			return gaveUp{"its neighbour's flag"}
		}
		if w.id == 0 {
			p.startAlone(w, 2*i)
			for range p.N - 1 {
				p.delay(2 * i)
			}
			p.finish(w, 2*i)
			p.startAlone(w, 2*i+1)
		}
		for j := range p.N {
			if w.id == 1 {
				if !p.serve(i, w.id, in, incoming.next()) {
					return gaveUp{"the client's message"}
				}
				continue
			}
			if j > 0 {
				p.delay(2*i + 1)
			}
			if !p.pack(w.id, out, outgoing.next()) {
				return gaveUp{"room for the client's message"}
			}
		}
		if w.id == 1 {
			if !p.pack(w.id, out, outgoing.next()) {
				return gaveUp{"room for the answer"}
			}
		} else if !p.unpack(w.id, in, incoming.next()) {
			return gaveUp{"the server's answer"}
		}
		if w.id == 0 {
			p.finish(w, 2*i+1)
		}
	}
	return nil
}

// delay waits at least as long as Delay.
func (p *roundTrip) delay(round int) {
	if p.Delay == 0 {
		return
	}
	begin, waited := time.Now(), time.Duration(0)
	for waited < p.Delay {
		waited = time.Since(begin)
	}
	p.waited[round] += waited
}

// serve receives one of the client's messages.
func (p *roundTrip) serve(run, id int, in *shm.Receiver, m []byte) bool {
	if !p.Receiver {
		return p.unpack(id, in, m)
	}
	if !in.Await() {
		return false
	}
	before := time.Since(p.epoch)
	begin := time.Since(p.epoch)
	ok := p.unpack(id, in, m)
	p.receiving[run] += time.Since(p.epoch) - begin - (begin - before)
	return ok
}

// pack sends a message, packed first if it has a layout.
func (p *roundTrip) pack(id int, out *shm.Sender, m []byte) bool {
	if p.Layout != nil {
		packed := p.packed[id][sending][:p.Bytes]
		p.Layout.Pack(packed, m)
		m = packed
	}
	return p.send(out, m)
}

// unpack receives a message, and unpacks it if it has a layout.
func (p *roundTrip) unpack(id int, in *shm.Receiver, m []byte) bool {
	if p.Layout == nil {
		return p.receive(in, m)
	}
	packed := p.packed[id][receiving][:p.Bytes]
	if !p.receive(in, packed) {
		return false
	}
	p.Layout.Unpack(m, packed)
	return true
}

func (p *roundTrip) send(out *shm.Sender, m []byte) bool {
	for {
		n := min(len(m), p.SegmentBytes)
		if !out.Send(m[:n]) {
			return false
		}
		if m = m[n:]; len(m) == 0 {
			return true
		}
	}
}

func (p *roundTrip) receive(in *shm.Receiver, m []byte) bool {
	for {
		n := min(len(m), p.SegmentBytes)
		if !in.Receive(m[:n]) {
			return false
		}
		if m = m[n:]; len(m) == 0 {
			return true
		}
	}
}
