//go:build overcommit

package shm

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// overcommitted: in a virtual machine that has far more CPUs than its host, a worker that
// spins takes the time of the one that it waits for, and the guest's kernel, which sees
// a CPU for each, has nothing else to run on its CPU. With TAULOP_OVERCOMMIT, in builds for
// such machines alone, it sleeps now and then, so that the host has. What is timed
// then means nothing.
var overcommitted = os.Getenv("TAULOP_OVERCOMMIT") != ""

// nap is short against the host's time slices.
//
//go:nosplit
func nap() {
	a := unix.Timespec{Nsec: 1_000_000}
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&a)), 0, 0)
}
