package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// OutputClosed tells whether standard output was closed when the process began. The
// Go runtime has opened the null device in its place by then, to read and write; a
// shell's >/dev/null opens it to write alone, and daemons open it once for several
// descriptors.
func OutputClosed() bool {
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	out, err := os.Stdout.Stat()
	if err != nil || !os.SameFile(null, out) {
		return false
	}
	mode, err := unix.FcntlInt(os.Stdout.Fd(), unix.F_GETFL, 0)
	return err == nil && mode&unix.O_ACCMODE == unix.O_RDWR && !sameOpening(1, 0) && !sameOpening(1, 2)
}

// sameOpening tells whether two descriptors come from one open; also where the kernel
// does not say.
func sameOpening(a, b int) bool {
	self := uintptr(os.Getpid())
	const kcmpFile = 0
	order, _, err := unix.RawSyscall6(unix.SYS_KCMP, self, self, kcmpFile, uintptr(a), uintptr(b), 0)
	return err != 0 || order == 0
}
