package child

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endsWithParent has the kernel kill a child when the thread that began it is no more.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// slack is how late the timers of a child may be. The Go runtime's monitor thread wakes every 20 µs for its
// first milliseconds, usually on a worker's CPU. With slack it wakes with the kernel's tick (4 ms at 250 Hz).
const slack = 4 * time.Millisecond

// disturbLess gives the calling thread that slack, which the children that it forks inherit.
func disturbLess() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0) // without it measurements are noisier
}
