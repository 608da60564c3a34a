// Package reduce is the operators of MPI's reductions, on vectors in memory: what
// MPI_Reduce_local computes, inout[i] = in[i] op inout[i].
//
// MPI libraries leave these loops to a C compiler, which vectorises them. Go's compiler does
// not, so they are in assembly here: AVX-512, AVX2 or SSE4.2 on amd64, NEON on arm64. They are
// in Go elsewhere, for MAXLOC and MINLOC, and for the elements at a vector's end that a vector
// instruction would overrun.
//
// Results equal the loops in Go bit for bit, except for which of two NaNs comes out of a sum or
// product. Integers wrap around. MPI does not define MAX and MIN of a NaN, or of zeros of
// different sign; here, as in Open MPI and MPICH, MAX is inout > in ? inout : in, and MIN with
// <: in if neither is greater, or if one is a NaN.
package reduce

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// An Operator reduces two vectors element by element. Its name is the published parameter
// files': MPI's name of the operator, and the type of the elements, _I on int32, _L on int64,
// _F on float32 and _R on float64.
type Operator struct {
	Name    string
	Element int // bytes of an element: 8 and 16 for pairs of value and index
	loop    func(inout, in unsafe.Pointer, n int)
	kernel  kernel // nil: loop alone
	vector  int    // bytes of one of the kernel's vectors
}

// Apply reduces in into inout, as many whole elements as both hold. They are aligned for an
// element, and equal or disjoint.
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

// Operators are all operators, the published files' first, in their order.
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

// Scalar, behind an operator's name, is that operator one element at a time, as in MPI
// libraries whose compiler did not vectorise: SUM_I_SCALAR. Its loop is the one in Go.
const Scalar = "_SCALAR"

// Lookup finds an operator by name; its error lists the names.
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

// Instructions names what reduces here: AVX-512, AVX2, SSE4.2, NEON or Go. It is part of
// every result, since another takes another time.
func Instructions() string { return here.name }

// A version is the kernels for one kind of instructions.
type version struct {
	name    string
	vector  int // bytes
	usable  bool
	kernels map[string]kernel
}

// A kernel reduces n bytes of vectors, a multiple of its version's.
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
