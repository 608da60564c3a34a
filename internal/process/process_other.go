//go:build !linux

package process

import (
	"errors"
	"time"

	"github.com/taulop/taulop/numa"
)

// BeginOn needs Linux.
func BeginOn(numa.CPUSet) error {
	return errors.New("this system has no way to choose the CPUs of a program")
}

// own needs Linux.
func own() (ran, waited time.Duration) { return 0, 0 }

// OutputClosed needs Linux.
func OutputClosed() bool { return false }
