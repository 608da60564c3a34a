//go:build !amd64 || race

package shm

// Set raises the count to n. Only the flag's one writer calls it.
//
//go:nosplit
func (f *Flag) Set(n uint64) { f.n.Store(n) }
