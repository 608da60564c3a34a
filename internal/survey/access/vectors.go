package access

import (
	"math/bits"
	"unsafe"
)

// A vector is a loop over rounds of roundBytes, see vectors_amd64.go.
type vector func(p unsafe.Pointer, rounds int, x unsafe.Pointer)

const roundBytes = 256

var vectorName string

// LoopsName says which loops take elements side by side: part of every result.
func LoopsName() string {
	if vectorName == "" {
		return "element by element at every stride"
	}
	return "stride 1 in vectors (" + vectorName + "), others element by element"
}

// inVectors is the loop of an operation at stride 1 that takes as much as it can in
// vectors and the rest by itself; nil where there are no such instructions. What it
// returns belongs to one worker.
func inVectors[E element](operation, typ string, rest loop[E]) loop[E] {
	v := vectors[operation+"-"+typ]
	if v == nil {
		return nil
	}
	reads := operation == "read"
	x := make([]E, roundBytes/int(unsafe.Sizeof(*new(E))))
	shift := bits.TrailingZeros(uint(len(x)))
	return func(a []E, n, stride int, operand E) (found float64) {
		rounds := n >> shift // a division would take as long as 1 KB
		if rounds > 0 {
			x[0] = operand
			v(unsafe.Pointer(unsafe.SliceData(a[:rounds<<shift])), rounds, unsafe.Pointer(&x[0]))
			if reads {
				for _, sum := range x[:len(x)/lanes] {
					found += float64(sum)
				}
			}
		}
		if done := rounds << shift; done < n {
			found += rest(a[done:], n-done, 1, operand)
		}
		return found
	}
}
