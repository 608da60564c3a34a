//go:build !linux

package shm

import "errors"

// Supported reports whether this system can measure.
const Supported = false

func mmap(int, bool) ([]byte, error) {
	return nil, errors.New("sharing memory for measuring needs Linux")
}

func munmap([]byte) error { return nil }

func yield() {}

// Populate does nothing.
func Populate([]byte) {}

// Pages needs Linux.
func (r *Region) Pages(bool) error { return errors.New("huge pages need Linux") }

// HugeBytes needs Linux.
func (r *Region) HugeBytes() (int, error) { return 0, errors.New("huge pages need Linux") }
