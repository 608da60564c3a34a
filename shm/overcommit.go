//go:build overcommit

package shm

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// overcommitted: in a virtual machine with far more CPUs than its host, a spinning worker takes
// the time of the worker that it waits for, and the guest's kernel sees nothing else to run.
// With TAULOP_OVERCOMMIT, in builds for such machines, a worker sleeps while it waits. Times
// then mean nothing.
var overcommitted = os.Getenv("TAULOP_OVERCOMMIT") != ""

// Naps reports whether workers may sleep while they wait: what a flag takes says nothing then.
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
