//go:build !amd64

package shm

const (
	stringMoves = false
	stringLeast = 0
)

func moveString(dst, src *byte, n int) {}
