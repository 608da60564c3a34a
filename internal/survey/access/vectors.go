package access

import (
	"math/bits"
	"unsafe"
)

// A vector is a loop over rounds of roundBytes. x points to the operand, or for reading to room for
// a vector of sums.
type vector func(p unsafe.Pointer, rounds int, x unsafe.Pointer)

// A dotVector multiplies with a vector. x points to room for a vector of sums.
type dotVector func(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)

const roundBytes = 256

// inRounds reports whether an operation at stride 1 has a vector loop.
func inRounds(operation, typ string) bool {
	if operation == Dot {
		return dotVectors[typ] != nil
	}
	return vectors[operation+"-"+typ] != nil
}

var vectorName string

// loopsName describes the vector loops, for every result.
func loopsName() string {
	if vectorName == "" {
		return "element by element at every stride"
	}
	return "stride 1 in vectors (" + vectorName + "), others element by element"
}

// inVectors is the vector loop of an operation at stride 1, with rest for the last elements; nil
// without such instructions. One worker may use it at a time.
func inVectors[E element](operation, typ string, rest loop[E]) loop[E] {
	v := vectors[operation+"-"+typ]
	if v == nil {
		return nil
	}
	reads := operation == "read"
	x := make([]E, roundBytes/int(unsafe.Sizeof(*new(E))))
	shift := bits.TrailingZeros(uint(len(x)))
	return func(a []E, n, stride int, operand E) (found float64) {
		rounds := n >> shift // a division would take as long as 1 KB of the array
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

// dotInVectors is Dot at stride 1, like inVectors.
func dotInVectors[E element](typ string) product[E] {
	v := dotVectors[typ]
	if v == nil {
		return nil
	}
	x := make([]E, roundBytes/lanes/int(unsafe.Sizeof(*new(E))))
	shift := bits.TrailingZeros(uint(lanes * len(x)))
	return func(a, vector []E, n, _ int) (found float64) {
		rounds := n >> shift
		done := rounds << shift
		if rounds > 0 {
			v(unsafe.Pointer(unsafe.SliceData(a[:done])), unsafe.Pointer(unsafe.SliceData(vector[:done])), rounds, unsafe.Pointer(&x[0]))
			for _, sum := range x {
				found += float64(sum)
			}
		}
		if done < n {
			found += dot(a[done:], vector[done:], n-done, 1)
		}
		return found
	}
}
