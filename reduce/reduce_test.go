package reduce

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/randtest"
)

// MPI-3.1, sections 5.9.2 and 5.9.4, on vectors long enough for every kernel.
func TestOperators(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	values := map[string][][3]float64{ // in, inout, result
		"MAX": {{3, -5, 3}, {-7, 2, 2}}, "MIN": {{3, -5, -5}, {-7, 2, -7}},
		"SUM": {{3, -5, -2}, {-8, -8, -16}}, "PROD": {{3, -5, -15}, {0, 9, 0}},
		"LAND": {{3, 4, 1}, {0, 4, 0}, {4, 0, 0}, {0, 0, 0}}, "LOR": {{0, 0, 0}, {0, 4, 1}, {4, 0, 1}, {2, -4, 1}},
		"LXOR": {{3, 4, 0}, {0, 4, 1}, {4, 0, 1}, {0, 0, 0}},
		"BAND": {{6, 3, 2}, {8, 7, 0}}, "BOR": {{6, 3, 7}, {8, 7, 15}}, "BXOR": {{6, 3, 5}, {8, 8, 0}},
	}
	wrapping := map[string][][3]int64{
		"SUM_I": {{1 << 30, 1 << 30, math.MinInt32}}, "PROD_I": {{1 << 17, 3 << 15, 0}, {65537, 65537, 131073}},
		"SUM_L":  {{1 << 62, 1 << 62, math.MinInt64}, {math.MaxUint32, 1, 1 << 32}},
		"PROD_L": {{-1, 1 << 40, -1 << 40}, {1<<32 + 1, 1<<32 + 1, 1<<33 + 1}, {math.MinInt64, -1, math.MinInt64}},
		"MAX_L":  {{1 << 40, 1, 1 << 40}, {-1 << 40, 1, 1}}, "MIN_L": {{1 << 40, 1, 1}, {-1 << 40, 1, -1 << 40}},
		"LAND_L": {{1 << 40, 1 << 50, 1}}, "LXOR_L": {{1 << 40, 1 << 50, 0}},
	}
	// in wherever neither is greater.
	odd := map[string][][3]float64{
		"MAX": {{nan, 1, nan}, {1, nan, 1}, {0, zero, 0}, {zero, 0, zero}},
		"MIN": {{nan, 1, nan}, {1, nan, 1}, {0, zero, 0}, {zero, 0, zero}},
	}
	for _, o := range everyOperator() {
		operator, kind, _ := strings.Cut(o.Name, "_")
		check := func(in, inout, want uint64) {
			t.Helper()
			a, b := bytes.Repeat(element(in, o.Element), 40), bytes.Repeat(element(inout, o.Element), 40)
			o.Apply(b, a)
			got := bytes.Repeat(element(want, o.Element), 40)
			check.True(t, bytes.Equal(b, got), "%s of %s: %#x op %#x = %x, want %#x in every element", o.Name, o.version, in, inout, b[:o.Element], want)
		}
		bits := func(x float64) uint64 {
			switch kind {
			case "F":
				return uint64(math.Float32bits(float32(x)))
			case "R":
				return math.Float64bits(x)
			}
			return uint64(int64(x))
		}
		all := values[operator]
		if kind == "F" || kind == "R" {
			all = slices.Concat(all, odd[operator])
		}
		for _, v := range all {
			check(bits(v[0]), bits(v[1]), bits(v[2]))
		}
		for _, v := range wrapping[o.Name] {
			check(uint64(v[0]), uint64(v[1]), uint64(v[2]))
		}
	}
	// Operators of one element at a time have no kernel.
	scalar := must.Get(Lookup("SUM_R" + Scalar))
	check.True(t, scalar.kernel == nil && scalar.Name == "SUM_R_SCALAR", "%+v", scalar)
	for _, name := range []string{"SUM_X", "SUM_X" + Scalar} {
		contains.Error(t, must.Err(Lookup(name)), "SUM_R")
	}
}

// Of equal values the lower index counts, whichever side it comes from.
func TestLocated(t *testing.T) {
	try := func(op string, a, b int32, ai, bi, value, idx int32) {
		t.Helper()
		o := must.Get(Lookup(op))
		in, inout := []located[int32]{{a, ai}}, []located[int32]{{b, bi}}
		o.Apply(unsafe.Slice((*byte)(unsafe.Pointer(&inout[0])), 8), unsafe.Slice((*byte)(unsafe.Pointer(&in[0])), 8))
		check.Equal(t, inout[0], (located[int32]{value, idx}), "%s((%d,%d), (%d,%d))", op, a, ai, b, bi)
	}
	try("MAXLOC_I", 5, 7, 1, 2, 7, 2)
	try("MAXLOC_I", 7, 7, 3, 2, 7, 2)
	try("MAXLOC_I", 7, 7, 1, 2, 7, 1)
	try("MINLOC_I", 5, 7, 1, 2, 5, 1)
	try("MINLOC_I", 7, 7, 3, 2, 7, 2)
}

