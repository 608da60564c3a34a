//go:build !linux

package numa

import (
	"errors"
	"runtime"
)

var errLinux = errors.New("measuring needs Linux, and this is " + runtime.GOOS)

// Pin needs Linux.
func Pin(int) error { return errLinux }

// GiveWay needs Linux.
func GiveWay() error { return errLinux }

// Bind needs Linux.
func Bind([]byte, int) error { return errLinux }

// Prefer needs Linux.
func Prefer([]byte, int) error { return errLinux }

// Move needs Linux.
func Move([]byte, int) error { return errLinux }

func eachPage([]byte, func(node int)) error { return errLinux }

func affinityOf(int) (CPUSet, error) {
	return nil, errors.New("this machine cannot be read, for that needs Linux and this is " + runtime.GOOS +
		": name a directory with the sys and proc of a Linux machine")
}

// ThreadID needs Linux.
func ThreadID() int { return 0 }

// Pinned needs Linux.
func Pinned(thread, cpu int) error { return nil }

func addressSpaceLeft() int64 { return unlimited }
