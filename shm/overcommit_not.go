//go:build !overcommit

package shm

const overcommitted = false

func nap() {}
