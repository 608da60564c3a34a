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
	// Alone, if not nil, is y(1), of which a transfer alone was measured with one
	// too many: of a message alone only every other transfer waits for its flag.
	Alone func(tau int) (seconds float64, extrapolated bool)
}

// L is that of Parameters, of a segment that of the message's row.
func (c InContext) L(m, tau int) (seconds float64, extrapolated bool) {
	if m == c.Segment {
		m = max(m, c.Message)
	}
	seconds, extrapolated = c.Parameters.L(m, tau)
	if tau == 1 && c.Alone != nil {
		y, beyond := c.Alone(1)
		return max(seconds/2, seconds-y/2), extrapolated || beyond
	}
	return seconds, extrapolated
}
