//go:build !race

package calls

const raced = false
