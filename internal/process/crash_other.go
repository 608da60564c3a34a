//go:build !unix

package process

import "runtime/debug"

// AbortOnCrash keeps the Go runtime from ending a crash with exit status 2, which
// means bad input here.
func AbortOnCrash() { debug.SetTraceback("crash") }

// IgnoreBrokenPipes has nothing to do: only Unix ends a process so.
func IgnoreBrokenPipes() {}
