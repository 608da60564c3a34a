package setups

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/shm"
)

// A Collective is a schedule to be carried out on this machine's memory, a rank
// a worker, messages through segmented channels between each pair of ranks.
type Collective struct {
	Schedule     *collective.Schedule
	Segments     int              // nseg of each channel
	SegmentBytes int              // S
	Operator     *reduce.Operator // of a reduction
	Runs         int              // timed, after some that warm up
	ArenaBytes   int              // > 0: off cache, ranks' buffers walk through at least that much each

	// For ranks that are processes: messages are single copies, which receivers fetch from the
	// senders' memory; in cache, ranks rewrite what they send before each run, untimed.
	Single, Rewritten bool
	// Null: of single copies all is done but the copy.
	Null bool
}

// RunCollective carries a schedule out and returns the time of each run in ns, from the
// announced start to the last rank's finish, less the time of an empty run. It fails if a rank
// does not hold afterwards what the collective promises.
//
// Off cache, ranks send from one arena and receive into another, which the team keeps from call
// to call.
func (t *Team) RunCollective(ctx context.Context, c Collective) ([]float64, error) {
	if p := c.Schedule.Call.P; p != t.Tau() {
		return nil, fmt.Errorf("a schedule for %d ranks needs as many workers, there are %d", p, t.Tau())
	}
	if c.Single && t.processes == nil {
		return nil, errors.New("single copies go from process to process, and these workers are threads")
	}
	run, err := t.lay(c)
	defer run.unmap()
	if err != nil {
		if t.processes != nil { // they no longer share the same memory
			t.broken = err
		}
		return nil, err
	}
	err = t.run(ctx, run)
	if t.processes != nil {
		run.keepClock()
	}
	if err != nil {
		return nil, err
	}
	rounds, _ := run.measured()
	var nothing, times []float64
	for _, r := range rounds {
		nothing = append(nothing, run.took(r-1))
	}
	clock := median(nothing)
	if t.placement.Oversubscribed { // then it is the scheduler's
		clock = 0
	}
	for _, r := range rounds {
		times = append(times, max(0, run.took(r)-clock))
	}
	return times, nil
}

// A performance is a Collective with its memory and a program for each rank.
//
// Its rounds alternate: even ones are empty, odd ones are runs, the first of which warms up. An
// empty round takes what the clock takes.
type performance struct {
	Collective
	measurement
	ranks    []*rank
	patterns [][]byte
	since    int64 // of processes: the epoch on the system's clock, ns
}

type rank struct {
	buffers [3]buffer // by collective.Buffer
	steps   []step
	arrived []byte       // what is to be reduced
	done    atomic.Int64 // rounds
}

// A buffer is a rank's, at a place of its own in each run if it walks.
type buffer struct {
	mem    []byte
	size   int
	end    int // of the places, which come down from there as a trial's messages do
	stride int // from place to place
	places int
	first  int // place of the warm-up
}

// at is where the buffer of a run begins.
func (b *buffer) at(run int) int { return b.end - ((b.first+run)%b.places+1)*b.stride }

// A step is a rank's part of a stage: it sends a segment and receives one in
// turn, or copies.
type step struct {
	out        *shm.Sender
	in         *shm.Receiver
	send, recv collective.Span
	peer       int // it receives from
	reduce     bool
	copies     []spanCopy
	meet       bool // copies between ranks begin together
	offers     []*shm.Offer
	fetches    []fetch
}

// A fetch is a single copy from another rank's memory.
type fetch struct {
	*shm.Taker
	from     int
	src, dst collective.Span
}

// A spanCopy is a copy that the rank carries out itself.
type spanCopy struct {
	from     int
	src, dst collective.Span
}

// arenaBytes is the size of the arenas of collectives, which is one for all, and so
// many bytes at least.
func (t *Team) arenaBytes(bytes int) int {
	t.memory.drop(func(r *region) bool { return r.of == arenaOfRanks && len(r.mem) < bytes })
	for k, r := range t.memory.kept {
		if k.of == arenaOfRanks {
			return len(r.mem)
		}
	}
	return bytes
}

func (t *Team) lay(c Collective) (*performance, error) {
	run := &performance{Collective: c, patterns: t.patterns, since: shm.Monotonic()}
	run.every = max(1, c.Runs/looksBetween)
	if err := run.enlist(t, t.Tau(), c.Runs, 2); err != nil {
		return run, err
	}
	for range t.workers {
		run.ranks = append(run.ranks, &rank{})
	}
	if err := run.program(t); err != nil {
		return run, err
	}
	return run, run.place(t)
}

// brings reports whether a buffer holds something before the collective begins.
func (p *performance) brings(id int, b collective.Buffer) bool {
	given := p.Schedule.Brings(id)
	return given.Buffer == b && given.Bytes > 0
}

