//go:build unix

package process

import (
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// AbortOnCrash has a panic in any goroutine, and whatever else the Go runtime ends
// a program for, end this one by SIGABRT, exit status 134 in a shell, as a failed
// assertion ends one in C. By itself the runtime exits with 2, which means bad input
// here. There is no core file, which would hold gigabytes of buffers, unless
// GOTRACEBACK asks for one.
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

// IgnoreBrokenPipes has a write to a pipe without a reader fail and not end the
// process.
func IgnoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
