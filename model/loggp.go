package model

import (
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/mapping"
)

// LogGP is the model of Alexandrov et al. as the τ-Lop paper applies it: eqs.
// (1), (2) and (3), (7) for one-way messages, and (19) for exchanges. It knows
// no concurrency: a stage costs what its largest message costs alone. The tree
// of transfers of Open MPI, which it cannot represent, counts as one message for
// each level (section 4.2).
type LogGP struct {
	Latency    float64 // L, in seconds
	Overhead   float64 // o, in seconds
	Gap        float64 // g, in seconds
	GapPerByte float64 // G, in seconds a byte
	Segment    int     // S in bytes; 0 sends contiguous messages
	// Measured is L over launches, in seconds, with its interval; it may be below zero,
	// where Latency is 0. No N: not known.
	Measured   fit.Estimate
	Reductions Reductions
	Operator   string // of reductions; "" means "sum"
	// Local, if not nil, says what ranks copy within themselves: a model of messages
	// does not, and on equal footing both count it.
	Local *TauLop
}

// Cost is the cost of a schedule. It fails where a reduction has no γ.
func (m LogGP) Cost(s *collective.Schedule) (Cost, error) {
	if m.Segment < 0 {
		return Cost{}, fmt.Errorf("LogGP needs a segment of at least one byte, or 0 for none, got %d", m.Segment)
	}
	y := symbolsOf(s, 0)
	if s.Levels > 0 {
		s = levels(s)
	}
	return evaluate(s, y, anywhere, func(stage *collective.Stage, _ mapping.Traffic, add func(Term)) error {
		if stage.Pattern == collective.Local {
			return m.Local.localCopy(stage, y, add)
		}
		m.message(stage.Shape[0].Bytes, stage.Pattern, add)
		if stage.Reduce {
			add(reduction(stage, y, 1))
		}
		return nil
	}, m.value)
}

// message adds the terms of one message, each segment of S bytes but the last.
func (m LogGP) message(bytes int, pattern collective.Pattern, add func(Term)) {
	segment := m.Segment
	if segment == 0 {
		segment = max(1, bytes)
	}
	k := max(1, (bytes+segment-1)/segment)
	last := bytes - (k-1)*segment
	term := func(n int, parameter string) { add(Term{Count: Count{Fixed: n}, Parameter: parameter}) }
	if pattern == collective.Exchange { // eq. (19)
		term(k, "o")
		term(k, "max{L+o,g}")
	} else { // eq. (2), and (1) for k = 1
		term(2, "o")
		term(1, "L")
		term(k-1, "g")
	}
	term((k-1)*(segment-1)+max(0, last-1), "G")
}

func (m LogGP) value(t Term) (seconds float64, extrapolated bool, err error) {
	switch t.Parameter {
	case "L":
		return m.Latency, false, nil
	case "o":
		return m.Overhead, false, nil
	case "g":
		return m.Gap, false, nil
	case "G":
		return m.GapPerByte, false, nil
	case "max{L+o,g}":
		return max(m.Latency+m.Overhead, m.Gap), false, nil
	case "c":
		return m.Local.value(t)
	}
	return gamma(m.Reductions, m.Operator, t)
}

// levels replaces a tree of transfers by one message for each of its levels.
func levels(s *collective.Schedule) *collective.Schedule {
	tree := *s
	tree.Blocks = []collective.Block{{
		Repeat: s.Levels,
		Stages: []collective.Stage{{
			Phase: "level", Pattern: collective.OneWay,
			Shape: []collective.Batch{{Count: 1, Bytes: s.Call.M}},
		}},
	}}
	return &tree
}
