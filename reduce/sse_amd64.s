#include "textflag.h"

// Kernels of 16-byte vectors for processors without AVX2. An operator is a macro
// that leaves x op y in x, where x is inout and y in; z is free, and X14 and X15 hold what `begin` has put
// there.

#define LOADED(operator, instruction, at, x, y, z) \
	MOVOU at(DI), x \
	MOVOU at(SI), y \
	operator(instruction, x, y, z) \
	MOVOU x, at(DI)

#define KERNEL(name, begin, operator, instruction) \
TEXT name(SB), NOSPLIT, $0-24 \
	MOVQ inout+0(FP), DI \
	MOVQ in+8(FP), SI \
	MOVQ n+16(FP), CX \
	begin \
	SUBQ $64, CX \
	JB   few \
	PCALIGN $32 \
many: \
	LOADED(operator, instruction, 0, X0, X1, X2) \
	LOADED(operator, instruction, 16, X3, X4, X5) \
	LOADED(operator, instruction, 32, X6, X7, X8) \
	LOADED(operator, instruction, 48, X9, X10, X11) \
	ADDQ $64, SI \
	ADDQ $64, DI \
	SUBQ $64, CX \
	JAE  many \
few: \
	ADDQ $64, CX \
	JZ   done \
one: \
	LOADED(operator, instruction, 0, X0, X1, X2) \
	ADDQ $16, SI \
	ADDQ $16, DI \
	SUBQ $16, CX \
	JNZ  one \
done: \
	RET

#define NOTHING

// A single instruction; MAXPS and its like are inout > in ? inout : in.
#define DIRECT(instruction, x, y, z) \
	instruction y, x

KERNEL(·sumInt32SSE, NOTHING, DIRECT, PADDL)
KERNEL(·sumInt64SSE, NOTHING, DIRECT, PADDQ)
KERNEL(·sumFloat32SSE, NOTHING, DIRECT, ADDPS)
KERNEL(·sumFloat64SSE, NOTHING, DIRECT, ADDPD)
KERNEL(·prodInt32SSE, NOTHING, DIRECT, PMULLD)
KERNEL(·prodFloat32SSE, NOTHING, DIRECT, MULPS)
KERNEL(·prodFloat64SSE, NOTHING, DIRECT, MULPD)
KERNEL(·maxInt32SSE, NOTHING, DIRECT, PMAXSD)
KERNEL(·maxFloat32SSE, NOTHING, DIRECT, MAXPS)
KERNEL(·maxFloat64SSE, NOTHING, DIRECT, MAXPD)
KERNEL(·minInt32SSE, NOTHING, DIRECT, PMINSD)
KERNEL(·minFloat32SSE, NOTHING, DIRECT, MINPS)
KERNEL(·minFloat64SSE, NOTHING, DIRECT, MINPD)
KERNEL(·bandSSE, NOTHING, DIRECT, PAND)
KERNEL(·borSSE, NOTHING, DIRECT, POR)
KERNEL(·bxorSSE, NOTHING, DIRECT, PXOR)

// There is no product of 64-bit integers: modulo 2^64 it is that of the lower
// halves, and 2^32 times the sum of the two mixed ones.
#define PRODUCT(instruction, x, y, z) \
	PSHUFD $0xB1, y, z \
	PMULLD x, z \
	PMULULQ y, x \
	MOVO z, y \
	PSRLQ $32, y \
	PADDQ y, z \
	PSLLQ $32, z \
	PADDQ z, x

KERNEL(·prodInt64SSE, NOTHING, PRODUCT, NOTHING)

// Nor are there its maximum and minimum: x where z, else y.
#define SELECT(x, y, z) \
	PAND z, x \
	PANDN y, z \
	POR z, x

#define LARGER(instruction, x, y, z) \
	MOVO x, z \
	PCMPGTQ y, z \
	SELECT(x, y, z)

#define SMALLER(instruction, x, y, z) \
	MOVO y, z \
	PCMPGTQ x, z \
	SELECT(x, y, z)

KERNEL(·maxInt64SSE, NOTHING, LARGER, NOTHING)
KERNEL(·minInt64SSE, NOTHING, SMALLER, NOTHING)

// Logical operators compare with the zeros in X15; X14 is 1 in every element.
#define ONES(shift, by) \
	PXOR X15, X15 \
	PCMPEQL X14, X14 \
	shift by, X14

#define LAND(equal, x, y, z) \
	equal X15, x \
	equal X15, y \
	POR y, x \
	PANDN X14, x

#define LOR(equal, x, y, z) \
	POR y, x \
	equal X15, x \
	PANDN X14, x

#define LXOR(equal, x, y, z) \
	equal X15, x \
	equal X15, y \
	PXOR y, x \
	PAND X14, x

KERNEL(·landInt32SSE, ONES(PSRLL, $31), LAND, PCMPEQL)
KERNEL(·lorInt32SSE, ONES(PSRLL, $31), LOR, PCMPEQL)
KERNEL(·lxorInt32SSE, ONES(PSRLL, $31), LXOR, PCMPEQL)
KERNEL(·landInt64SSE, ONES(PSRLQ, $63), LAND, PCMPEQQ)
KERNEL(·lorInt64SSE, ONES(PSRLQ, $63), LOR, PCMPEQQ)
KERNEL(·lxorInt64SSE, ONES(PSRLQ, $63), LXOR, PCMPEQQ)
