package setups

import (
	"context"
	"fmt"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/shm"
)

// A Collective is a schedule to be carried out on this machine's memory, a rank
// a worker, messages through segmented channels between each pair of ranks.
type Collective struct {
	Schedule     *collective.Schedule
	Segments     int       // nseg of each channel
	SegmentBytes int       // S
	Operator     *Operator // of a reduction
	Runs         int       // timed, after one that warms up
	ArenaBytes   int       // > 0: off cache, ranks' buffers walk through that much each
}

// RunCollective carries a schedule out and returns the time of each run in ns,
// from the release of a barrier to the finish of the last rank. It fails if any
// rank does not hold afterwards what the collective promises.
func (t *Team) RunCollective(ctx context.Context, c Collective) ([]float64, error) {
	if p := c.Schedule.Call.P; p != t.Tau() {
		return nil, fmt.Errorf("a schedule for %d ranks needs as many workers, there are %d", p, t.Tau())
	}
	run, err := t.lay(c)
	defer func() {
		if t.broken == nil {
			for _, r := range run.regions {
				r.Close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := t.run(ctx, run); err != nil {
		return nil, err
	}
	times := make([]float64, c.Runs)
	for i := range times {
		var last time.Duration
		for _, rank := range run.ranks {
			last = max(last, rank.finish[i+1])
		}
		times[i] = float64(last - run.start[i+1])
	}
	return times, nil
}

// A performance is a Collective with its memory and a program for each rank.
type performance struct {
	Collective
	epoch    time.Time
	start    []time.Duration // of each run, the warm-up first
	barrier  *shm.Barrier
	channels []*shm.Channel
	regions  []*shm.Region
	ranks    []*rank
	slots    int
	patterns [][]byte
}

type rank struct {
	memory []byte // slots of Send, Recv and Temp
	at     [3]int // of each buffer in a slot
	size   [3]int
	stride int // of a slot
	steps  []step
	finish []time.Duration
}

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
}

// A spanCopy is a copy that the rank carries out itself.
type spanCopy struct {
	from     int
	src, dst collective.Span
}

func (t *Team) lay(c Collective) (*performance, error) {
	s := c.Schedule
	run := &performance{Collective: c, epoch: time.Now(), start: make([]time.Duration, c.Runs+1), patterns: t.patterns, slots: 1}
	mem, err := run.mapped(t, shm.Map, shm.BarrierBytes(t.Tau()), t.placement.Workers[0].IntermediateNode)
	if err != nil {
		return run, err
	}
	run.barrier = shm.NewBarrier(mem, t.Tau())
	for i := range t.Tau() {
		r := &rank{finish: make([]time.Duration, c.Runs+1)}
		for _, b := range []collective.Buffer{collective.Send, collective.Recv, collective.Temp} {
			r.at[b], r.size[b] = r.stride, s.Size(i, b)
			r.stride += unitsOf(r.size[b]) * unitBytes
		}
		run.ranks = append(run.ranks, r)
	}
	if c.ArenaBytes > 0 {
		// All ranks walk in step: the one with the most memory sets the pace.
		most := 0
		for _, r := range run.ranks {
			most = max(most, r.stride)
		}
		run.slots = max(1, c.ArenaBytes/most)
	}
	for i, r := range run.ranks {
		if r.memory, err = run.mapped(t, shm.MapPrivate, r.stride*run.slots, t.placement.Workers[i].UserNode); err != nil {
			return run, err
		}
	}
	return run, run.program(t)
}

func (p *performance) mapped(t *Team, how func(int) (*shm.Region, error), n, node int) ([]byte, error) {
	r, err := t.mapOn(how, n, node)
	if err != nil {
		return nil, err
	}
	p.regions = append(p.regions, r)
	return r.Bytes(), nil
}

// program writes each rank's steps, with a channel for each pair that talks.
func (p *performance) program(t *Team) error {
	type pair struct{ from, to int }
	channels := make(map[pair]*shm.Channel)
	n, err := shm.ChannelBytes(p.Segments, p.SegmentBytes, 1)
	if err != nil {
		return err
	}
	outs, ins := make(map[pair]*shm.Sender), make(map[pair]*shm.Receiver)
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
			between := pair{m.From, m.To}
			if channels[between] == nil {
				mem, err := p.mapped(t, shm.Map, n, t.placement.Workers[m.From].IntermediateNode)
				if err != nil {
					return err
				}
				c := shm.NewChannel(mem, p.Segments, p.SegmentBytes, 1)
				channels[between] = c
				p.channels = append(p.channels, c)
				outs[between] = c.Sender(t.workers[m.From].wait)
				ins[between] = c.Receiver(0, t.workers[m.To].wait)
			}
			from, to := part(m.From), part(m.To)
			from.out, from.send = outs[between], m.Src
			to.in, to.recv, to.peer = ins[between], m.Dst, m.From
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
	return nil
}

func (p *performance) progress() (n uint64) {
	for _, c := range p.channels {
		n += c.Progress()
	}
	for w := range p.ranks {
		n += p.barrier.Arrived(w)
	}
	return n
}

// work is one rank's part: lay the data, carry the steps out, check.
func (p *performance) work(w *worker) error {
	me := p.ranks[w.id]
	for slot := range p.slots {
		p.fill(w.id, slot)
	}
	round := uint64(0)
	for i := range p.Runs + 1 {
		round++
		if !p.meet(w, round, i) {
			return gaveUp{"the others to begin"}
		}
		slot := i % p.slots
		for s := range me.steps {
			st := &me.steps[s]
			if st.meet {
				round++
				if !p.meet(w, round, -1) {
					return gaveUp{fmt.Sprintf("the others to begin stage %d", s)}
				}
			}
			for _, c := range st.copies {
				shm.Copy(p.span(w.id, slot, c.dst), p.span(c.from, slot, c.src))
			}
			if !p.exchange(w.id, slot, st) {
				return gaveUp{fmt.Sprintf("rank %d in stage %d", st.peer, s)}
			}
		}
		me.finish[i] = time.Since(p.epoch)
	}
	if round++; !p.meet(w, round, -1) {
		return gaveUp{"the others to finish"}
	}
	for slot := range min(p.slots, p.Runs+1) {
		if err := p.check(w.id, slot); err != nil {
			return err
		}
	}
	return nil
}

// meet waits for all ranks, and notes when run i began.
func (p *performance) meet(w *worker, round uint64, i int) bool {
	if w.id > 0 {
		return p.barrier.Meet(w.id, round, w.wait)
	}
	if !p.barrier.Gather(round, w.wait) {
		return false
	}
	if i >= 0 {
		p.start[i] = time.Since(p.epoch)
	}
	p.barrier.Release(round)
	return true
}

// exchange sends a message and receives one, a segment each in turn.
func (p *performance) exchange(id, slot int, st *step) bool {
	var out, in []byte
	sending, receiving := st.out != nil, st.in != nil
	if sending {
		out = p.span(id, slot, st.send)
	}
	if receiving {
		in = p.span(id, slot, st.recv)
	}
	for sending || receiving {
		if sending {
			n := min(len(out), p.SegmentBytes)
			if !st.out.Send(out[:n]) {
				return false
			}
			out = out[n:]
			sending = len(out) > 0
		}
		if receiving {
			n := min(len(in), p.SegmentBytes)
			if st.reduce {
				if !st.in.Reduce(in[:n], p.Operator.apply) {
					return false
				}
			} else if !st.in.Receive(in[:n]) {
				return false
			}
			in = in[n:]
			receiving = len(in) > 0
		}
	}
	return true
}

func (p *performance) span(rank, slot int, s collective.Span) []byte {
	r := p.ranks[rank]
	at := slot*r.stride + r.at[s.Buffer] + s.Offset
	return r.memory[at : at+s.Bytes]
}

func (p *performance) whole(rank, slot int, b collective.Buffer) []byte {
	return p.span(rank, slot, collective.Span{Buffer: b, Bytes: p.ranks[rank].size[b]})
}

// fill lays what a rank brings: its Send, and the root's Recv of a broadcast.
func (p *performance) fill(id, slot int) {
	clear(p.whole(id, slot, collective.Recv))
	clear(p.whole(id, slot, collective.Temp))
	lay(p.whole(id, slot, collective.Send), p.patterns[id], 0)
	if call := p.Schedule.Call; p.Schedule.Algorithm.Collective == "bcast" && id == call.Root {
		lay(p.whole(id, slot, collective.Recv), p.patterns[id], 0)
	}
}

// check compares what a rank holds with what the collective promises (MPI-3.1,
// chapter 5).
func (p *performance) check(id, slot int) error {
	call := p.Schedule.Call
	recv := p.whole(id, slot, collective.Recv)
	bad := func(from int) error {
		return fmt.Errorf("%s: rank %d does not hold what rank %d sent: this machine's copies cannot be trusted", p.Schedule.Algorithm, id, from)
	}
	block := func(from, in, out int) error { // block `in` of from's Send is block `out` of Recv
		if differ(recv[out*call.M:(out+1)*call.M], p.patterns[from], in*call.M) >= 0 {
			return bad(from)
		}
		return nil
	}
	switch p.Schedule.Algorithm.Collective {
	case "barrier":
		return nil
	case "bcast":
		return block(call.Root, 0, 0)
	case "scatter":
		return block(call.Root, id, 0)
	case "gather", "allgather":
		if p.Schedule.Algorithm.Collective == "gather" && id != call.Root {
			return nil
		}
		for from := range call.P {
			if err := block(from, 0, from); err != nil {
				return err
			}
		}
		return nil
	case "alltoall":
		for from := range call.P {
			if err := block(from, id, from); err != nil {
				return err
			}
		}
		return nil
	case "reduce", "allreduce":
		if p.Schedule.Algorithm.Collective == "reduce" && id != call.Root {
			return nil
		}
		want := make([]byte, call.M)
		lay(want, p.patterns[0], 0)
		in := make([]byte, call.M)
		for from := 1; from < call.P; from++ {
			lay(in, p.patterns[from], 0)
			p.Operator.apply(want, in)
		}
		if string(want) != string(recv[:call.M]) {
			return fmt.Errorf("%s: rank %d does not hold the result: this machine's copies cannot be trusted", p.Schedule.Algorithm, id)
		}
		return nil
	}
	return fmt.Errorf("what %s promises is not known here", p.Schedule.Algorithm)
}
