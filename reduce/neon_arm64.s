#include "textflag.h"

// Kernels of 16-byte vectors. An operator is a macro that leaves Vx op Vy in Vx, where
// Vx is inout and Vy in; Vz is free. Go's assembler knows few instructions on vectors, so all are encoded
// here as the Arm Architecture Reference Manual has them (C7.2): the code of an
// instruction on .4S or .2D, and the numbers of its registers.

#define KERNEL(name, operator, instruction, shift) \
TEXT name(SB), NOSPLIT, $0-24 \
	MOVD inout+0(FP), R0 \
	MOVD in+8(FP), R1 \
	MOVD n+16(FP), R2 \
	SUBS $64, R2 \
	BLT  few \
	PCALIGN $16 \
many: \
	VLD1   (R0), [V0.B16, V1.B16, V2.B16, V3.B16] \
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16] \
	operator(instruction, shift, 0, 4, 16) \
	operator(instruction, shift, 1, 5, 17) \
	operator(instruction, shift, 2, 6, 18) \
	operator(instruction, shift, 3, 7, 19) \
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0) \
	SUBS   $64, R2 \
	BGE    many \
few: \
	ADDS $64, R2 \
	BEQ  done \
one: \
	VLD1   (R0), [V0.B16] \
	VLD1.P 16(R1), [V4.B16] \
	operator(instruction, shift, 0, 4, 16) \
	VST1.P [V0.B16], 16(R0) \
	SUBS   $16, R2 \
	BNE    one \
done: \
	RET

#define TWO(code, n, d) WORD $(code | (n << 5) | d)
#define THREE(code, m, n, d) WORD $(code | (m << 16) | (n << 5) | d)
#define NOTHING

#define DIRECT(code, shift, x, y, z) \
	THREE(code, y, x, x)

KERNEL(·sumInt32NEON, DIRECT, 0x4EA08400, NOTHING)    // ADD .4S
KERNEL(·sumInt64NEON, DIRECT, 0x4EE08400, NOTHING)    // ADD .2D
KERNEL(·sumFloat32NEON, DIRECT, 0x4E20D400, NOTHING)  // FADD .4S
KERNEL(·sumFloat64NEON, DIRECT, 0x4E60D400, NOTHING)  // FADD .2D
KERNEL(·prodInt32NEON, DIRECT, 0x4EA09C00, NOTHING)   // MUL .4S
KERNEL(·prodFloat32NEON, DIRECT, 0x6E20DC00, NOTHING) // FMUL .4S
KERNEL(·prodFloat64NEON, DIRECT, 0x6E60DC00, NOTHING) // FMUL .2D
KERNEL(·maxInt32NEON, DIRECT, 0x4EA06400, NOTHING)    // SMAX .4S
KERNEL(·minInt32NEON, DIRECT, 0x4EA06C00, NOTHING)    // SMIN .4S
KERNEL(·bandNEON, DIRECT, 0x4E201C00, NOTHING)        // AND .16B
KERNEL(·borNEON, DIRECT, 0x4EA01C00, NOTHING)         // ORR .16B
KERNEL(·bxorNEON, DIRECT, 0x6E201C00, NOTHING)        // EOR .16B

// x > y ? x : y, which for floats is not FMAX: that has NaN where one is. BIF puts
// y where z is zero.
#define BIF 0x6EE01C00

#define LARGER(greater, shift, x, y, z) \
	THREE(greater, y, x, z) \
	THREE(BIF, z, y, x)

#define SMALLER(greater, shift, x, y, z) \
	THREE(greater, x, y, z) \
	THREE(BIF, z, y, x)

KERNEL(·maxInt64NEON, LARGER, 0x4EE03400, NOTHING)    // CMGT .2D
KERNEL(·minInt64NEON, SMALLER, 0x4EE03400, NOTHING)
KERNEL(·maxFloat32NEON, LARGER, 0x6EA0E400, NOTHING)  // FCMGT .4S
KERNEL(·minFloat32NEON, SMALLER, 0x6EA0E400, NOTHING)
KERNEL(·maxFloat64NEON, LARGER, 0x6EE0E400, NOTHING)  // FCMGT .2D
KERNEL(·minFloat64NEON, SMALLER, 0x6EE0E400, NOTHING)

// There is no product of 64-bit integers: modulo 2^64 it is that of the lower
// halves, and 2^32 times the sum of the two mixed ones.
#define REV64 0x4EA00800  // .4S: swaps the halves
#define MUL 0x4EA09C00    // .4S
#define UADDLP 0x6EA02800 // .2D, .4S: adds the halves
#define SHL32 0x4F605400  // .2D
#define XTN 0x0EA12800    // .2S, .2D: the lower halves
#define UMULL 0x2EA0C000  // .2D, .2S
#define ADD 0x4EE08400    // .2D

#define PRODUCT(instruction, shift, x, y, z) \
	TWO(REV64, y, z) \
	THREE(MUL, x, z, z) \
	TWO(UADDLP, z, z) \
	TWO(SHL32, z, z) \
	TWO(XTN, x, x) \
	TWO(XTN, y, y) \
	THREE(UMULL, y, x, x) \
	THREE(ADD, z, x, x)

KERNEL(·prodInt64NEON, PRODUCT, NOTHING, NOTHING)

// CMTST has all bits where an element is not zero, and the shift leaves one.
#define AND 0x4E201C00
#define ORR 0x4EA01C00
#define EOR 0x6E201C00

#define LAND(test, shift, x, y, z) \
	THREE(test, x, x, x) \
	THREE(test, y, y, y) \
	THREE(AND, y, x, x) \
	TWO(shift, x, x)

#define LOR(test, shift, x, y, z) \
	THREE(ORR, y, x, x) \
	THREE(test, x, x, x) \
	TWO(shift, x, x)

#define LXOR(test, shift, x, y, z) \
	THREE(test, x, x, x) \
	THREE(test, y, y, y) \
	THREE(EOR, y, x, x) \
	TWO(shift, x, x)

KERNEL(·landInt32NEON, LAND, 0x4EA08C00, 0x6F210400) // CMTST .4S, USHR $31 .4S
KERNEL(·lorInt32NEON, LOR, 0x4EA08C00, 0x6F210400)
KERNEL(·lxorInt32NEON, LXOR, 0x4EA08C00, 0x6F210400)
KERNEL(·landInt64NEON, LAND, 0x4EE08C00, 0x6F410400) // CMTST .2D, USHR $63 .2D
KERNEL(·lorInt64NEON, LOR, 0x4EE08C00, 0x6F410400)
KERNEL(·lxorInt64NEON, LXOR, 0x4EE08C00, 0x6F410400)
