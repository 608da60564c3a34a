package child

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endsWithParent has the kernel kill a child when the thread that began it is no more.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// setSlack sets how late the timers of the calling thread, and of the children that it forks, may be; 0: as the
// process began. Without it measurements are noisier.
func setSlack(d time.Duration) { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0) }
