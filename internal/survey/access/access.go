// Package access measures the cost of memory accesses: passes that read, write, multiply or divide N
// elements of an array at a stride, in cache and off cache (usc-hpc-benchmarks-1999, section 4.2.1).
//
// Its opinion: an array of N elements at stride S has N·S elements; off cache means that more bytes
// than the caches hold were used since the last access; and a loop counts only if its result was
// checked.
package access

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Operations are the paper's operations on each element, in its order.
var Operations = []string{"read", "write", "multiply", "divide"}

// Dot is an inner product with a vector in the L1 cache, as in a matrix multiplication.
const Dot = "dot"

// AllOperations are the paper's operations, the default, and Dot.
var AllOperations = append(slices.Clone(Operations), Dot)

// Types are the types of elements.
var Types = []string{"int32", "float32", "float64"}

// ElementBytes is the size of a type's element.
var ElementBytes = map[string]int{"int32": 4, "float32": 4, "float64": 8}

// A Pass is N elements, Stride apart, of an array of N·Stride.
type Pass struct {
	Operation string
	Type      string
	N         int
	Stride    int // in elements
}

// Bytes is the size of the array.
func (p Pass) Bytes() int { return p.N * p.Stride * ElementBytes[p.Type] }

// Lines is N_c of eq. (2), the number of cache lines that a pass touches. The array begins with a
// line.
func (p Pass) Lines(lineBytes int) int {
	size := ElementBytes[p.Type]
	if p.Stride*size >= lineBytes {
		return p.N
	}
	return ((p.N-1)*p.Stride*size+size-1)/lineBytes + 1
}

// Variant is the pass in a parameter file, beside the array's bytes.
func (p Pass) Variant() params.Access {
	return params.Access{Operation: p.Operation, Type: p.Type, Stride: p.Stride}
}

// PassOf is the pass of a parameter file's cell; ok is false if it is none.
func PassOf(k params.Key) (p Pass, ok bool) {
	a, ok := k.Variant.(params.Access)
	if p = (Pass{a.Operation, a.Type, 1, a.Stride}); !ok || p.Check() != nil {
		return p, false
	}
	p.N = k.Bytes / p.Bytes()
	return p, p.N > 0 && p.Bytes() == k.Bytes
}

// maxElements of an array.
const maxElements = 1 << 32

// Check validates a pass.
func (p Pass) Check() error {
	switch {
	case !slices.Contains(AllOperations, p.Operation):
		return fmt.Errorf("there is no operation %q: use one of %s", p.Operation, strings.Join(AllOperations, ", "))
	case !slices.Contains(Types, p.Type):
		return fmt.Errorf("there are no elements of type %q: use one of %s", p.Type, strings.Join(Types, ", "))
	case p.N < 1 || p.Stride < 1:
		return fmt.Errorf("%d elements at stride %d: want 1 or more of both", p.N, p.Stride)
	case p.N > maxElements/p.Stride:
		return fmt.Errorf("%d elements at stride %d: an array has at most %d, so take fewer, or a smaller stride", p.N, p.Stride, maxElements)
	}
	return nil
}

// work is the pass as a worker's work.
func (p Pass) work() setups.Passes {
	switch p.Type {
	case "int32":
		return workOf[int32](p)
	case "float32":
		return workOf[float32](p)
	}
	return workOf[float64](p)
}

// Values of elements: x/v = w and x/w = v exactly in every type, so that a second division undoes the
// first. None is a power of two, by which some processors divide faster.
const (
	v = 4087
	w = 4093
	x = v * w
)

// workOf is the pass over elements of a type. The value that Check expects after some passes differs
// from the values after one pass more or less.
func workOf[E element](p Pass) setups.Passes {
	run, operand, want := loopOf[E](p.Operation, p.Type, p.Stride), E(0), 0.
	after := [3]E{v, v, v} // no pass, an odd number of passes, an even number
	switch p.Operation {
	case "read":
		want = sum[E](p.Operation, p.Type, p.N, p.Stride, v)
	case Dot:
		vector := make([]E, vectorElements)
		for i := range vector {
			vector[i] = v
		}
		dot := dotOf[E](p.Type, p.Stride)
		run = func(a []E, n, stride int, _ E) float64 { return inner(dot, a, vector, n, stride) }
		for left := p.N; left > 0; left -= vectorElements {
			want += sum[E](p.Operation, p.Type, min(left, vectorElements), p.Stride, v*v)
		}
	case "write":
		operand, after = w, [3]E{v, w, w}
	case "multiply":
		operand, after = -1, [3]E{v, -v, v}
	case "divide":
		operand, after = x, [3]E{v, w, v}
	}
	return setups.Passes{
		Bytes: p.Bytes(), Laid: p.Type,
		Lay: func(mem []byte, _ int) {
			for i, a := 0, elements[E](mem); i < len(a); i++ {
				a[i] = v
			}
		},
		Pass: func(mem []byte, times int) float64 {
			a := elements[E](mem)
			for range times - 1 {
				if found := run(a, p.N, p.Stride, operand); found != want {
					return found
				}
			}
			return run(a, p.N, p.Stride, operand)
		},
		Want: want,
		Check: func(mem []byte, passes int) error {
			a, touched := elements[E](mem), after[min(passes, 2-passes%2)]
			for i := 0; i < len(a); i += p.Stride {
				if a[i] != touched {
					return fmt.Errorf("%s: element %d is %v after %d passes, want %v: this machine's arithmetic cannot be trusted", p.Variant(), i, a[i], passes, touched)
				}
				a[i] = v
				for _, between := range a[i+1 : i+p.Stride] {
					if between != v {
						return fmt.Errorf("%s: an element between those at the stride became %v: this machine's memory cannot be trusted", p.Variant(), between)
					}
				}
			}
			return nil
		},
	}
}

// elements is memory as an array.
func elements[E element](mem []byte) []E {
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(e)))
}

// sum is the result of an operation over n elements that each add one, with the operation's rounding:
// a partial sum for each lane, the last one with the remainder.
func sum[E element](operation, typ string, n, stride int, one E) (sum float64) {
	perRound := roundBytes / ElementBytes[typ]
	if stride == 1 && inRounds(operation, typ) {
		sum, n = float64(perRound/lanes)*float64(lanes*repeated(n/perRound, one)), n%perRound
	}
	return sum + (lanes-1)*float64(repeated(n/lanes, one)) + float64(repeated(n/lanes+n%lanes, one))
}

// repeated is one added n times.
func repeated[E element](n int, one E) (s E) {
	for range n {
		s += one
	}
	return s
}
