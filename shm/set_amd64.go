//go:build !race

package shm

import "unsafe"

// release stores n with release semantics, which every store of amd64 has.
//
//go:noescape
func release(count *uint64, n uint64)

// Set raises the count to n. Only the flag's one writer calls it.
//
// It does not touch the flag before: a load, as the check for nil of &f.n is one, and XCHG, which
// sync/atomic stores by, fetch the line from the worker that waits, and the store then has to
// take it from there once more. On Zen 5 a flag so takes half as long again, see BenchmarkFlag.
//
//go:nosplit
func (f *Flag) Set(n uint64) { release((*uint64)(unsafe.Pointer(f)), n) }
