#include "textflag.h"

// Kernels of 64-byte vectors, for processors with AVX-512 F and DQ. An operator is a
// macro that reduces 64 bytes at `at(SI)` into those at `at(DI)`; x and y are
// registers and k a mask that it may use, and Z31 holds what `begin` has put there.

#define KERNEL(name, begin, operator, instruction) \
TEXT name(SB), NOSPLIT, $0-24 \
	MOVQ inout+0(FP), DI \
	MOVQ in+8(FP), SI \
	MOVQ n+16(FP), CX \
	begin \
	SUBQ $256, CX \
	JB   few \
	PCALIGN $32 \
many: \
	operator(instruction, 0, Z0, Z1, K1) \
	operator(instruction, 64, Z2, Z3, K2) \
	operator(instruction, 128, Z4, Z5, K3) \
	operator(instruction, 192, Z6, Z7, K4) \
	ADDQ $256, SI \
	ADDQ $256, DI \
	SUBQ $256, CX \
	JAE  many \
few: \
	ADDQ $256, CX \
	JZ   done \
one: \
	operator(instruction, 0, Z0, Z1, K1) \
	ADDQ $64, SI \
	ADDQ $64, DI \
	SUBQ $64, CX \
	JNZ  one \
done: \
	VZEROUPPER \
	RET

#define NOTHING

// A single instruction; VMAXPS and its like are inout > in ? inout : in.
#define DIRECT(instruction, at, x, y, k) \
	VMOVDQU64 at(DI), x \
	instruction at(SI), x, x \
	VMOVDQU64 x, at(DI)

KERNEL(·sumInt32AVX512, NOTHING, DIRECT, VPADDD)
KERNEL(·sumInt64AVX512, NOTHING, DIRECT, VPADDQ)
KERNEL(·sumFloat32AVX512, NOTHING, DIRECT, VADDPS)
KERNEL(·sumFloat64AVX512, NOTHING, DIRECT, VADDPD)
KERNEL(·prodInt32AVX512, NOTHING, DIRECT, VPMULLD)
KERNEL(·prodInt64AVX512, NOTHING, DIRECT, VPMULLQ)
KERNEL(·prodFloat32AVX512, NOTHING, DIRECT, VMULPS)
KERNEL(·prodFloat64AVX512, NOTHING, DIRECT, VMULPD)
KERNEL(·maxInt32AVX512, NOTHING, DIRECT, VPMAXSD)
KERNEL(·maxInt64AVX512, NOTHING, DIRECT, VPMAXSQ)
KERNEL(·maxFloat32AVX512, NOTHING, DIRECT, VMAXPS)
KERNEL(·maxFloat64AVX512, NOTHING, DIRECT, VMAXPD)
KERNEL(·minInt32AVX512, NOTHING, DIRECT, VPMINSD)
KERNEL(·minInt64AVX512, NOTHING, DIRECT, VPMINSQ)
KERNEL(·minFloat32AVX512, NOTHING, DIRECT, VMINPS)
KERNEL(·minFloat64AVX512, NOTHING, DIRECT, VMINPD)
KERNEL(·bandAVX512, NOTHING, DIRECT, VPANDQ)
KERNEL(·borAVX512, NOTHING, DIRECT, VPORQ)
KERNEL(·bxorAVX512, NOTHING, DIRECT, VPXORQ)

// Logical operators put those elements of Z31, which are 1, where a mask has a bit.
#define ONES(shift, by) \
	VPTERNLOGD $0xFF, Z31, Z31, Z31 \
	shift by, Z31, Z31

#define LAND(test, move, at, x, y, k) \
	VMOVDQU64 at(DI), x \
	VMOVDQU64 at(SI), y \
	test x, x, k \
	test y, y, k, k \
	move Z31, k, x \
	VMOVDQU64 x, at(DI)

#define LOR(test, move, at, x, y, k) \
	VMOVDQU64 at(DI), x \
	VPORQ at(SI), x, x \
	test x, x, k \
	move Z31, k, x \
	VMOVDQU64 x, at(DI)

#define LXOR(test, move, at, x, y, k) \
	VMOVDQU64 at(DI), x \
	VMOVDQU64 at(SI), y \
	test x, x, k \
	test y, y, K5 \
	KXORW K5, k, k \
	move Z31, k, x \
	VMOVDQU64 x, at(DI)

#define INT32(operator, at, x, y, k) operator(VPTESTMD, VMOVDQA32.Z, at, x, y, k)
#define INT64(operator, at, x, y, k) operator(VPTESTMQ, VMOVDQA64.Z, at, x, y, k)

KERNEL(·landInt32AVX512, ONES(VPSRLD, $31), INT32, LAND)
KERNEL(·lorInt32AVX512, ONES(VPSRLD, $31), INT32, LOR)
KERNEL(·lxorInt32AVX512, ONES(VPSRLD, $31), INT32, LXOR)
KERNEL(·landInt64AVX512, ONES(VPSRLQ, $63), INT64, LAND)
KERNEL(·lorInt64AVX512, ONES(VPSRLQ, $63), INT64, LOR)
KERNEL(·lxorInt64AVX512, ONES(VPSRLQ, $63), INT64, LXOR)
