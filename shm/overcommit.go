//go:build overcommit

package shm

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// overcommitted: in a virtual machine that has far more CPUs than its host, a worker that
// spins takes the time of the one that it waits for, and the guest's kernel, which sees
// a CPU for each, has nothing else to run on its CPU. With TAULOP_OVERCOMMIT, in builds for
// such machines alone, it sleeps while it waits, so that the host has. What is timed
// then means nothing.
var overcommitted = os.Getenv("TAULOP_OVERCOMMIT") != ""

// Naps tells whether workers may sleep while they wait: what a flag takes says nothing then.
const Naps = true

// A nap lasts as long as the worker has waited, up to a bound: the worker wakes only a few
// times, and little too late for workers that nap while they wait for it.
const (
	shortestNap = 500 * time.Microsecond
	longestNap  = 8 * time.Millisecond
)

// naps is the state of one worker's naps.
type naps struct {
	last  time.Duration
	awake time.Time // from the end of the last one on
}

// nap sleeps for twice as long as the last time, if that was in the same wait.
func (n *naps) nap() {
	if n.last = min(2*n.last, longestNap); n.last == 0 || time.Since(n.awake) > shortestNap {
		n.last = shortestNap
	}
	a := unix.NsecToTimespec(int64(n.last))
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&a)), 0, 0)
	n.awake = time.Now()
}
