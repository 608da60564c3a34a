package shm

import "github.com/klauspost/cpuid/v2"

// stringMoves: C libraries copy by REP MOVSB on processors with fast string moves (glibc 2.36,
// sysdeps/x86/dl-cacheinfo.h). On Intel the runtime's memmove uses REP MOVSQ except for the last word,
// which then falls into a line of its own: REP MOVSB takes 10 % less time for 8 KiB (bench/reference.sh).
// On AMD it uses vectors, whose stores fetch the lines that they write: on family 26 (Zen 5) lines that
// two cores read and write in turn take half as long again. On Zen 3 and 4 string moves are slow if
// source and destination have similar offsets in their pages (glibc's bug 30994): vectors copy there.
var stringMoves = cpuid.CPU.Supports(cpuid.ERMS, cpuid.FSRM) && (cpuid.CPU.VendorID != cpuid.AMD || cpuid.CPU.Family >= 26)

// stringLeast is the least size for string moves (glibc's x86_rep_movsb_threshold with FSRM).
const stringLeast = 2112

//go:noescape
func moveString(dst, src *byte, n int)
