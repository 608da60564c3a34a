package access

// An Element is a type that arrays are of.
type element interface{ int32 | float32 | float64 }

// The loops take n elements of a, stride apart. They are unrolled eight times, so
// that a sum, whose additions wait for each other, keeps up with memory: a
// processor has two adders of four cycles each. What they compute is used, see
// Check; TestLoopsAreThere looks at the instructions.

// read returns the sum of the elements.
func read[E element](a []E, n, stride int, _ E) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 E
	i := 0
	for ; n >= lanes; n -= lanes {
		s0 += a[i]
		i += stride
		s1 += a[i]
		i += stride
		s2 += a[i]
		i += stride
		s3 += a[i]
		i += stride
		s4 += a[i]
		i += stride
		s5 += a[i]
		i += stride
		s6 += a[i]
		i += stride
		s7 += a[i]
		i += stride
	}
	for ; n > 0; n-- {
		s0 += a[i]
		i += stride
	}
	return float64(s0) + float64(s1) + float64(s2) + float64(s3) + float64(s4) + float64(s5) + float64(s6) + float64(s7)
}

// lanes is how often loops are unrolled.
const lanes = 8

// write sets the elements to x.
func write[E element](a []E, n, stride int, x E) float64 {
	i := 0
	for ; n >= lanes; n -= lanes {
		a[i] = x
		i += stride
		a[i] = x
		i += stride
		a[i] = x
		i += stride
		a[i] = x
		i += stride
		a[i] = x
		i += stride
		a[i] = x
		i += stride
		a[i] = x
		i += stride
		a[i] = x
		i += stride
	}
	for ; n > 0; n-- {
		a[i] = x
		i += stride
	}
	return 0
}

// multiply multiplies the elements by x.
func multiply[E element](a []E, n, stride int, x E) float64 {
	i := 0
	for ; n >= lanes; n -= lanes {
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
		a[i] *= x
		i += stride
	}
	for ; n > 0; n-- {
		a[i] *= x
		i += stride
	}
	return 0
}

// divide divides x by the elements.
func divide[E element](a []E, n, stride int, x E) float64 {
	i := 0
	for ; n >= lanes; n -= lanes {
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
		a[i] = x / a[i]
		i += stride
	}
	for ; n > 0; n-- {
		a[i] = x / a[i]
		i += stride
	}
	return 0
}
