//go:build overcommit

package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// overcommitted: this is built for virtual machines that have more CPUs than their
// host. There a worker that spins takes the time of the one that it waits for, and the
// guest's kernel, which sees a CPU for each, has nothing else to run on its CPU: it
// sleeps now and then, so that the host has. What is timed then means nothing.
const overcommitted = true

// nap is short against the host's time slices.
//
//go:nosplit
func nap() {
	a := unix.Timespec{Nsec: 500_000}
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&a)), 0, 0)
}
