package reduce

type integer interface{ ~int32 | ~int64 }

type number interface{ integer | ~float32 | ~float64 }

func sum[T number](inout, in []T) {
	for i, x := range in {
		inout[i] += x
	}
}

func product[T number](inout, in []T) {
	for i, x := range in {
		inout[i] *= x
	}
}

// largest and smallest differ from Go's max and min, which return NaN if either is NaN.
func largest[T number](inout, in []T) {
	for i, x := range in {
		if !(inout[i] > x) {
			inout[i] = x
		}
	}
}

func smallest[T number](inout, in []T) {
	for i, x := range in {
		if !(inout[i] < x) {
			inout[i] = x
		}
	}
}

func and[T integer](inout, in []T) {
	for i, x := range in {
		inout[i] = truth[T](x != 0 && inout[i] != 0)
	}
}

func or[T integer](inout, in []T) {
	for i, x := range in {
		inout[i] = truth[T](x|inout[i] != 0)
	}
}

func xor[T integer](inout, in []T) {
	for i, x := range in {
		inout[i] = truth[T]((x != 0) != (inout[i] != 0))
	}
}

func bitAnd[T integer](inout, in []T) {
	for i, x := range in {
		inout[i] &= x
	}
}

func bitOr[T integer](inout, in []T) {
	for i, x := range in {
		inout[i] |= x
	}
}

func bitXor[T integer](inout, in []T) {
	for i, x := range in {
		inout[i] ^= x
	}
}

func truth[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

// A located value is an element of MAXLOC and MINLOC.
type located[T number] struct {
	value T
	index int32
}

// largestAt and smallestAt keep the lower index of equal values, as MPI requires.
func largestAt[T number](inout, in []located[T]) {
	for i, x := range in {
		if y := &inout[i]; x.value > y.value || x.value == y.value && x.index < y.index {
			*y = x
		}
	}
}

func smallestAt[T number](inout, in []located[T]) {
	for i, x := range in {
		if y := &inout[i]; x.value < y.value || x.value == y.value && x.index < y.index {
			*y = x
		}
	}
}
