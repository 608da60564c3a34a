package model

import (
	"cmp"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
)

// LogGP is the model of Alexandrov et al. as the τ-Lop paper applies it: eqs. (1), (2) and (3), (7) for
// one-way messages, and (19) for exchanges. It has no concurrency: a stage costs its largest message
// alone. Open MPI's tree of transfers, which it cannot represent, counts as one message a level
// (section 4.2).
type LogGP struct {
	Latency    float64 // L, in seconds
	Overhead   float64 // o, in seconds
	Gap        float64 // g, in seconds
	GapPerByte float64 // G, in seconds a byte
	Segment    int     // S in bytes; 0 sends contiguous messages
	// Measured is L over launches, in seconds, with its interval; where it is below zero Latency is 0.
	// N = 0: unknown.
	Measured   fit.Estimate
	Reductions Reductions
	Operator   string  // of reductions; "" means "sum"
	Local      *TauLop // of local copies, which LogGP lacks; nil leaves them out
}

// Cost is the cost of a schedule. It fails where a reduction has no γ.
func (m LogGP) Cost(s *collective.Schedule) (Cost, error) {
	values := map[string]float64{"L": m.Latency, "o": m.Overhead, "g": m.Gap, "G": m.GapPerByte, "max{L+o,g}": max(m.Latency+m.Overhead, m.Gap)}
	return oneByOne(s, m.Local, m.Reductions, m.Operator, m.message, func(t Term) (float64, bool) { return values[t.Parameter], false })
}

// message adds the terms of one message, each segment of S bytes but the last.
func (m LogGP) message(stage *collective.Stage, add func(Term)) {
	bytes := stage.Shape[0].Bytes
	segment := cmp.Or(m.Segment, max(1, bytes))
	k := max(1, (bytes+segment-1)/segment)
	last := bytes - (k-1)*segment
	term := func(n int, parameter string) { add(Term{Count: Count{Fixed: n}, Parameter: parameter}) }
	if stage.Pattern == collective.Exchange { // eq. (19)
		term(k, "o")
		term(k, "max{L+o,g}")
	} else { // eq. (2), and (1) for k = 1
		term(2, "o")
		term(1, "L")
		term(k-1, "g")
	}
	term((k-1)*(segment-1)+max(0, last-1), "G")
}