// place gives every buffer its memory.
func (p *performance) place(t *Team) error {
	var stride [2]int
	for id, r := range p.ranks {
		for b := range r.buffers {
			size, side := p.Schedule.Size(id, collective.Buffer(b)), p.side(id, collective.Buffer(b))
			r.buffers[b] = buffer{size: size, places: 1}
			if p.ArenaBytes == 0 || size == 0 || side < 0 {
				mem, err := p.user(userBuffer, id, side, size)
				if err != nil {
					return err
				}
				r.buffers[b].mem = mem
				continue
			}
			stride[side] = max(stride[side], unitsOf(size)*unitBytes)
		}
	}
	if stride == [2]int{} {
		return nil
	}
	bytes := t.arenaBytes(max(p.ArenaBytes, 2*stride[sending], 2*stride[receiving]))
	var places, first [2]int
	for side, n := range stride {
		if n > 0 {
			places[side] = bytes / n
		}
	}
	// Each time that runs come to a place where they received before, what they send comes from
	// another place: bytes left there from before are wrong.
	if places[sending] > 0 && places[receiving]%places[sending] == 0 {
		places[receiving]--
	}
	for side, n := range stride {
		if places[side] > 0 {
			first[side] = (t.next[side] + n - 1) / n % places[side]
			t.next[side] = (first[side] + len(p.started)/2) % places[side] * n
		}
	}
	for id, r := range p.ranks {
		for b := range r.buffers {
			buf := &r.buffers[b]
			if buf.mem != nil {
				continue
			}
			side := p.side(id, collective.Buffer(b))
			mem, err := p.user(arenaOfRanks, id, side, bytes)
			if err != nil {
				return err
			}
			buf.mem, buf.end, buf.stride, buf.places, buf.first = mem, bytes/unitBytes*unitBytes, stride[side], places[side], first[side]
		}
	}
	return nil
}

// side says which arena a buffer lies in off cache, −1 if in none.
func (p *performance) side(id int, b collective.Buffer) int {
	switch {
	case p.brings(id, b):
		return sending
	case b == collective.Recv:
		return receiving
	}
	return -1
}

// A talk is a rank that sends to another.
type talk struct{ from, to int }

// connect has a channel for each pair that talks, or a post where messages are single
// copies.
func (p *performance) connect(t *Team) (wires map[talk]wire, err error) {
	wires = make(map[talk]wire)
	peers := make([][]int, t.Tau()) // by rank: the ranks that it sends to
	known := make(map[talk]bool)
	for _, stage := range p.Schedule.Steps() {
		if stage.Pattern == collective.Local || stage.Pattern == collective.Transfer {
			continue
		}
		for m := range stage.Messages() {
			if between := (talk{m.From, m.To}); !known[between] {
				known[between] = true
				peers[m.From] = append(peers[m.From], m.To)
			}
		}
	}
	for from, to := range peers {
		if len(to) == 0 {
			continue
		}
		if p.Single {
			r, err := p.region(key{of: intermediate, worker: from}, len(to)*shm.PostBytes, fresh, zeros)
			if err != nil {
				return nil, err
			}
			for i, peer := range to {
				post := shm.NewPost(r.mem, i*shm.PostBytes)
				p.posts = append(p.posts, post)
				wires[talk{from, peer}] = wire{offer: post.Offer(t.workers[from].wait), take: post.Taker(t.workers[peer].wait)}
			}
			continue
		}
		all, err := p.channelsOf(from, len(to), p.Segments, p.SegmentBytes, 1, fresh)
		if err != nil {
			return nil, err
		}
		for i, c := range all {
			wires[talk{from, to[i]}] = wire{out: c.Sender(t.workers[from].wait), in: c.Receiver(0, t.workers[to[i]].wait)}
		}
	}
	return wires, nil
}

// A wire has the two ends of what carries messages from one rank to another.
type wire struct {
	out   *shm.Sender
	in    *shm.Receiver
	offer *shm.Offer
	take  *shm.Taker
}

