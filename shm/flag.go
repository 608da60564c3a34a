package shm

import (
	"sync/atomic"
	"unsafe"
)

// lineBytes is the distance of two flags: two 64-byte lines, because the adjacent-line prefetcher
// fetches them in pairs.
const lineBytes = 128

// A Flag is a counter that one worker raises and others wait for.
//
// Set is a release store without any access to the line before it, see Set of amd64.
//
// On arm64 Set is STLR and Load is LDAR, as in C. LDAR waits until an earlier STLR is visible, LDAPR
// would not. LDAPR could only help a writer that fills a segment and then asks whether the next is free:
// all other waits are for the answer to the flag that was set. Go has LDAPR only in assembly, and the
// call costs more.
type Flag struct {
	n atomic.Uint64
	_ [lineBytes - 8]byte
}

// Load returns the count.
//
//go:nosplit
func (f *Flag) Load() uint64 { return f.n.Load() }

// Await spins until the count is at least n and returns it. It gives up when w is told to stop: the
// returned count is then below n.
//
// It spins on a plain load. Between workers on cores of their own, PAUSE delays the view of the store on
// some processors and speeds it up on others, see BenchmarkFlag.
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

// flagAt is the flag at offset off of mapped memory. Off is a multiple of lineBytes within mem, and mem
// is page-aligned, so the flag is aligned and inside.
func flagAt(mem []byte, off int) *Flag { return (*Flag)(unsafe.Pointer(&mem[off : off+lineBytes][0])) }

// A Waiter is a worker's way to wait: it spins on a core of its own, pauses if another worker has the
// core's other hardware thread, and yields after a short spin with oversubscription. Each worker has its
// own Waiter.
type Waiter struct {
	stop  *atomic.Bool
	yield bool
	pause bool
	mask  int
	naps  naps
}

// NewWaiter returns a Waiter that gives up once stop is true. With yield, for oversubscription, it
// yields the CPU while it waits.
func NewWaiter(stop *atomic.Bool, yield bool) *Waiter {
	if yield || overcommitted {
		// Longer than a flag between two cores, and short compared with a time slice.
		return &Waiter{stop: stop, yield: true, mask: 1<<6 - 1}
	}
	return &Waiter{stop: stop, mask: 1<<12 - 1}
}

// BesideSibling returns a Waiter that pauses at every spin, which leaves the core to the worker on its
// other hardware thread. A Waiter that yields stays as it is.
func (w *Waiter) BesideSibling() *Waiter {
	if w.yield {
		return w
	}
	return &Waiter{stop: w.stop, pause: true}
}

// relax is called periodically during a wait; false: give up. It is neither inlined nor nosplit: its
// prologue lets the runtime stop a waiting worker, which may wait for one that is stopped already.
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
