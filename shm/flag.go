package shm

import (
	"sync/atomic"
	"unsafe"
)

// lineBytes keeps two flags apart: two 64-byte lines, because the adjacent-line
// prefetcher fetches them in pairs.
const lineBytes = 128

// A Flag is a counter that one worker raises and others wait for.
//
// Set is a release store and nothing else: what Flag.Set of amd64 says of loads and exchanges
// holds for whatever would touch the line before.
//
// On arm64 Set is STLR and Load is LDAR, as in C. LDAR waits until an earlier STLR is seen,
// LDAPR would not. Only a writer that asks whether a segment is free right after it has filled
// one could gain by LDAPR: what others wait for is the answer to the flag that was set. Go has
// LDAPR only in assembly, and the call costs more.
type Flag struct {
	n atomic.Uint64
	_ [lineBytes - 8]byte
}

// Load returns the count.
//
//go:nosplit
func (f *Flag) Load() uint64 { return f.n.Load() }

// Await spins until the count is at least n and returns it. It gives up when
// w is told to stop; the count is below n then.
//
// It spins on a plain load. Between workers that each have a core PAUSE delays seeing the
// store on some processors, and on others it does the opposite, see BenchmarkFlag.
//
//go:nosplit
func (f *Flag) Await(n uint64, w *Waiter) uint64 {
	for spins := 1; ; spins++ {
		v := f.n.Load()
		if v >= n {
			return v
		}
		if spins&w.mask == 0 && !w.relax() {
			return v
		}
	}
}

// flagAt is the flag at offset off of mapped memory. This is the only place where the package
// leaves Go's memory safety: off is a multiple of lineBytes within mem, and mem is
// page-aligned, so that the flag is aligned and inside.
func flagAt(mem []byte, off int) *Flag {
	return (*Flag)(unsafe.Pointer(&mem[off : off+lineBytes][0]))
}

// A Waiter is how a worker waits: spinning on its own core, with pauses where another
// worker has the core's other hardware thread, or yielding after a short spin where
// workers share CPUs. Each worker has its own.
type Waiter struct {
	stop  *atomic.Bool
	yield bool
	pause bool
	mask  int
	naps  naps
}

// NewWaiter returns a Waiter that gives up waiting once stop is true, and
// yields the CPU while it waits when workers outnumber CPUs.
func NewWaiter(stop *atomic.Bool, yield bool) *Waiter {
	if yield || overcommitted {
		// Longer than a flag takes between two cores, short against a time slice.
		return &Waiter{stop: stop, yield: true, mask: 1<<6 - 1}
	}
	return &Waiter{stop: stop, mask: 1<<12 - 1}
}

// BesideSibling returns a Waiter that pauses at every spin, so that it leaves the core to the
// worker on the core's other hardware thread. A Waiter that yields stays as it is.
func (w *Waiter) BesideSibling() *Waiter {
	if w.yield {
		return w
	}
	return &Waiter{stop: w.stop, pause: true}
}

// relax is called now and then while waiting; false means give up. Not inlined
// and not nosplit: its prologue is where the runtime can stop a worker that
// waits, for one that it has stopped already.
//
//go:noinline
func (w *Waiter) relax() bool {
	if w.stop.Load() {
		return false
	}
	switch {
	case overcommitted:
		w.naps.nap()
	case w.yield:
		yield()
	}
	if w.pause {
		pause()
	}
	return true
}
