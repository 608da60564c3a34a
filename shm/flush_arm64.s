#include "textflag.h"

// func flushLine(line unsafe.Pointer)
TEXT ·flushLine(SB), NOSPLIT, $0-8
	MOVD line+0(FP), R0
	DC CIVAC, R0
	RET

// func flushed()
TEXT ·flushed(SB), NOSPLIT, $0-0
	DSB $15 // SY
	RET
