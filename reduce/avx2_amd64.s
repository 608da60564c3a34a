#include "textflag.h"

// Kernels of 32-byte vectors. An operator is a macro that reduces 32 bytes at
// `at(SI)` into those at `at(DI)`; x, y and z are registers that it may use, and
// Y14 and Y15 hold what `begin` has put there.

#define KERNEL(name, begin, operator, instruction) \
TEXT name(SB), NOSPLIT, $0-24 \
	MOVQ inout+0(FP), DI \
	MOVQ in+8(FP), SI \
	MOVQ n+16(FP), CX \
	begin \
	SUBQ $128, CX \
	JB   few \
	PCALIGN $32 \
many: \
	operator(instruction, 0, Y0, Y1, Y2) \
	operator(instruction, 32, Y3, Y4, Y5) \
	operator(instruction, 64, Y6, Y7, Y8) \
	operator(instruction, 96, Y9, Y10, Y11) \
	ADDQ $128, SI \
	ADDQ $128, DI \
	SUBQ $128, CX \
	JAE  many \
few: \
	ADDQ $128, CX \
	JZ   done \
one: \
	operator(instruction, 0, Y0, Y1, Y2) \
	ADDQ $32, SI \
	ADDQ $32, DI \
	SUBQ $32, CX \
	JNZ  one \
done: \
	VZEROUPPER \
	RET

#define NOTHING

// A single instruction; VMAXPS and its like are inout > in ? inout : in.
#define DIRECT(instruction, at, x, y, z) \
	VMOVDQU at(DI), x \
	instruction at(SI), x, x \
	VMOVDQU x, at(DI)

KERNEL(·sumInt32AVX2, NOTHING, DIRECT, VPADDD)
KERNEL(·sumInt64AVX2, NOTHING, DIRECT, VPADDQ)
KERNEL(·sumFloat32AVX2, NOTHING, DIRECT, VADDPS)
KERNEL(·sumFloat64AVX2, NOTHING, DIRECT, VADDPD)
KERNEL(·prodInt32AVX2, NOTHING, DIRECT, VPMULLD)
KERNEL(·prodFloat32AVX2, NOTHING, DIRECT, VMULPS)
KERNEL(·prodFloat64AVX2, NOTHING, DIRECT, VMULPD)
KERNEL(·maxInt32AVX2, NOTHING, DIRECT, VPMAXSD)
KERNEL(·maxFloat32AVX2, NOTHING, DIRECT, VMAXPS)
KERNEL(·maxFloat64AVX2, NOTHING, DIRECT, VMAXPD)
KERNEL(·minInt32AVX2, NOTHING, DIRECT, VPMINSD)
KERNEL(·minFloat32AVX2, NOTHING, DIRECT, VMINPS)
KERNEL(·minFloat64AVX2, NOTHING, DIRECT, VMINPD)
KERNEL(·bandAVX2, NOTHING, DIRECT, VPAND)
KERNEL(·borAVX2, NOTHING, DIRECT, VPOR)
KERNEL(·bxorAVX2, NOTHING, DIRECT, VPXOR)

// There is no product of 64-bit integers: modulo 2^64 it is that of the lower
// halves, and 2^32 times the sum of the two mixed ones.
#define PRODUCT(instruction, at, x, y, z) \
	VMOVDQU at(DI), x \
	VMOVDQU at(SI), y \
	VPSHUFD $0xB1, y, z \
	VPMULLD x, z, z \
	VPMULUDQ x, y, y \
	VPSRLQ $32, z, x \
	VPADDQ x, z, z \
	VPSLLQ $32, z, z \
	VPADDQ z, y, y \
	VMOVDQU y, at(DI)

KERNEL(·prodInt64AVX2, NOTHING, PRODUCT, NOTHING)

// Nor are there its maximum and minimum.
#define LARGER(instruction, at, x, y, z) \
	VMOVDQU at(DI), x \
	VMOVDQU at(SI), y \
	VPCMPGTQ y, x, z \
	VPBLENDVB z, x, y, x \
	VMOVDQU x, at(DI)

#define SMALLER(instruction, at, x, y, z) \
	VMOVDQU at(DI), x \
	VMOVDQU at(SI), y \
	VPCMPGTQ y, x, z \
	VPBLENDVB z, y, x, x \
	VMOVDQU x, at(DI)

KERNEL(·maxInt64AVX2, NOTHING, LARGER, NOTHING)
KERNEL(·minInt64AVX2, NOTHING, SMALLER, NOTHING)

// Logical operators compare with the zeros in Y15; Y14 is 1 in every element.
#define ONES(shift, by) \
	VPXOR Y15, Y15, Y15 \
	VPCMPEQD Y14, Y14, Y14 \
	shift by, Y14, Y14

#define LAND(equal, at, x, y, z) \
	VMOVDQU at(DI), x \
	equal x, Y15, x \
	equal at(SI), Y15, y \
	VPOR y, x, x \
	VPANDN Y14, x, x \
	VMOVDQU x, at(DI)

#define LOR(equal, at, x, y, z) \
	VMOVDQU at(DI), x \
	VPOR at(SI), x, x \
	equal x, Y15, x \
	VPANDN Y14, x, x \
	VMOVDQU x, at(DI)

#define LXOR(equal, at, x, y, z) \
	VMOVDQU at(DI), x \
	equal x, Y15, x \
	equal at(SI), Y15, y \
	VPXOR y, x, x \
	VPAND Y14, x, x \
	VMOVDQU x, at(DI)

KERNEL(·landInt32AVX2, ONES(VPSRLD, $31), LAND, VPCMPEQD)
KERNEL(·lorInt32AVX2, ONES(VPSRLD, $31), LOR, VPCMPEQD)
KERNEL(·lxorInt32AVX2, ONES(VPSRLD, $31), LXOR, VPCMPEQD)
KERNEL(·landInt64AVX2, ONES(VPSRLQ, $63), LAND, VPCMPEQQ)
KERNEL(·lorInt64AVX2, ONES(VPSRLQ, $63), LOR, VPCMPEQQ)
KERNEL(·lxorInt64AVX2, ONES(VPSRLQ, $63), LXOR, VPCMPEQQ)
