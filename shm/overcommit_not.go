//go:build !overcommit

package shm

const overcommitted = false

type naps struct{}

func (naps) nap() {}
