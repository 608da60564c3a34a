package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// OutputClosed reports whether standard output was closed when the process began. The Go runtime then has
// opened the null device in its place, for reading and writing. A shell's >/dev/null opens it only for
// writing, and daemons open it once for several descriptors.
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

// sameOpening reports whether two descriptors come from one open. It returns true if the kernel does not
// say.
func sameOpening(a, b int) bool {
	self := uintptr(os.Getpid())
	const kcmpFile = 0
	order, _, err := unix.RawSyscall6(unix.SYS_KCMP, self, self, kcmpFile, uintptr(a), uintptr(b), 0)
	return err != 0 || order == 0
}
