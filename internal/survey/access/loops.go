package access

import "unsafe"

// An element is the type of an array's elements.
type element interface{ int32 | float32 | float64 }

// A loop processes n elements of an array at a stride. Check uses its result.
//
// Loops are unrolled eight times, so that dependent additions keep up with memory: a processor has
// two adders with a latency of four cycles. Addresses are plain sums: bounds checks and indexes would
// fill the out-of-order window, and reading int32 from memory would take three times as long.
type loop[E element] func(a []E, n, stride int, x E) float64

// loopOf is the loop of an operation.
func loopOf[E element](operation, typ string, stride int) loop[E] {
	plain := map[string]loop[E]{"read": read[E], "write": write[E], "multiply": multiply[E], "divide": divide[E]}[operation]
	if stride == 1 {
		if l := inVectors(operation, typ, plain); l != nil {
			return l
		}
	}
	return plain
}

// lanes is the unroll factor.
const lanes = 8

// steps returns the address of the first element and the distance of the next in bytes. It panics if
// the last of n elements is beyond the array.
func steps[E element](a []E, n, stride int) (base unsafe.Pointer, s int) {
	_ = a[(n-1)*stride]
	return unsafe.Pointer(unsafe.SliceData(a)), stride * int(unsafe.Sizeof(a[0]))
}

// at is the element `bytes` after p.
func at[E element](p unsafe.Pointer, bytes int) *E { return (*E)(unsafe.Add(p, bytes)) }

// read returns the sum of the elements.
func read[E element](a []E, n, stride int, _ E) float64 {
	base, s := steps(a, n, stride)
	var sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7 E
	i, s2, s3, s4, s8 := 0, 2*s, 3*s, 4*s, 8*s
	for ; n >= lanes; n -= lanes {
		p := unsafe.Add(base, i)
		sum0 += *at[E](p, 0)
		sum1 += *at[E](p, s)
		sum2 += *at[E](p, s2)
		sum3 += *at[E](p, s3)
		p = unsafe.Add(p, s4)
		sum4 += *at[E](p, 0)
		sum5 += *at[E](p, s)
		sum6 += *at[E](p, s2)
		sum7 += *at[E](p, s3)
		i += s8
	}
	for ; n > 0; n-- {
		sum0 += *at[E](base, i)
		i += s
	}
	return float64(sum0) + float64(sum1) + float64(sum2) + float64(sum3) + float64(sum4) + float64(sum5) + float64(sum6) + float64(sum7)
}

// write sets the elements to x.
func write[E element](a []E, n, stride int, x E) float64 {
	base, s := steps(a, n, stride)
	i, s2, s3, s4, s8 := 0, 2*s, 3*s, 4*s, 8*s
	for ; n >= lanes; n -= lanes {
		p := unsafe.Add(base, i)
		*at[E](p, 0) = x
		*at[E](p, s) = x
		*at[E](p, s2) = x
		*at[E](p, s3) = x
		p = unsafe.Add(p, s4)
		*at[E](p, 0) = x
		*at[E](p, s) = x
		*at[E](p, s2) = x
		*at[E](p, s3) = x
		i += s8
	}
	for ; n > 0; n-- {
		*at[E](base, i) = x
		i += s
	}
	return 0
}

// multiply multiplies the elements by x.
func multiply[E element](a []E, n, stride int, x E) float64 {
	base, s := steps(a, n, stride)
	i, s2, s3, s4, s8 := 0, 2*s, 3*s, 4*s, 8*s
	for ; n >= lanes; n -= lanes {
		p := unsafe.Add(base, i)
		*at[E](p, 0) *= x
		*at[E](p, s) *= x
		*at[E](p, s2) *= x
		*at[E](p, s3) *= x
		p = unsafe.Add(p, s4)
		*at[E](p, 0) *= x
		*at[E](p, s) *= x
		*at[E](p, s2) *= x
		*at[E](p, s3) *= x
		i += s8
	}
	for ; n > 0; n-- {
		*at[E](base, i) *= x
		i += s
	}
	return 0
}

// divide divides x by the elements.
func divide[E element](a []E, n, stride int, x E) float64 {
	base, s := steps(a, n, stride)
	i, s2, s3, s4, s8 := 0, 2*s, 3*s, 4*s, 8*s
	for ; n >= lanes; n -= lanes {
		p := unsafe.Add(base, i)
		*at[E](p, 0) = x / *at[E](p, 0)
		*at[E](p, s) = x / *at[E](p, s)
		*at[E](p, s2) = x / *at[E](p, s2)
		*at[E](p, s3) = x / *at[E](p, s3)
		p = unsafe.Add(p, s4)
		*at[E](p, 0) = x / *at[E](p, 0)
		*at[E](p, s) = x / *at[E](p, s)
		*at[E](p, s2) = x / *at[E](p, s2)
		*at[E](p, s3) = x / *at[E](p, s3)
		i += s8
	}
	for ; n > 0; n-- {
		*at[E](base, i) = x / *at[E](base, i)
		i += s
	}
	return 0
}

// vectorElements is the length of Dot's vector, 4 KB of the largest type, which fits any L1 cache
// together with the array's lines in use.
const vectorElements = 512

// A product is the inner product of n elements of an array at a stride and n of a vector.
type product[E element] func(a, vector []E, n, stride int) float64

// dotOf is the loop of Dot.
func dotOf[E element](typ string, stride int) product[E] {
	if stride == 1 {
		if l := dotInVectors[E](typ); l != nil {
			return l
		}
	}
	return dot[E]
}

// inner is a product with a vector that repeats.
func inner[E element](multiply product[E], a, vector []E, n, stride int) (sum float64) {
	for done := 0; done < n; done += len(vector) {
		sum += multiply(a[done*stride:], vector, min(len(vector), n-done), stride)
	}
	return sum
}

// dot is Dot element by element.
func dot[E element](a, vector []E, n, stride int) float64 {
	base, s := steps(a, n, stride)
	var sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7 E
	i, s2, s3, s4, s8 := 0, 2*s, 3*s, 4*s, 8*s
	_ = vector[n-1]
	begin, j, size := unsafe.Pointer(unsafe.SliceData(vector)), 0, int(unsafe.Sizeof(vector[0]))
	for ; n >= lanes; n -= lanes {
		p, b := unsafe.Add(base, i), unsafe.Add(begin, j)
		sum0 += *at[E](p, 0) * *at[E](b, 0)
		sum1 += *at[E](p, s) * *at[E](b, size)
		sum2 += *at[E](p, s2) * *at[E](b, 2*size)
		sum3 += *at[E](p, s3) * *at[E](b, 3*size)
		p = unsafe.Add(p, s4)
		sum4 += *at[E](p, 0) * *at[E](b, 4*size)
		sum5 += *at[E](p, s) * *at[E](b, 5*size)
		sum6 += *at[E](p, s2) * *at[E](b, 6*size)
		sum7 += *at[E](p, s3) * *at[E](b, 7*size)
		i, j = i+s8, j+lanes*size
	}
	for ; n > 0; n-- {
		sum0 += *at[E](base, i) * *at[E](begin, j)
		i, j = i+s, j+size
	}
	return float64(sum0) + float64(sum1) + float64(sum2) + float64(sum3) + float64(sum4) + float64(sum5) + float64(sum6) + float64(sum7)
}

// Product is the inner product that Dot measures: n float64 of a at a stride, and n of vector.
func Product(stride int) func(a, vector []float64, n int) float64 {
	multiply := dotOf[float64]("float64", stride)
	return func(a, vector []float64, n int) float64 { return multiply(a, vector, n, stride) }
}
