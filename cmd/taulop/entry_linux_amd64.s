#include "textflag.h"

#define SYS_write 1
#define SYS_getrlimit 97
#define SYS_exit_group 231
#define RLIMIT_AS 9

// entry is where release builds begin: getrlimit, and a sentence and status 1 instead of the
// runtime where the limit is too low. Registers of the start hold nothing; the stack holds
// arguments and stays as it is.
TEXT entry(SB), NOSPLIT|NOFRAME, $0
	SUBQ	$16, SP
	MOVL	$SYS_getrlimit, AX
	MOVL	$RLIMIT_AS, DI
	MOVQ	SP, SI
	SYSCALL
	MOVQ	0(SP), CX
	ADDQ	$16, SP
	TESTQ	AX, AX
	JNE	begin
	CMPQ	CX, ·leastAddressSpace(SB)
	JCC	begin
	MOVL	$SYS_write, AX
	MOVL	$2, DI
	MOVQ	·noAddressSpace(SB), SI
	MOVQ	·noAddressSpace+8(SB), DX
	SYSCALL
	MOVL	$SYS_exit_group, AX
	MOVL	$1, DI
	SYSCALL

begin:
	JMP	_rt0_amd64_linux(SB)
