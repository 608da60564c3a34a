#include "textflag.h"

// func release(count *uint64, n uint64)
TEXT ·release(SB), NOSPLIT, $0-16
	MOVQ count+0(FP), DI
	MOVQ n+8(FP), AX
	MOVQ AX, (DI)
	RET
