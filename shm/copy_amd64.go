package shm

import "github.com/klauspost/cpuid/v2"

// stringMoves: on Intel processors with fast string moves the runtime's memmove
// uses REP MOVSQ for all but the last word, which then falls into a line of its
// own. REP MOVSB over the whole, as C libraries do there, takes 10 % less for
// 8 KiB (bench/reference.sh).
var stringMoves = cpuid.CPU.VendorID == cpuid.Intel && cpuid.CPU.Supports(cpuid.ERMS, cpuid.FSRM)

// stringLeast is where the runtime begins to use REP MOVSQ.
const stringLeast = 2048

//go:noescape
func moveString(dst, src *byte, n int)
