//go:build race

package shm

// raced: atomic stores of the race detector release and are not ordered before later loads.
const raced = true
