package process

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/numa"
)

// BeginOn starts this program anew in this process, with the same arguments, on some CPUs. It returns
// only if that fails.
func BeginOn(cpus numa.CPUSet) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot begin anew on CPUs %v: %w", cpus, err)
	}
	runtime.LockOSThread() // the new program inherits the thread's CPUs
	defer runtime.UnlockOSThread()
	mask := unix.NewCPUSet(cpus[len(cpus)-1] + 1)
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	if err = unix.SchedSetaffinityDynamic(0, mask); err == nil {
		err = unix.Exec(program, os.Args, os.Environ())
	}
	return fmt.Errorf("cannot begin anew on CPUs %v: %w", cpus, err)
}

// own is OnCPU of this process's threads.
func own() (ran, waited time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var r, w time.Duration
		if _, err := fmt.Sscan(string(text), &r, &w); err == nil {
			ran, waited = ran+r, waited+w
		}
	}
	return ran, waited
}

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
