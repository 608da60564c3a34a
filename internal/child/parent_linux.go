package child

import "syscall"

// endsWithParent has the kernel kill a child when the thread that began it is no more.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
