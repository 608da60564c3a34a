// Package reduce has the operators of MPI's reductions on vectors in memory: inout[i] = in[i] op inout[i], as
// MPI_Reduce_local.
//
// In MPI libraries a C compiler vectorises these loops. Go's compiler does not, so they are in assembly:
// AVX-512, AVX2 or SSE4.2 on amd64, NEON on arm64. The loops in Go are for other machines, for MAXLOC and
// MINLOC, and for the last elements, which do not fill a vector.
//
// Results equal those in Go bit for bit, except for the choice between two NaNs in sums and products. Integers
// wrap around. MPI does not define MAX and MIN of a NaN, or of zeros of different sign; here, as in Open MPI
// and MPICH, MAX is inout > in ? inout : in, and MIN is with <: the result is in if neither is greater, or one
// is a NaN.
package reduce

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// An Operator reduces two vectors element by element. Its name, as in the published parameter files, is MPI's
// with the type of the elements: _I for int32, _L for int64, _F for float32, _R for float64.
type Operator struct {
	Name    string
	Element int // bytes of an element; of a pair of value and index 8 or 16
	loop    func(inout, in unsafe.Pointer, n int)
	kernel  kernel // nil: only loop
	vector  int    // bytes of a vector of the kernel
}

// Apply reduces in into inout, up to the shorter one's last whole element. Both are aligned to an element, and
// equal or disjoint.
func (o *Operator) Apply(inout, in []byte) {
	n := min(len(inout), len(in))
	to, from := unsafe.Pointer(unsafe.SliceData(inout)), unsafe.Pointer(unsafe.SliceData(in))
	if o.kernel != nil && n >= o.vector {
		whole := n &^ (o.vector - 1)
		o.kernel(to, from, whole)
		if n -= whole; n < o.Element {
			return
		}
		to, from = unsafe.Add(to, whole), unsafe.Add(from, whole)
	}
	o.loop(to, from, n/o.Element)
}

// Operators are all operators, first the published files' in their order.
var Operators = slices.Concat(Published, []Operator{
	elementwise("MAX_L", largest[int64]), elementwise("MAX_F", largest[float32]),
	elementwise("MIN_L", smallest[int64]), elementwise("MIN_F", smallest[float32]),
	elementwise("SUM_L", sum[int64]), elementwise("SUM_F", sum[float32]),
	elementwise("PROD_L", product[int64]), elementwise("PROD_F", product[float32]),
	elementwise("LAND_L", and[int64]), elementwise("LOR_L", or[int64]), elementwise("LXOR_L", xor[int64]),
	elementwise("BAND_L", bitAnd[int64]), elementwise("BOR_L", bitOr[int64]), elementwise("BXOR_L", bitXor[int64]),
	elementwise("MAXLOC_L", largestAt[int64]), elementwise("MAXLOC_F", largestAt[float32]),
	elementwise("MINLOC_L", smallestAt[int64]), elementwise("MINLOC_F", smallestAt[float32]),
})

// Published are the operators of the published parameter files, on int32 and float64.
var Published = []Operator{
	elementwise("MAX_I", largest[int32]), elementwise("MIN_I", smallest[int32]),
	elementwise("SUM_I", sum[int32]), elementwise("PROD_I", product[int32]),
	elementwise("LAND_I", and[int32]), elementwise("LOR_I", or[int32]), elementwise("LXOR_I", xor[int32]),
	elementwise("BAND_I", bitAnd[int32]), elementwise("BOR_I", bitOr[int32]), elementwise("BXOR_I", bitXor[int32]),
	elementwise("MAXLOC_I", largestAt[int32]), elementwise("MINLOC_I", smallestAt[int32]),
	elementwise("MAX_R", largest[float64]), elementwise("MIN_R", smallest[float64]),
	elementwise("SUM_R", sum[float64]), elementwise("PROD_R", product[float64]),
	elementwise("MAXLOC_R", largestAt[float64]), elementwise("MINLOC_R", smallestAt[float64]),
}

// Scalar is the suffix of operators without vector instructions, as in MPI libraries that are compiled without
// vectorisation: SUM_I_SCALAR. They use the loops in Go.
const Scalar = "_SCALAR"

// Lookup finds an operator by name. The error lists all names.
func Lookup(name string) (Operator, error) {
	var names []string
	vectors, scalar := strings.CutSuffix(name, Scalar)
	for _, o := range Operators {
		if o.Name == vectors {
			if scalar {
				o.Name, o.kernel = name, nil
			}
			return o, nil
		}
		names = append(names, o.Name)
	}
	return Operator{}, fmt.Errorf("there is no operator %q: use one of %s", name, strings.Join(names, ", "))
}

// Instructions is the instruction set in use, AVX-512, AVX2, SSE4.2, NEON or Go. Results record it: times depend on
// it.
func Instructions() string { return here.name }

// A version is the kernels for an instruction set.
type version struct {
	name    string
	vector  int // bytes
	usable  bool
	kernels map[string]kernel
}

// A kernel reduces n bytes, a multiple of its version's vector.
type kernel func(inout, in unsafe.Pointer, n int)

// here is the first version that this machine supports.
var here = func() version {
	for _, v := range versions {
		if v.usable {
			return v
		}
	}
	return version{name: "Go"}
}()

func elementwise[T any](name string, loop func(inout, in []T)) Operator {
	return Operator{
		Name: name, Element: int(unsafe.Sizeof(*new(T))),
		loop: func(inout, in unsafe.Pointer, n int) {
			if n > 0 {
				loop(unsafe.Slice((*T)(inout), n), unsafe.Slice((*T)(in), n))
			}
		},
		kernel: here.kernels[name], vector: here.vector,
	}
}
