#include "textflag.h"

#define SYS_write 64
#define SYS_exit_group 94
#define SYS_getrlimit 163
#define RLIMIT_AS 9

// entry is as for amd64.
TEXT entry(SB), NOSPLIT|NOFRAME, $0
	SUB	$16, RSP
	MOVD	$SYS_getrlimit, R8
	MOVD	$RLIMIT_AS, R0
	MOVD	RSP, R1
	SVC
	MOVD	0(RSP), R2
	ADD	$16, RSP
	CBNZ	R0, begin
	MOVD	·leastAddressSpace(SB), R3
	CMP	R3, R2
	BHS	begin
	MOVD	$SYS_write, R8
	MOVD	$2, R0
	MOVD	·noAddressSpace(SB), R1
	MOVD	·noAddressSpace+8(SB), R2
	SVC
	MOVD	$SYS_exit_group, R8
	MOVD	$1, R0
	SVC

begin:
	JMP	_rt0_arm64_linux(SB)
