package setups

import (
	"os"
	"sync/atomic"

	"github.com/taulop/taulop/internal/calls"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/shm"
)

// A task is one run of a team: the common part, a measurement, and the task's own.
type task interface {
	common() *measurement
	measure(w *worker) error // a worker's part, in batches
	verify(w *worker) error  // checks the worker's data after all workers have measured
}

// A measurement is the common part of all tasks: the first workers of a team, their memory, a
// clock, and channels between them.
type measurement struct {
	clock
	team     *Team
	channels []*shm.Channel // nil for a worker without readers
	steps    *atomic.Uint64
	posts    []*shm.Post // of single copies
}

func (m *measurement) common() *measurement { return m }

// enlist begins a measurement of n workers with batches of a group of rounds each. It maps a fresh
// barrier, because a barrier counts its rounds.
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
	case m.byTurns || shm.Naps || t.calibrates: // no probes: flags wait for the scheduler, or nothing is sampled
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

func (m *measurement) region(k key, n int, life lifetime, write func([]byte, int)) (*region, error) {
	return m.team.memory.region(k, n, life, write)
}

// user returns worker w's memory to send from or to receive into. Arenas and large buffers stay mapped, and
// the bytes to send in them never change.
func (m *measurement) user(of purpose, w, side, n int) ([]byte, error) {
	life, write := fresh, zeros
	if of == arena || of == largeBuffer {
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

// channelsOf adds channels that worker w writes, each on its own pages, all in one mapping: a
// mapping for each pair of 256 workers would exceed the limit of a process.
func (m *measurement) channelsOf(w, count, segments, segmentBytes, readers int, life lifetime) (all []*shm.Channel, err error) {
	n, err := shm.ChannelBytes(segments, segmentBytes, readers)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	stride := (n + page - 1) / page * page
	r, err := m.region(key{of: intermediate, worker: w}, (count-1)*stride+n, life, zeros)
	if err != nil {
		return nil, err
	}
	for i := range count {
		all = append(all, shm.NewChannel(r.mem[i*stride:i*stride+n], segments, segmentBytes, readers))
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
	// Checks cause memory traffic: they wait until all workers have measured.
	if err := m.meet(w, nil); err != nil {
		return err
	}
	if m.load != nil {
		m.load.over.Store(true)
	}
	return tk.verify(w)
}

// step counts as progress. It returns false if the worker is to stop.
func (m *measurement) step() bool {
	m.steps.Add(1)
	return !m.team.stop.Load()
}

// progress grows while any worker advances.
func (m *measurement) progress() uint64 {
	n := m.steps.Load() + lists.Sum(m.posts, (*shm.Post).Progress) + lists.Sum(m.workers, func(w *worker) uint64 { return m.barrier.Arrived(w.id) })
	for _, c := range m.channels {
		if c != nil {
			n += c.Progress()
		}
	}
	if m.ring != nil {
		n += m.ring.Progress()
	}
	return n
}

// unmap ends the measurement. It keeps the memory of a broken team, whose workers may still use it.
func (m *measurement) unmap() {
	if m.team.broken == nil {
		m.team.memory.unmap()
	}
}
