//go:build race

package calls

const raced = true
