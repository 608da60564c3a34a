//go:build !amd64

package access

// vectors: none are written for this architecture.
var vectors map[string]vector
