package strided_test

import (
	"fmt"

	"github.com/taulop/taulop/strided"
)

// 4 KB in elements of 4 bytes, whose beginnings lie 64 bytes apart.
func ExampleParse() {
	m, err := strided.Parse("4K64S")
	fmt.Println(m, m.Contiguous(), err)
	// Output: 4K64S false <nil>
}
