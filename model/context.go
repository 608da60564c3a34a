package model

// InContext is parameters of segments for the messages of one call. What a
// segment costs depends on the bytes that its rank touches: in cache, those of a
// long message come from farther away than those of a short one. So a whole
// segment is looked up in the message of which a worker touches as much, and only
// what is no segment of it at its own size.
type InContext struct {
	Parameters     // rows beyond a segment are what L(S,τ) becomes in such messages
	Segment    int // S
	Message    int // m of that message
}

// L is that of Parameters, of a segment that of the message's row.
func (c InContext) L(m, tau int) (seconds float64, extrapolated bool) {
	if m == c.Segment {
		m = max(m, c.Message)
	}
	return c.Parameters.L(m, tau)
}
