//go:build !amd64 && !arm64

package reduce

var versions []version
