//go:build !linux

package shm

import (
	"errors"
	"os"
)

var errNoProcesses = errors.New("sharing memory between processes needs Linux")

// Fetch needs Linux.
func Fetch(int, []byte, uintptr) error { return errNoProcesses }

// Activate does nothing.
func Activate([]byte) {}

// ReachFetch does nothing.
func ReachFetch(int, []byte, uintptr) {}

// AllowFetches does nothing.
func AllowFetches() {}

func memoryFile(string) (*os.File, error) { return nil, errNoProcesses }

func mmapFile(*os.File, int64, int) ([]byte, error) { return nil, errNoProcesses }

// Monotonic needs Linux.
func Monotonic() int64 { return 0 }
