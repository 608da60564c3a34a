package shm

import (
	"fmt"
	"os"
	"unsafe"

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

// Pages asks the kernel for huge pages (MADV_HUGEPAGE; HugeBytes is the result), or for none whatever
// the kernel's setting (MADV_NOHUGEPAGE).
func (r *Region) Pages(huge bool) error {
	advice, pages := unix.MADV_NOHUGEPAGE, "no huge pages"
	if huge {
		advice, pages = unix.MADV_HUGEPAGE, "huge pages"
	}
	err := unix.Madvise(r.mem, advice)
	if err == nil || !huge && err == unix.EINVAL { // the error of a kernel without huge pages
		return nil
	}
	return fmt.Errorf("asking for %s: %w", pages, err)
}

// HugeBytes is the number of the region's bytes in huge pages, by /proc/self/smaps. The kernel counts by
// mapping, and joins adjacent ones of the same kind: of a joined mapping the region gets its share.
func (r *Region) HugeBytes() (int, error) {
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, fmt.Errorf("how much memory is in huge pages is unknown: %w", err)
	}
	defer smaps.Close()
	begin := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.mem))))
	return hugeBytes(smaps, begin, begin+uint64(len(r.mem)))
}

// Populate makes the kernel map all pages of mem at once, on the caller's node, instead of one at each
// page fault. It does nothing on Linux before 5.14, or with too little memory: the first write then
// fails.
func Populate(mem []byte) {
	if len(mem) > 0 {
		_ = unix.Madvise(mem, unix.MADV_POPULATE_WRITE)
	}
}

func munmap(mem []byte) error { return unix.Munmap(mem) }

// yield gives the CPU to another thread. The system call is raw: the Go scheduler need not know.
//
//go:nosplit
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
