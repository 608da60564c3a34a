package shm

import (
	"fmt"
	"runtime"
)

// Copy copies src to dst, which do not overlap, as far as both reach. It is
// the copy of every transfer: the runtime's memmove, but for one case that
// copy_amd64.go explains.
//
//go:nosplit
func Copy(dst, src []byte) {
	if n := min(len(dst), len(src)); stringMoves && n >= stringLeast {
		moveString(&dst[0], &src[0], n)
		return
	}
	copy(dst, src)
}

// CopyName says which copy the transfers use: part of every result, since
// another copies at another speed.
func CopyName() string {
	name := "runtime.memmove of " + runtime.Version() + " " + runtime.GOARCH
	if stringMoves {
		name = fmt.Sprintf("REP MOVSB, %s below %d bytes", name, stringLeast)
	}
	return name
}
