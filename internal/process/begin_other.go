//go:build !linux

package process

import (
	"errors"

	"github.com/taulop/taulop/numa"
)

// BeginOn needs Linux.
func BeginOn(numa.CPUSet) error {
	return errors.New("this system has no way to choose the CPUs of a program")
}
