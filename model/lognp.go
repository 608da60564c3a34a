package model

import (
	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
)

// LogNP is the model log_nP of Cameron, Ge and Sun for contiguous messages of two transfers, eq. (5): a
// message costs 2o(m). It has no concurrency: a stage costs its largest message alone, eqs. (6) and (20).
// Open MPI's tree of transfers, which it cannot represent, counts as one message a level (section 4.2).
type LogNP struct {
	// Overhead is o(m), half of the time of a message of m bytes.
	Overhead   func(m int) (seconds float64, extrapolated bool)
	Reductions Reductions
	Operator   string  // of reductions; "" means "sum"
	Local      *TauLop // of local copies; nil leaves them out
}

// LogNPOf is log_nP with τ-Lop's parameters. Its o(m) is half of an isolated message, as the paper
// measures it, T(m) of eq. (9): so both models agree on one message, and differ in concurrent ones. It
// fails for a transport that τ-Lop does not know.
func LogNPOf(m TauLop) (LogNP, error) { return logNPOf(m, m) }

// logNPOf is log_nP with another model's cost of a message.
func logNPOf(m TauLop, messages Coster) (LogNP, error) {
	if _, err := messages.Cost(alone(0)); err != nil {
		return LogNP{}, err
	}
	return LogNP{
		Overhead: func(bytes int) (seconds float64, extrapolated bool) {
			c, _ := messages.Cost(alone(bytes)) // no size makes it fail
			return c.Seconds / 2, c.Extrapolated
		},
		Reductions: m.Reductions,
		Operator:   m.Operator,
		Local:      &m,
	}, nil
}

// Cost is the cost of a schedule. It fails where a reduction has no γ.
func (m LogNP) Cost(s *collective.Schedule) (Cost, error) {
	y := symbolsOf(s, 0)
	return oneByOne(s, m.Local, m.Reductions, m.Operator, func(stage *collective.Stage, add func(Term)) {
		bytes := stage.Shape[0].Bytes
		add(Term{Count: Count{Fixed: 2}, Parameter: "o", Bytes: bytes, Size: y.size(bytes)})
	}, func(t Term) (seconds float64, extrapolated bool) { return m.Overhead(t.Bytes) })
}

// oneByOne is the cost of a schedule without concurrency, given the terms of a message and their values: a stage
// costs its largest message alone, its reduction, and its local copies.
func oneByOne(s *collective.Schedule, local *TauLop, reductions Reductions, operator string,
	message func(*collective.Stage, func(Term)), value func(Term) (float64, bool)) (Cost, error) {
	y := symbolsOf(s, 0)
	if s.Levels > 0 {
		s = levels(s)
	}
	return evaluate(s, y, nil, func(stage *collective.Stage, t mapping.Traffic, add func(Term)) error {
		if stage.Pattern == collective.Local {
			if local != nil {
				local.localTerms(stage, t, y, add)
			}
			return nil
		}
		if message(stage, add); stage.Reduce {
			add(y.one("γ", stage.Shape[0].Bytes, 1))
		}
		return nil
	}, func(t Term) (seconds float64, extrapolated bool, err error) {
		switch t.Parameter {
		case "c":
			return local.value(t)
		case "γ":
			return gamma(reductions, operator, t)
		}
		seconds, extrapolated = value(t)
		return seconds, extrapolated, nil
	})
}

// levels replaces a tree of transfers by one message for each of its levels.
func levels(s *collective.Schedule) *collective.Schedule {
	tree := *s
	tree.Blocks = inTurn(s.Levels, "level", s.Call.M)
	return &tree
}
