#include "textflag.h"

// func flushLine(line unsafe.Pointer)
TEXT ·flushLine(SB), NOSPLIT, $0-8
	MOVQ line+0(FP), AX
	CLFLUSH (AX)
	RET

// func flushed()
TEXT ·flushed(SB), NOSPLIT, $0-0
	MFENCE
	RET
