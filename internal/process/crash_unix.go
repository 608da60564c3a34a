//go:build unix

package process

import (
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// AbortOnCrash makes a panic in any goroutine, and every other fatal error of the Go runtime, end the
// program by SIGABRT, exit status 134 in a shell, like a failed assertion in C. The runtime would exit
// with 2, which means bad input here. There is no core file, which would hold gigabytes of buffers, unless
// GOTRACEBACK is set.
func AbortOnCrash() {
	if os.Getenv("GOTRACEBACK") == "" {
		var core syscall.Rlimit
		if syscall.Getrlimit(syscall.RLIMIT_CORE, &core) == nil {
			core.Cur = 0
			syscall.Setrlimit(syscall.RLIMIT_CORE, &core)
		}
	}
	debug.SetTraceback("crash")
}

// IgnoreBrokenPipes makes a write to a pipe without a reader fail, instead of ending the process.
func IgnoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
