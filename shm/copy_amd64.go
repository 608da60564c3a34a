package shm

import "github.com/klauspost/cpuid/v2"

// stringMoves: on processors with fast string moves C libraries copy by REP MOVSB (glibc 2.36,
// sysdeps/x86/dl-cacheinfo.h). On Intel the runtime's memmove uses REP MOVSQ except for the
// last word, which then falls into a line of its own: REP MOVSB takes 10 % less for 8 KiB
// (bench/reference.sh). On AMD it uses vectors, whose stores fetch the lines that they write:
// on family 26 (Zen 5) lines that two cores read and write in turns take half as long again.
// String moves of Zen 3 and 4 are slow where source and destination lie alike in their pages
// (glibc's bug 30994), so vectors copy there.
var stringMoves = cpuid.CPU.Supports(cpuid.ERMS, cpuid.FSRM) && (cpuid.CPU.VendorID != cpuid.AMD || cpuid.CPU.Family >= 26)

// stringLeast is where C libraries begin with it (glibc's x86_rep_movsb_threshold with FSRM).
const stringLeast = 2112

//go:noescape
func moveString(dst, src *byte, n int)
