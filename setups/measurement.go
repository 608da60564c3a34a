package setups

import (
	"os"
	"sync/atomic"

	"github.com/taulop/taulop/internal/calls"
	"github.com/taulop/taulop/shm"
)

// A task is what a team does at one time: a measurement, and what is its own.
type task interface {
	common() *measurement
	measure(w *worker) error // a worker's part, in batches
	verify(w *worker) error  // that it holds what it should, after all have measured
}

// A measurement is what all tasks have in common: the first workers of a team,
// their memory, a clock, and channels between them.
type measurement struct {
	clock
	team     *Team
	channels []*shm.Channel // nil: of a worker without readers
	steps    *atomic.Uint64
	posts    []*shm.Post // of single copies
}

func (m *measurement) common() *measurement { return m }

// enlist begins a measurement of n workers, in batches of groups of rounds. Rounds of the
// barrier are counted, so it is always fresh.
func (m *measurement) enlist(t *Team, n, batches, group int) error {
	m.team, m.steps = t, new(atomic.Uint64)
	t.memory.huge = t.Huge
	if t.processes != nil {
		if err := t.processes.enlist(m); err != nil {
			return err
		}
	}
	flags := shm.BarrierBytes(n)
	r, err := t.memory.region(key{of: meeting}, flags+shm.RingBytes(n), fresh, nil)
	if err != nil {
		return err
	}
	m.set(t.workers[:n], batches, group)
	if t.processes != nil {
		if err := t.processes.shareClock(m); err != nil {
			return err
		}
	}
	m.barrier, m.byTurns = shm.NewBarrier(r.mem, n), t.placement.Oversubscribed
	switch {
	case m.byTurns || shm.Naps || t.calibrates: // flags wait for the scheduler, or no look is wanted
	case n > 1:
		m.ring = shm.NewRing(r.mem[flags:], n)
	case t.alone == nil:
		t.alone = calls.NewProbe()
		fallthrough
	default:
		m.alone = t.alone
	}
	if m.load = t.load; m.load != nil {
		return m.load.enlist(m, n, len(m.started))
	}
	return nil
}

// region is memory for the measurement.
func (m *measurement) region(k key, n int, life lifetime, write func([]byte, int)) (*region, error) {
	return m.team.memory.region(k, n, life, write)
}

// user is memory of worker w for messages: with what it sends, or to receive into. An arena
// stays, and what is sent from it never changes.
func (m *measurement) user(of purpose, w, side, n int) ([]byte, error) {
	life, write := fresh, zeros
	if of == arenaOfRanks {
		life = kept
	}
	if side == sending {
		write = patternFrom(m.team.patterns[w], 0)
	}
	r, err := m.region(key{of: of, worker: w, side: side}, n, life, write)
	if err != nil {
		return nil, err
	}
	return r.mem, nil
}

// channelsOf adds several channels that worker w writes, on pages of their own but in one
// mapping: one for each two of 256 workers would be more than a process may have.
func (m *measurement) channelsOf(w, count, segments, segmentBytes, readers int, life lifetime) (all []*shm.Channel, err error) {
	n, err := shm.ChannelBytes(segments, segmentBytes, readers)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	apart := (n + page - 1) / page * page
	r, err := m.region(key{of: intermediate, worker: w}, (count-1)*apart+n, life, zeros)
	if err != nil {
		return nil, err
	}
	for i := range count {
		all = append(all, shm.NewChannel(r.mem[i*apart:i*apart+n], segments, segmentBytes, readers))
	}
	m.channels = append(m.channels, all...)
	return all, nil
}

// work is one worker's part of a task.
func (m *measurement) work(w *worker, tk task) error {
	if w.id >= len(m.workers) {
		if m.load != nil {
			return m.load.inject(m, w)
		}
		return nil
	}
	if m.load != nil {
		defer m.load.over.Store(true)
	}
	if err := m.team.memory.touch(w.id, m.step); err != nil {
		return err
	}
	if m.load != nil {
		if err := m.load.await(m); err != nil {
			return err
		}
	}
	if err := tk.measure(w); err != nil {
		return err
	}
	// Checking is traffic too: not while another still measures.
	if err := m.meet(w); err != nil {
		return err
	}
	if m.load != nil {
		m.load.over.Store(true)
	}
	return tk.verify(w)
}

// step counts as progress. It is false if the worker is to stop.
func (m *measurement) step() bool {
	m.steps.Add(1)
	return !m.team.stop.Load()
}

// progress grows as long as any worker gets anywhere.
func (m *measurement) progress() uint64 {
	n := m.steps.Load()
	for _, w := range m.workers {
		n += m.barrier.Arrived(w.id)
	}
	for _, c := range m.channels {
		if c != nil {
			n += c.Progress()
		}
	}
	for _, p := range m.posts {
		n += p.Progress()
	}
	if m.ring != nil {
		n += m.ring.Progress()
	}
	return n
}

// unmap ends the measurement, unless a worker may still be in there.
func (m *measurement) unmap() {
	if m.team.broken == nil {
		m.team.memory.unmap()
	}
}
