//go:build !unix

package process

import "runtime/debug"

// AbortOnCrash keeps a crash from exit status 2, which means bad input here.
func AbortOnCrash() { debug.SetTraceback("crash") }

// IgnoreBrokenPipes does nothing: only on Unix do they end a process.
func IgnoreBrokenPipes() {}
