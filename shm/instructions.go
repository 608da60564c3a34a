//go:build amd64 || arm64

package shm

import "unsafe"

const flushes = true

// flushLine begins to flush the line at an address.
//
//go:noescape
func flushLine(line unsafe.Pointer)

// flushed waits until all lines are flushed.
func flushed()

// pause leaves the core to the other hardware thread for a moment.
func pause()
