//go:build !amd64 && !arm64

package calls

const instructions = 0
