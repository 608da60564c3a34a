package model

// InContext is parameters of segments for the messages of one call. What a
// segment costs depends on the buffers that it is a part of: in cache, those of a
// long message come from farther away than those of a short one. So a whole
// segment is looked up at the size of the call's message, and only what is no
// segment of it at its own.
type InContext struct {
	Parameters     // rows beyond a segment are what L(S,τ) becomes in such messages
	Segment    int // S
	Message    int // m of the call
}

// L is that of Parameters, of a segment that of the message's row.
func (c InContext) L(m, tau int) (seconds float64, extrapolated bool) {
	if m == c.Segment {
		m = max(m, c.Message)
	}
	return c.Parameters.L(m, tau)
}

// touching is the time of an operation on m bytes by ranks that touch row bytes with each
// of its two vectors in the course of a call: bytes of long vectors come from farther away.
func touching(row int, at func(m int) (seconds float64, extrapolated bool)) func(m int) (float64, bool) {
	return func(m int) (float64, bool) {
		seconds, extrapolated := at(m)
		if m < 1 || m >= row {
			return seconds, extrapolated
		}
		long, _ := at(row)
		return max(seconds, long*float64(m)/float64(row)), extrapolated
	}
}

// reductionsInContext are reductions by ranks that touch row bytes with each vector.
type reductionsInContext struct {
	Reductions
	row int
}

func (r reductionsInContext) Gamma(operator string, m, tau int) (seconds float64, extrapolated bool, err error) {
	seconds, extrapolated = touching(r.row, func(m int) (float64, bool) {
		s, beyond, failed := r.Reductions.Gamma(operator, m, tau)
		if failed != nil {
			err = failed
		}
		return s, beyond
	})(m)
	return seconds, extrapolated, err
}
