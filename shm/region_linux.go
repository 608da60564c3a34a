package shm

import (
	"os"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system can measure.
const Supported = true

func mmap(n int, shared bool) ([]byte, error) {
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	kind := unix.MAP_PRIVATE
	if shared {
		kind = unix.MAP_SHARED
	}
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, kind|unix.MAP_ANONYMOUS)
}

func munmap(mem []byte) error { return unix.Munmap(mem) }

// yield gives the CPU to another thread. A raw system call: the Go scheduler
// need not know.
//
//go:nosplit
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
