package params_test

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/params"
)

// A table of the authors' library, L(m,τ) in seconds, interpolated between its points.
func ExampleReadText() {
	const text = `#m	2
#tau	2
#m	o(m)	L(m, 1)	L(m, 2)
8192	0	1.00e-6	1.25e-6
16384	0	2.00e-6	2.50e-6
`
	table, err := params.ReadText(strings.NewReader(text), "SHM.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tau := range []int{1, 2, 4} {
		seconds, extrapolated := table.L(12288, tau)
		fmt.Printf("L(12K,%d) = %.1f µs, extrapolated: %v\n", tau, 1e6*seconds, extrapolated)
	}
	// Output:
	// L(12K,1) = 1.5 µs, extrapolated: false
	// L(12K,2) = 1.9 µs, extrapolated: false
	// L(12K,4) = 2.6 µs, extrapolated: true
}
