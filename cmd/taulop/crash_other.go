//go:build !unix

package main

import "runtime/debug"

// abortOnCrash keeps the Go runtime from ending a crash with exit status 2, which
// means bad input here.
func abortOnCrash() { debug.SetTraceback("crash") }

func ignoreBrokenPipes() {}
