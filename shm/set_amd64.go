//go:build !race

package shm

import "unsafe"

// release stores n with release semantics, which every store of amd64 has.
//
//go:noescape
func release(count *uint64, n uint64)

// Set raises the count to n. Only the flag's one writer calls it.
//
// The store must be the only access to the flag. A load, such as the nil check of &f.n, or the XCHG of
// sync/atomic's stores fetches the line from the waiting worker, and the store has to fetch it again: a
// flag then takes half as long again on Zen 5, see BenchmarkFlag.
//
//go:nosplit
func (f *Flag) Set(n uint64) { release((*uint64)(unsafe.Pointer(f)), n) }