// Every kernel does on every length, wherever its vectors begin, what the loop in Go does, and touches nothing else.
func TestKernels(t *testing.T) {
	rnd := randtest.New(t)
	const around = 64
	for _, o := range everyOperator() {
		for n := range 301 {
			in, inout := laid(o, rnd, n, around), laid(o, rnd, n, around)
			compare(t, o, inout, in, around+rnd.IntN(around/o.Element)*o.Element, around+rnd.IntN(around/o.Element)*o.Element, n)
		}
	}
}

// compare reduces n elements that begin at in[i:] and inout[j:].
func compare(t *testing.T, o tried, inout, in []byte, j, i, n int) {
	t.Helper()
	want, unchanged, before, m := aligned(len(inout)), bytes.Clone(in), bytes.Clone(inout), n*o.Element
	copy(want, inout)
	if n > 0 {
		o.loop(unsafe.Pointer(&want[j]), unsafe.Pointer(&in[i]), n)
	}
	o.Apply(inout[j:j+m], in[i:i+m])
	check.True(t, bytes.Equal(in, unchanged), "%s of %s changed its operand in", o.Name, o.version)
	for at := 0; at < len(inout); at += o.Element {
		got, want := inout[at:min(at+o.Element, len(inout))], want[at:min(at+o.Element, len(inout))]
		if !bytes.Equal(got, want) && !(at >= j && at < j+m && sameNaN(o.Name, got, want)) {
			t.Fatalf("%s of %s, %d elements: element %d, %x op %x, is %x, want %x", o.Name, o.version, n, (at-j)/o.Element,
				in[i+at-j:][:o.Element], before[at:][:o.Element], got, want)
		}
	}
}

// Which of two NaNs a sum or product has is left open.
func sameNaN(name string, a, b []byte) bool {
	switch name {
	case "SUM_F", "PROD_F":
		x, y := math.Float32frombits(binary.NativeEndian.Uint32(a)), math.Float32frombits(binary.NativeEndian.Uint32(b))
		return x != x && y != y
	case "SUM_R", "PROD_R":
		return math.IsNaN(math.Float64frombits(binary.NativeEndian.Uint64(a))) && math.IsNaN(math.Float64frombits(binary.NativeEndian.Uint64(b)))
	}
	return false
}

// tried is an operator with one of its kernels.
type tried struct {
	*Operator
	version string
}

// everyOperator is each with every kernel that this machine can use, and with none.
func everyOperator() (all []tried) {
	for _, v := range append(versions, version{name: "Go", usable: true}) {
		for _, o := range Operators {
			if _, exists := v.kernels[o.Name]; v.usable && (exists || v.kernels == nil) {
				o.kernel, o.vector = v.kernels[o.Name], v.vector
				all = append(all, tried{&o, v.name})
			}
		}
	}
	return all
}

// All but MAXLOC and MINLOC have a kernel in every version.
func TestComplete(t *testing.T) {
	for _, v := range versions {
		for _, o := range Operators {
			_, exists := v.kernels[o.Name]
			check.True(t, exists != strings.Contains(o.Name, "LOC_"), "%s of %s: %t", o.Name, v.name, exists)
		}
		check.Equal(t, len(v.kernels), 28, "kernels of %s", v.name)
	}
	// An emulated processor that is there for some instructions uses them.
	want := os.Getenv("TAULOP_REDUCE")
	check.True(t, want == "" || want == Instructions(), "reduced by %s, want %s", Instructions(), want)
}

// aligned is memory that begins at a multiple of 64.
func aligned(n int) []byte {
	mem := make([]uint64, n/8+16)
	all := unsafe.Slice((*byte)(unsafe.Pointer(&mem[0])), 8*len(mem))
	skip := int(-uintptr(unsafe.Pointer(&mem[0])) % 64)
	return all[skip : skip+n]
}

// laid is n elements of all kinds, with up to `around` bytes around them.
func laid(o tried, rnd *rand.Rand, n, around int) []byte {
	mem := aligned(n*o.Element + 3*around)
	for at := 0; at+o.Element <= len(mem); at += o.Element {
		copy(mem[at:], element(value(o, rnd), o.Element))
	}
	return mem
}

// value is any, or often one on which operators and kernels could differ.
func value(o tried, rnd *rand.Rand) uint64 {
	reals := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, math.SmallestNonzeroFloat64, math.MaxFloat64, 1e-40}
	integers := []int64{0, 0, 1, -1, math.MinInt32, math.MaxInt32, math.MinInt64, math.MaxInt64, 1 << 32, -1 << 32}
	pick := rnd.IntN(2 * len(reals))
	switch {
	case pick >= len(reals):
		return rnd.Uint64()
	case strings.HasSuffix(o.Name, "_R"):
		return math.Float64bits(reals[pick])
	case strings.HasSuffix(o.Name, "_F"):
		return uint64(math.Float32bits(float32(reals[pick])))
	}
	return uint64(integers[pick])
}

// element is a value in native order; pairs have it in either half.
func element(bits uint64, size int) []byte {
	mem := make([]byte, 16)
	if size == 4 {
		binary.NativeEndian.PutUint32(mem, uint32(bits))
	} else {
		binary.NativeEndian.PutUint64(mem, bits)
		binary.NativeEndian.PutUint64(mem[8:], bits)
	}
	return mem[:size]
}
