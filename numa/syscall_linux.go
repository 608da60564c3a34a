package numa

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The package's unsafe code is here: x/sys has the numbers of these two calls,
// but no functions for them.

// mbind sets the policy of the pages of mem, which is not empty.
func mbind(mem []byte, mode int, nodes []uint64, flags int) error {
	// The kernel reads one bit less than it is told.
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

// pageStatus returns for each page of mem its node or a negative errno:
// move_pages without target nodes moves nothing and reports.
func pageStatus(mem []byte, pageSize int) ([]int32, error) {
	pages := make([]uintptr, (len(mem)+pageSize-1)/pageSize)
	for i := range pages {
		pages[i] = uintptr(unsafe.Pointer(&mem[i*pageSize]))
	}
	status := make([]int32, len(pages))
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)),
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))), 0,
		uintptr(unsafe.Pointer(unsafe.SliceData(status))), 0)
	runtime.KeepAlive(mem)
	if errno != 0 {
		return nil, errno
	}
	return status, nil
}
