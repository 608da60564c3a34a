package fit_test

import (
	"fmt"

	"github.com/taulop/taulop/fit"
)

// L(S,τ) and c(S,τ) from six launches, with a message of 4 segments and two transfers for each, and with null
// transfers.
func Example() {
	l := fit.Median([]float64{8800, 8720, 9040, 8880, 8640, 8960}) // ns
	y := fit.Median([]float64{140, 150, 144, 146, 152, 138})
	L := fit.Transfer(l, 4, 2)
	c := fit.Copy(L, y)
	fmt.Printf("L = %.0f ns [%.0f, %.0f]\n", L.Center, L.Lo, L.Hi)
	fmt.Printf("c = %.0f ns [%.0f, %.0f]\n", c.Center, c.Lo, c.Hi)
	// Output:
	// L = 1105 ns [1080, 1130]
	// c = 960 ns [928, 992]
}
