package shm

import (
	"fmt"
	"runtime"
)

// Copy copies src to dst, which do not overlap, as far as both reach. It is
// the copy of every transfer: the runtime's memmove, except for the case that
// copy_amd64.go explains, in pieces that go through the cache.
//
//go:nosplit
func Copy(dst, src []byte) {
	if n := min(len(dst), len(src)); stringMoves && n >= stringLeast {
		moveString(&dst[0], &src[0], n)
		return
	}
	for len(src) > piece && len(dst) > piece {
		copy(dst[:piece], src[:piece])
		dst, src = dst[piece:], src[piece:]
	}
	copy(dst, src)
}

// piece is how much is copied at once. From 1 MiB on the runtime's memmove of amd64 stores past
// the caches, C libraries only from a large part of the last-level cache on; a rank then finds
// what it copied in cache.
const piece = 512 << 10

// CopyName says which copy the transfers use: part of every result, since
// another copies at another speed.
func CopyName() string {
	name := fmt.Sprintf("runtime.memmove of %s %s in pieces of %d bytes", runtime.Version(), runtime.GOARCH, piece)
	if stringMoves {
		name = fmt.Sprintf("REP MOVSB, %s below %d bytes", name, stringLeast)
	}
	return name
}
