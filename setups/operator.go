package setups

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// An Operator reduces two vectors element by element, inout[i] = in[i] op
// inout[i], as MPI_Reduce does. Its name is that of the published parameter
// files: SUM_I on int32, SUM_R on float64.
type Operator struct {
	Name    string
	Element int // bytes of an element: 8 and 16 for pairs of value and index
	apply   func(inout, in []byte)
}

type number interface{ ~int32 | ~float64 }

// A located value is MPI's pair of MAXLOC and MINLOC.
type located[T number] struct {
	value T
	index int32
}

// Operators are those of MPI on int32 and float64, in the order of the
// published files.
var Operators = []Operator{
	elementwise("MAX_I", func(a, b int32) int32 { return max(a, b) }),
	elementwise("MIN_I", func(a, b int32) int32 { return min(a, b) }),
	elementwise("SUM_I", func(a, b int32) int32 { return a + b }),
	elementwise("PROD_I", func(a, b int32) int32 { return a * b }),
	elementwise("LAND_I", func(a, b int32) int32 { return truth(a != 0 && b != 0) }),
	elementwise("LOR_I", func(a, b int32) int32 { return truth(a != 0 || b != 0) }),
	elementwise("LXOR_I", func(a, b int32) int32 { return truth((a != 0) != (b != 0)) }),
	elementwise("BAND_I", func(a, b int32) int32 { return a & b }),
	elementwise("BOR_I", func(a, b int32) int32 { return a | b }),
	elementwise("BXOR_I", func(a, b int32) int32 { return a ^ b }),
	elementwise("MAXLOC_I", largest[int32]),
	elementwise("MINLOC_I", smallest[int32]),
	elementwise("MAX_R", func(a, b float64) float64 { return max(a, b) }),
	elementwise("MIN_R", func(a, b float64) float64 { return min(a, b) }),
	elementwise("SUM_R", func(a, b float64) float64 { return a + b }),
	elementwise("PROD_R", func(a, b float64) float64 { return a * b }),
	elementwise("MAXLOC_R", largest[float64]),
	elementwise("MINLOC_R", smallest[float64]),
}

// LookupOperator finds an operator by name.
func LookupOperator(name string) (Operator, error) {
	var names []string
	for _, o := range Operators {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return Operator{}, fmt.Errorf("there is no operator %q: use one of %s", name, strings.Join(names, ", "))
}

// Apply reduces in into inout; both are aligned for an element and hold whole
// ones.
func (o Operator) Apply(inout, in []byte) { o.apply(inout, in) }

// Reducing is the setup in which every worker reduces its user buffer into a
// buffer of its own, all at once and without flags: γ(m,τ).
func Reducing(o Operator) Setup {
	return Setup{
		Name: o.Name, About: "every worker reduces one vector into another", Transfers: 1,
		source: Bare.source, check: Bare.check, alone: true, operator: &o,
	}
}

func elementwise[T any](name string, op func(a, b T) T) Operator {
	size := int(unsafe.Sizeof(*new(T)))
	return Operator{name, size, func(inout, in []byte) {
		n := min(len(inout), len(in)) / size
		if n == 0 {
			return
		}
		// The buffers are mapped memory, aligned to 64 bytes and more.
		a := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(inout))), n)
		b := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(in))), n)
		for i := range a {
			a[i] = op(b[i], a[i])
		}
	}}
}

func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// largest and smallest keep the lower index of equals, as MPI has it.
func largest[T number](a, b located[T]) located[T] {
	if a.value > b.value || a.value == b.value && a.index < b.index {
		return a
	}
	return b
}

func smallest[T number](a, b located[T]) located[T] {
	if a.value < b.value || a.value == b.value && a.index < b.index {
		return a
	}
	return b
}

// ones is what operators work on: elements of value 1. Random bytes would be
// NaNs and denormal numbers, which take far longer.
func ones(o Operator) []byte {
	p := make([]byte, 1<<16)
	for at := 0; at < len(p); at += o.Element {
		if strings.HasSuffix(o.Name, "_R") {
			binary.NativeEndian.PutUint64(p[at:], math.Float64bits(1))
		} else {
			binary.NativeEndian.PutUint32(p[at:], 1)
		}
	}
	return p
}
