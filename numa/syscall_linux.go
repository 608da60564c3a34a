package numa

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// All unsafe code of the package is here: x/sys has no functions for these two system calls.

// mbind sets the memory policy of mem, which is not empty.
func mbind(mem []byte, mode int, nodes []uint64, flags int) error {
	// The kernel reads one bit less than this number.
	bits := len(nodes)*64 + 1
	_, _, errno := unix.Syscall6(unix.SYS_MBIND,
		uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)), uintptr(mode),
		uintptr(unsafe.Pointer(unsafe.SliceData(nodes))), uintptr(bits), uintptr(flags))
	runtime.KeepAlive(mem)
	if errno != 0 {
		return errno
	}
	return nil
}

// ask fills in the status of each page of mem: without target nodes move_pages reports alone.
func (t *pageTable) ask(mem []byte, pageSize int) (pages int, err error) {
	for at := 0; at < len(mem); at += pageSize {
		t.pages[pages] = uintptr(unsafe.Pointer(&mem[at]))
		pages++
	}
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(pages),
		uintptr(unsafe.Pointer(&t.pages)), 0,
		uintptr(unsafe.Pointer(&t.status)), 0)
	runtime.KeepAlive(mem)
	if errno != 0 {
		return 0, errno
	}
	return pages, nil
}
