package setups

import (
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/shm"
)

// measure is one rank's part: it carries out the rank's steps in each run.
func (p *performance) measure(w *worker) error {
	me := p.ranks[w.id]
	p.tell(w.id)
	me.reach(len(p.started) / 2)
	if err := p.reachFetches(w); err != nil {
		return err
	}
	for round := 0; ; round++ {
		if input := p.Schedule.Brings(w.id); round%2 == 1 && p.rewrites() && input.Bytes > 0 {
			lay(p.span(w.id, round/2, input), p.team.patterns[w.id], p.brought(w.id, round/2)+input.Offset)
		}
		times := 1
		if round == 1 {
			times = p.warmUps()
		}
		if on, err := p.start(w, round); err != nil || !on {
			return err
		}
		if round%2 == 1 {
			for i := range times {
				if i > 0 {
					if err := p.meet(w, nil); err != nil {
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
		// A round is over when its stores have left the CPU's store buffers: an atomic store waits
		// for them.
		me.done.Store(int64(round))
		p.finish(w, round)
	}
}

// reachFetches maps the pages of arenas for the copies between processes.
func (p *performance) reachFetches(w *worker) error {
	if !p.byProcess || p.ArenaBytes == 0 {
		return nil
	}
	if err := p.meet(w, nil); err != nil { // all have told their addresses
		return err
	}
	reach := func(c spanCopy) {
		for run := range len(p.started) / 2 {
			if c.from != w.id {
				shm.ReachFetch(p.team.processes.ids[c.from], p.span(w.id, run, c.dst), p.remote(c.from, run, c.src))
			}
		}
	}
	for _, st := range p.ranks[w.id].steps {
		for _, c := range st.copies {
			reach(c)
		}
		for _, f := range st.fetches {
			reach(f.spanCopy)
		}
	}
	return nil
}

// warmUps is how often the warm-up round carries out the schedule: until buffers in cache have
// found their place there.
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
	if p.arenaBytes > 0 {
		for _, side := range []int{sending, receiving} {
			p.read(w, side, below(p.arenaBytes-p.team.down, p.arenaBytes))
		}
	}
	return p.checkRuns(w.id)
}

// checkRuns compares a rank's receive buffer with the collective's promise: of runs that used the same place,
// after the last.
func (p *performance) checkRuns(id int) error {
	runs := p.rounds / 2
	for run := max(0, runs-p.ranks[id].buffers[collective.Recv].places); run < runs && !p.Null; run++ {
		recv := p.whole(id, run, collective.Recv)
		for _, part := range p.Schedule.Promise(id) {
			if err := p.checkPart(id, run, recv[:part.Size()], part); err != nil {
				return err
			}
			recv = recv[part.Size():]
		}
	}
	return nil
}

// step carries out one of a rank's steps.
func (p *performance) step(w *worker, run, s int) error {
	id := w.id
	st := &p.ranks[id].steps[s]
	if st.meet {
		if err := p.meet(w, nil); err != nil {
			return err
		}
	}
	for _, c := range st.copies {
		if c.from != id && p.byProcess {
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

// exchange sends a message and receives one, a segment of each in turn, then reduces the received one.
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

// fetch carries out a step by single copies: it offers the rank's messages, copies the messages to
// receive out of the senders' memory, and waits until its own were fetched before it reduces into
// their memory.
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

// tell publishes the addresses of a rank's buffers to the other processes.
func (p *performance) tell(id int) {
	if !p.byProcess {
		return
	}
	all := p.team.processes.addresses(id)
	for b := range p.ranks[id].buffers {
		all[b].Store(uint64(shm.Address(p.ranks[id].buffers[b].mem)))
	}
}

// remote is the address of a span in the process of another rank.
func (p *performance) remote(rank, run int, s collective.Span) uintptr {
	begin := p.team.processes.addresses(rank)[s.Buffer].Load()
	return uintptr(begin) + uintptr(p.ranks[rank].buffers[s.Buffer].at(run)+s.Offset)
}

// rewrites reports whether ranks rewrite their send data before each run, with other bytes. Off cache they need
// not: it is in memory either way.
func (p *performance) rewrites() bool { return p.Rewritten && p.ArenaBytes == 0 }

func (p *performance) span(rank, run int, s collective.Span) []byte {
	b := &p.ranks[rank].buffers[s.Buffer]
	at := b.at(run) + s.Offset
	return b.mem[at : at+s.Bytes]
}

func (p *performance) whole(rank, run int, b collective.Buffer) []byte {
	return p.span(rank, run, collective.Span{Buffer: b, Bytes: p.ranks[rank].buffers[b].size})
}

// checkPart compares a part of a rank's receive buffer with the collective's promise.
func (p *performance) checkPart(id, run int, recv []byte, part collective.Part) error {
	if part.Reduced {
		want, in := make([]byte, part.Bytes), make([]byte, part.Bytes)
		lay(want, p.team.patterns[part.From], p.brought(part.From, run)+part.At)
		for from := part.From + 1; from < part.From+part.Ranks; from++ {
			lay(in, p.team.patterns[from], p.brought(from, run)+part.At)
			p.Operator.Apply(want, in)
		}
		if string(want) != string(recv) {
			return fmt.Errorf("%s: rank %d does not hold the result: this machine's copies cannot be trusted", p.Schedule.Algorithm, id)
		}
		return nil
	}
	for i := range part.Ranks {
		from := part.From + i
		if differ(recv[i*part.Bytes:(i+1)*part.Bytes], p.team.patterns[from], p.brought(from, run)+part.At) >= 0 {
			return fmt.Errorf("%s: rank %d does not hold what rank %d sent: this machine's copies cannot be trusted", p.Schedule.Algorithm, id, from)
		}
	}
	return nil
}

// brought is the byte of its pattern at which a rank's contribution to a run begins.
func (p *performance) brought(id, run int) int {
	at := p.ranks[id].buffers[p.Schedule.Brings(id).Buffer].at(run)
	if p.rewrites() {
		const shift = 4099 // prime, as patternBytes is
		at += run * shift % patternBytes
	}
	return at
}
