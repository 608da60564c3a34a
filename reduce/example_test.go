package reduce_test

import (
	"encoding/binary"
	"fmt"

	"github.com/taulop/taulop/reduce"
)

// What arrived from another rank is added to what this one has, as MPI_Reduce does.
func ExampleOperator_Apply() {
	sum, err := reduce.Lookup("SUM_I")
	if err != nil {
		fmt.Println(err)
		return
	}
	arrived, own := make([]byte, 3*sum.Element), make([]byte, 3*sum.Element)
	for i := range 3 {
		binary.NativeEndian.PutUint32(arrived[4*i:], uint32(10*i))
		binary.NativeEndian.PutUint32(own[4*i:], uint32(i))
	}
	sum.Apply(own, arrived)
	for i := range 3 {
		fmt.Println(int32(binary.NativeEndian.Uint32(own[4*i:])))
	}
	// Output:
	// 0
	// 11
	// 22
}
