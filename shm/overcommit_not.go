//go:build !overcommit

package shm

const overcommitted = false

// Naps reports whether workers may sleep while they wait: the times of flags then mean nothing.
const Naps = false

type naps struct{}

func (naps) nap() {}
