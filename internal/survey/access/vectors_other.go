//go:build !amd64

package access

// vectors, dotVectors: none are written for this architecture.
var (
	vectors    map[string]vector
	dotVectors map[string]dotVector
)
