//go:build !overcommit

package shm

const overcommitted = false

// Naps reports whether workers may sleep while they wait: what a flag takes says nothing then.
const Naps = false

type naps struct{}

func (naps) nap() {}
