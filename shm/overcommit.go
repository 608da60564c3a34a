//go:build overcommit

package shm

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// overcommitted: in a virtual machine with far more CPUs than its host, a spinning worker takes the CPU
// from the worker that it waits for, unseen by the guest's kernel. With TAULOP_OVERCOMMIT, in builds for
// such machines, a worker sleeps while it waits. Times then mean nothing.
var overcommitted = os.Getenv("TAULOP_OVERCOMMIT") != ""

// Naps reports whether workers may sleep while they wait: the times of flags then mean nothing.
const Naps = true

// A nap lasts as long as the worker has waited, up to a bound: it wakes only a few times in a wait, and is
// little late for workers that nap while they wait for it.
const (
	shortestNap = 500 * time.Microsecond
	longestNap  = 8 * time.Millisecond
)

// naps is the state of one worker's naps.
type naps struct {
	last  time.Duration
	awake time.Time // since the end of the last nap
}

// nap sleeps twice as long as the last time, if that was in the same wait.
func (n *naps) nap() {
	if n.last = min(2*n.last, longestNap); n.last == 0 || time.Since(n.awake) > shortestNap {
		n.last = shortestNap
	}
	a := unix.NsecToTimespec(int64(n.last))
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&a)), 0, 0)
	n.awake = time.Now()
}
