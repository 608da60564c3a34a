#include "textflag.h"

// Rounds of 256 bytes; a round takes eight vectors. In Go's order of operands the
// last is what is written, and the first what divides.

#define ENTER \
	MOVQ p+0(FP), SI; \
	MOVQ rounds+8(FP), CX; \
	MOVQ x+16(FP), DX

// AGAIN is the end of a round.
#define AGAIN(BYTES, LOOP) \
	ADDQ $BYTES, SI; \
	DECQ CX; \
	JNZ  LOOP

// CLEAR begins eight sums, and FOLD adds them to one and writes it.
#define CLEAR \
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7

#define FOLD(ADD, MOVE) \
	ADD Y1, Y0, Y0; \
	ADD Y3, Y2, Y2; \
	ADD Y5, Y4, Y4; \
	ADD Y7, Y6, Y6; \
	ADD Y2, Y0, Y0; \
	ADD Y6, Y4, Y4; \
	ADD Y4, Y0, Y0; \
	MOVE Y0, (DX); \
	VZEROUPPER; \
	RET

#define SUMS(ADD) \
	ADD (SI), Y0, Y0; \
	ADD 32(SI), Y1, Y1; \
	ADD 64(SI), Y2, Y2; \
	ADD 96(SI), Y3, Y3; \
	ADD 128(SI), Y4, Y4; \
	ADD 160(SI), Y5, Y5; \
	ADD 192(SI), Y6, Y6; \
	ADD 224(SI), Y7, Y7

// READ adds up in eight sums, and those to one vector of them. Each of its loads is
// 256 bytes on in the next round, which an Intel processor of 2023 fetched ahead at
// 14 GB/s, and at 17 with every other line asked for 1 KB before: as much as loads
// 128 bytes apart, which are too few sums for an array in cache. Few rounds, of an
// array for the first-level cache, ask for nothing, nor do the last four, for it would
// lie beyond the array.
#define FEW 256

#define READ(ADD, MOVE) \
	ENTER; \
	CLEAR; \
	SUBQ $4, CX; \
	CMPQ CX, $FEW; \
	JLT  last; \
	PCALIGN $32; \
	loop: \
	PREFETCHT0 1024(SI); \
	PREFETCHT0 1152(SI); \
	SUMS(ADD); \
	AGAIN(256, loop); \
	last: \
	ADDQ $4, CX; \
	PCALIGN $32; \
	end: \
	SUMS(ADD); \
	AGAIN(256, end); \
	FOLD(ADD, MOVE)

// TIMES adds the product of a vector of each to a sum.
#define TIMES(AT, MUL, ADD, MOVE, TO, SUM) \
	MOVE AT(SI), TO; \
	MUL AT(DI), TO, TO; \
	ADD TO, SUM, SUM

// DOT adds up products in eight sums, and those to one vector of them, as READ does.
#define DOT(MUL, ADD, MOVE) \
	MOVQ p+0(FP), SI; \
	MOVQ vector+8(FP), DI; \
	MOVQ rounds+16(FP), CX; \
	MOVQ x+24(FP), DX; \
	CLEAR; \
	PCALIGN $32; \
	loop: \
	TIMES(0, MUL, ADD, MOVE, Y8, Y0); \
	TIMES(32, MUL, ADD, MOVE, Y9, Y1); \
	TIMES(64, MUL, ADD, MOVE, Y10, Y2); \
	TIMES(96, MUL, ADD, MOVE, Y11, Y3); \
	TIMES(128, MUL, ADD, MOVE, Y12, Y4); \
	TIMES(160, MUL, ADD, MOVE, Y13, Y5); \
	TIMES(192, MUL, ADD, MOVE, Y14, Y6); \
	TIMES(224, MUL, ADD, MOVE, Y15, Y7); \
	ADDQ $256, DI; \
	AGAIN(256, loop); \
	FOLD(ADD, MOVE)

#define WRITE(BROADCAST, MOVE) \
	ENTER; \
	BROADCAST (DX), Y0; \
	PCALIGN $32; \
	loop: \
	MOVE Y0, (SI); \
	MOVE Y0, 32(SI); \
	MOVE Y0, 64(SI); \
	MOVE Y0, 96(SI); \
	MOVE Y0, 128(SI); \
	MOVE Y0, 160(SI); \
	MOVE Y0, 192(SI); \
	MOVE Y0, 224(SI); \
	AGAIN(256, loop); \
	VZEROUPPER; \
	RET

// CHANGE writes what OP makes of each vector and x, half a round at a time: its loads
// are 128 bytes apart.
#define CHANGE(BROADCAST, OP, MOVE) \
	ENTER; \
	BROADCAST (DX), Y0; \
	SHLQ $1, CX; \
	PCALIGN $32; \
	loop: \
	OP (SI), Y0, Y1; \
	OP 32(SI), Y0, Y2; \
	OP 64(SI), Y0, Y3; \
	OP 96(SI), Y0, Y4; \
	MOVE Y1, (SI); \
	MOVE Y2, 32(SI); \
	MOVE Y3, 64(SI); \
	MOVE Y4, 96(SI); \
	AGAIN(128, loop); \
	VZEROUPPER; \
	RET

// func readInt32(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·readInt32(SB), NOSPLIT, $0-24
	READ(VPADDD, VMOVDQU)

// func write4Bytes(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·write4Bytes(SB), NOSPLIT, $0-24
	WRITE(VBROADCASTSS, VMOVUPS)

// func multiplyInt32(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·multiplyInt32(SB), NOSPLIT, $0-24
	CHANGE(VPBROADCASTD, VPMULLD, VMOVDQU)

// func readFloat32(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·readFloat32(SB), NOSPLIT, $0-24
	READ(VADDPS, VMOVUPS)

// func multiplyFloat32(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·multiplyFloat32(SB), NOSPLIT, $0-24
	CHANGE(VBROADCASTSS, VMULPS, VMOVUPS)

// func divideFloat32(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·divideFloat32(SB), NOSPLIT, $0-24
	CHANGE(VBROADCASTSS, VDIVPS, VMOVUPS)

// func readFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·readFloat64(SB), NOSPLIT, $0-24
	READ(VADDPD, VMOVUPD)

// func writeFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·writeFloat64(SB), NOSPLIT, $0-24
	WRITE(VBROADCASTSD, VMOVUPD)

// func multiplyFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·multiplyFloat64(SB), NOSPLIT, $0-24
	CHANGE(VBROADCASTSD, VMULPD, VMOVUPD)

// func divideFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·divideFloat64(SB), NOSPLIT, $0-24
	CHANGE(VBROADCASTSD, VDIVPD, VMOVUPD)

// func dotInt32(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·dotInt32(SB), NOSPLIT, $0-32
	DOT(VPMULLD, VPADDD, VMOVDQU)

// func dotFloat32(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·dotFloat32(SB), NOSPLIT, $0-32
	DOT(VMULPS, VADDPS, VMOVUPS)

// func dotFloat64(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)
TEXT ·dotFloat64(SB), NOSPLIT, $0-32
	DOT(VMULPD, VADDPD, VMOVUPD)
