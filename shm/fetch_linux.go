package shm

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fetch copies len(dst) bytes from an address in another process's memory, by a single copy of the kernel
// (process_vm_readv). The system call is raw: it does not block, and the Go scheduler need not know.
func Fetch(process int, dst []byte, from uintptr) error {
	for len(dst) > 0 {
		local := unix.Iovec{Base: unsafe.SliceData(dst)}
		local.SetLen(len(dst))
		remote := unix.RemoteIovec{Base: from, Len: len(dst)}
		n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(process), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		switch errno {
		case 0:
		case unix.EPERM, unix.ENOSYS, unix.EACCES:
			return fmt.Errorf("the kernel does not let one process read another's memory (process_vm_readv: %w): %w", errno, ErrForbidden)
		default:
			return fmt.Errorf("reading %d bytes of process %d: process_vm_readv: %w", len(dst), process, errno)
		}
		if n == 0 {
			return fmt.Errorf("reading %d bytes of process %d: process_vm_readv copied nothing", len(dst), process)
		}
		dst, from = dst[n:], from+n
	}
	return nil
}

// activations is the number of accesses to a page until the time of Fetch is constant. Linux makes pages
// active at the second access; multi-generational lists count up to four.
const activations = 4

// Activate has the kernel access every page of mem several times: this process fetches one byte of each
// page from itself. Without it the second Fetch of a page takes up to 1.5 times as long, because the
// kernel moves the page to the active list (mark_page_accessed). If the kernel forbids the access,
// Activate does nothing.
func Activate(mem []byte) {
	for range activations {
		if len(mem) == 0 || !access(unix.Getpid(), uintptr(unsafe.Pointer(&mem[0])), len(mem), nil) {
			return
		}
	}
}

// ReachFetch is Reach for the kernel's accesses in a Fetch, which have page tables of their own.
func ReachFetch(process int, dst []byte, from uintptr) {
	if Shadowed() && len(dst) > 0 {
		access(process, from, len(dst), nil)
		access(unix.Getpid(), uintptr(unsafe.Pointer(&dst[0])), len(dst), dst)
	}
}

// access fetches a byte of each page of n bytes, to its place in `into` if that is not nil. It returns false if
// the kernel forbids that.
func access(process int, from uintptr, n int, into []byte) bool {
	const most = 1024 // iovecs in a call
	var local [most]unix.Iovec
	var remote [most]unix.RemoteIovec
	var bytes [most]byte
	page := uintptr(unix.Getpagesize())
	for next, end := from, from+uintptr(n); next < end; {
		n := 0
		for ; n < most && next < end; n++ {
			remote[n] = unix.RemoteIovec{Base: next, Len: 1}
			if local[n].Base = &bytes[n]; into != nil {
				local[n].Base = &into[next-from]
			}
			local[n].SetLen(1)
			next += page - next%page
		}
		if _, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(process), uintptr(unsafe.Pointer(&local)), uintptr(n), uintptr(unsafe.Pointer(&remote)), uintptr(n), 0); errno != 0 {
			return false
		}
	}
	return true
}

// AllowFetches lets this process's parent and the parent's descendants Fetch from this process, even if
// the kernel restricts that to ancestors (Yama, ptrace_scope = 1).
func AllowFetches() {
	// Without Yama there is nothing to allow.
	_ = unix.Prctl(unix.PR_SET_PTRACER, uintptr(os.Getppid()), 0, 0, 0)
}

func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w: take Linux 3.17 or later, in a container a seccomp profile that has memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func mmapFile(file *os.File, at int64, n int) ([]byte, error) {
	return unix.Mmap(int(file.Fd()), at, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Monotonic is the system's monotonic clock, in ns, the same in all processes.
func Monotonic() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // which every kernel has
	return now.Nano()
}
