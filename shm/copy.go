package shm

import (
	"fmt"
	"runtime"
)

// Copy copies the shorter length of src and dst, which do not overlap. It is the copy of every transfer:
// the runtime's memmove in pieces that go through the cache, or the string moves of copy_amd64.go.
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

// piece bounds the bytes of a memmove. From 1 MiB on the runtime's memmove of amd64 stores past the
// caches; C libraries do so only from a large part of the last-level cache on, and below it a rank finds
// its copy cached.
const piece = 512 << 10

// CopyName describes the copy of all transfers. It is part of every result, because other copies have
// other speeds.
func CopyName() string {
	name := fmt.Sprintf("runtime.memmove of %s %s in pieces of %d bytes", runtime.Version(), runtime.GOARCH, piece)
	if stringMoves {
		name = fmt.Sprintf("REP MOVSB, %s below %d bytes", name, stringLeast)
	}
	return name
}
