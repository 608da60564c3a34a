package shm

import "github.com/klauspost/cpuid/v2"

// stringMoves: on processors with fast string moves C libraries copy by REP MOVSB, Intel's and
// from Zen 3 on AMD's (glibc 2.36, sysdeps/x86/dl-cacheinfo.h). The runtime's memmove uses REP
// MOVSQ on Intel's for all but the last word, which then falls into a line of its own: REP MOVSB
// takes 10 % less for 8 KiB (bench/reference.sh). On AMD's it has vectors, whose stores fetch
// the lines that they write: what another core reads and writes in turns takes half as long
// again in segments of 32 KiB.
var stringMoves = cpuid.CPU.Supports(cpuid.ERMS, cpuid.FSRM)

// stringLeast is where the runtime begins to use REP MOVSQ.
const stringLeast = 2048

//go:noescape
func moveString(dst, src *byte, n int)