// program writes each rank's steps, with a channel for each pair that talks.
func (p *performance) program(t *Team) error {
	wires, err := p.connect(t)
	if err != nil {
		return err
	}
	reduced := make([]int, t.Tau()) // bytes, of the largest that arrive
	for _, stage := range p.Schedule.Steps() {
		parts := make(map[int]*step)
		part := func(rank int) *step {
			if parts[rank] == nil {
				parts[rank] = &step{reduce: stage.Reduce}
			}
			return parts[rank]
		}
		for m := range stage.Messages() {
			if stage.Pattern == collective.Local || stage.Pattern == collective.Transfer {
				s := part(m.To)
				s.copies = append(s.copies, spanCopy{m.From, m.Src, m.Dst})
				continue
			}
			between := talk{m.From, m.To}
			from, to := part(m.From), part(m.To)
			if l := wires[between]; p.Single {
				from.offers = append(from.offers, l.offer)
				to.fetches = append(to.fetches, fetch{l.take, m.From, m.Src, m.Dst})
			} else {
				if from.out != nil || to.in != nil {
					return fmt.Errorf("%s: rank %d sends, or rank %d receives, several messages at once, which single copies alone do", p.Schedule.Algorithm, m.From, m.To)
				}
				from.out, from.send = l.out, m.Src
				to.in, to.recv, to.peer = l.in, m.Dst, m.From
			}
			if stage.Reduce {
				reduced[m.To] = max(reduced[m.To], m.Bytes())
			}
		}
		for r := range p.ranks {
			if stage.Pattern == collective.Transfer {
				part(r).meet = true
			}
			if s := parts[r]; s != nil {
				p.ranks[r].steps = append(p.ranks[r].steps, *s)
			}
		}
	}
	for id, bytes := range reduced {
		if bytes > 0 {
			var err error
			if p.ranks[id].arrived, err = p.user(userBuffer, id, receiving, bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure is one rank's part: carry the steps out.
func (p *performance) measure(w *worker) error {
	me := p.ranks[w.id]
	p.tell(w.id)
	for round := 0; ; round++ {
		if round%2 == 1 {
			p.rewrite(w.id, round/2)
		}
		times := 1
		if round == 1 {
			times = p.warmUps()
		}
		if on, err := p.start(w, round); err != nil || !on {
			return err
		}
		if round%2 == 1 {
			for again := range times {
				if again > 0 {
					if err := p.meet(w); err != nil {
						return err
					}
				}
				for s := range me.steps {
					if err := p.step(w, round/2, s); err != nil {
						return err
					}
				}
			}
		}
		// A round is over when all that it wrote is in place, not when that waits
		// in the CPU's buffers; an atomic store takes its turn after it.
		me.done.Store(int64(round))
		p.finish(w, round)
	}
}

// warmUps is how often the schedule is carried out in the round that warms up: until its
// buffers have found their place in the caches, if they are to be there.
func (p *performance) warmUps() int {
	const most = 512 << 20 // bytes
	bytes, largest := 0, 0
	for _, r := range p.ranks {
		for _, b := range r.buffers {
			bytes, largest = bytes+b.size, max(largest, b.size)
		}
	}
	if largest < leastFarBytes || p.ArenaBytes > 0 || p.Null || p.byTurns {
		return 1
	}
	return min(max(1, most/bytes), warmFar(largest))
}

func (p *performance) verify(w *worker) error {
	if p.ArenaBytes > 0 {
		bytes := p.team.arenaBytes(p.ArenaBytes)
		for side, next := range p.team.next {
			p.team.memory.read(w.id, side, below(bytes-next, bytes))
		}
	}
	return p.checkRuns(w.id)
}

// checkRuns checks a rank's runs. Where several runs used the same place the last one is
// checked.
func (p *performance) checkRuns(id int) error {
	if p.Null {
		return nil
	}
	runs := p.rounds / 2
	for run := max(0, runs-p.ranks[id].buffers[collective.Recv].places); run < runs; run++ {
		if err := p.check(id, run); err != nil {
			return err
		}
	}
	return nil
}

// step carries one of a rank's steps out.
func (p *performance) step(w *worker, run, s int) error {
	id := w.id
	st := &p.ranks[id].steps[s]
	if st.meet {
		if err := p.meet(w); err != nil {
			return err
		}
	}
	for _, c := range st.copies {
		if c.from != id && p.apart {
			if err := shm.Fetch(p.team.processes.ids[c.from], p.span(id, run, c.dst), p.remote(c.from, run, c.src)); err != nil {
				return err
			}
			continue
		}
		shm.Copy(p.span(id, run, c.dst), p.span(c.from, run, c.src))
	}
	if p.Single {
		return p.fetch(id, run, s, st)
	}
	if !p.exchange(id, run, st) {
		return gaveUp{fmt.Sprintf("rank %d in stage %d", st.peer, s)}
	}
	return nil
}

// exchange sends a message and receives one, a segment each in turn, and then
// reduces what arrived.
func (p *performance) exchange(id, run int, st *step) bool {
	var out, in []byte
	sends, receives := st.out != nil, st.in != nil
	if sends {
		out = p.span(id, run, st.send)
	}
	if receives {
		if in = p.span(id, run, st.recv); st.reduce {
			in = p.ranks[id].arrived[:len(in)]
		}
	}
	arriving := receives && st.reduce
	for sends || receives {
		if sends {
			n := min(len(out), p.SegmentBytes)
			if !st.out.Send(out[:n]) {
				return false
			}
			out = out[n:]
			sends = len(out) > 0
		}
		if receives {
			n := min(len(in), p.SegmentBytes)
			if !st.in.Receive(in[:n]) {
				return false
			}
			in = in[n:]
			receives = len(in) > 0
		}
	}
	if arriving {
		inout := p.span(id, run, st.recv)
		p.Operator.Apply(inout, p.ranks[id].arrived[:len(inout)])
	}
	return true
}

// fetch announces that what the rank sends is ready, copies what it receives out of the
// senders' memory, and waits until its own was fetched before it reduces into it.
func (p *performance) fetch(id, run, s int, st *step) error {
	for _, o := range st.offers {
		o.Ready()
	}
	for i := range st.fetches {
		f := &st.fetches[i]
		if !f.Await() {
			return gaveUp{fmt.Sprintf("rank %d in stage %d", f.from, s)}
		}
		into := p.span(id, run, f.dst)
		in := into
		if st.reduce {
			in = p.ranks[id].arrived[:len(into)]
		}
		if !p.Null {
			if err := shm.Fetch(p.team.processes.ids[f.from], in, p.remote(f.from, run, f.src)); err != nil {
				return err
			}
		}
		f.Taken()
	}
	for _, o := range st.offers {
		if !o.Await() {
			return gaveUp{fmt.Sprintf("its message of stage %d to be fetched", s)}
		}
	}
	for i := range st.fetches {
		if into := p.span(id, run, st.fetches[i].dst); st.reduce {
			p.Operator.Apply(into, p.ranks[id].arrived[:len(into)])
		}
	}
	return nil
}

// tell tells the other processes where a rank's buffers begin.
func (p *performance) tell(id int) {
	if !p.apart {
		return
	}
	all := p.team.processes.addresses(id)
	for b := range p.ranks[id].buffers {
		all[b].Store(uint64(shm.Address(p.ranks[id].buffers[b].mem)))
	}
}

// remote is where a span begins in the process of another rank.
func (p *performance) remote(rank, run int, s collective.Span) uintptr {
	begin := p.team.processes.addresses(rank)[s.Buffer].Load()
	return uintptr(begin) + uintptr(p.ranks[rank].buffers[s.Buffer].at(run)+s.Offset)
}

// rewrite writes what a rank sends in a run, other bytes than in the run before.
func (p *performance) rewrite(id, run int) {
	if given := p.Schedule.Brings(id); p.rewrites() && given.Bytes > 0 {
		lay(p.span(id, run, given), p.patterns[id], p.brought(id, run)+given.Offset)
	}
}

// rewrites reports whether ranks rewrite what they send: off cache it is in memory either way.
func (p *performance) rewrites() bool { return p.Rewritten && p.ArenaBytes == 0 }

func (p *performance) span(rank, run int, s collective.Span) []byte {
	b := &p.ranks[rank].buffers[s.Buffer]
	at := b.at(run) + s.Offset
	return b.mem[at : at+s.Bytes]
}

func (p *performance) whole(rank, run int, b collective.Buffer) []byte {
	return p.span(rank, run, collective.Span{Buffer: b, Bytes: p.ranks[rank].buffers[b].size})
}

// check compares what a rank holds after a run with what the collective promises.
func (p *performance) check(id, run int) error {
	recv := p.whole(id, run, collective.Recv)
	for _, part := range p.Schedule.Promise(id) {
		if err := p.checkPart(id, run, recv[:part.Size()], part); err != nil {
			return err
		}
		recv = recv[part.Size():]
	}
	return nil
}

func (p *performance) checkPart(id, run int, recv []byte, part collective.Part) error {
	if part.Reduced {
		want, in := make([]byte, part.Bytes), make([]byte, part.Bytes)
		lay(want, p.patterns[part.From], p.brought(part.From, run)+part.At)
		for from := part.From + 1; from < part.From+part.Ranks; from++ {
			lay(in, p.patterns[from], p.brought(from, run)+part.At)
			p.Operator.Apply(want, in)
		}
		if string(want) != string(recv) {
			return fmt.Errorf("%s: rank %d does not hold the result: this machine's copies cannot be trusted", p.Schedule.Algorithm, id)
		}
		return nil
	}
	for i := range part.Ranks {
		from := part.From + i
		if differ(recv[i*part.Bytes:(i+1)*part.Bytes], p.patterns[from], p.brought(from, run)+part.At) >= 0 {
			return fmt.Errorf("%s: rank %d does not hold what rank %d sent: this machine's copies cannot be trusted", p.Schedule.Algorithm, id, from)
		}
	}
	return nil
}

// brought is where in its pattern a rank's contribution to a run begins.
func (p *performance) brought(id, run int) int {
	at := p.ranks[id].buffers[p.Schedule.Brings(id).Buffer].at(run)
	if p.rewrites() {
		const shift = 4099 // prime, as patternBytes is
		at += run * shift % patternBytes
	}
	return at
}
