// Package model predicts the cost of a schedule under τ-Lop, and under baseline models such as LogGP and
// log_nP. With one channel it evaluates the shapes of stages alone, so a million ranks take no longer
// than two.
//
// Equation numbers are of Rico-Gallego and Díaz-Martín, "τ-Lop: Modeling performance of shared memory
// MPI", Parallel Computing 46 (2015).
package model

import (
	"cmp"
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
)

// Parameters are τ-Lop's of one channel, in seconds. Both methods report whether the value is
// extrapolated.
type Parameters interface {
	L(m, tau int) (seconds float64, extrapolated bool) // one transfer of m bytes among tau
	O(m int) (seconds float64, extrapolated bool)      // before the first byte moves
}

// Reductions is γ: the time of combining two vectors of m bytes while tau ranks do so. It fails for
// unknown operators.
type Reductions interface {
	Gamma(operator string, m, tau int) (seconds float64, extrapolated bool, err error)
}

// ExtrapolationRule says in words how params.Table and params.Gamma extrapolate.
const ExtrapolationRule = "beyond the largest m, and beyond the largest τ = n, the line through the last two measured goes on, " +
	"never below the last, and in τ never above (τ/n)·L(m,n), a serial channel; below the smallest m its time counts, " +
	"and o(m) stays what it was at the largest"

// terms adds a model's terms of a stage, in repetitions with traffic t.
type terms func(stage *collective.Stage, t mapping.Traffic, add func(Term)) error

// values looks a term's parameter up.
type values func(t Term) (seconds float64, extrapolated bool, err error)

// evaluate adds up the stages of a schedule. Equal terms are looked up once. counter counts the messages of
// channels; nil: there is one channel.
func evaluate(s *collective.Schedule, symbols Symbols, counter *mapping.Counter, add terms, value values) (Cost, error) {
	c := Cost{Symbols: symbols}
	var all sum
	next := 1
	for _, block := range s.Blocks {
		before, every := len(c.Stages), 0
		for i := range block.Stages {
			stage, costs, runs := &block.Stages[i], 0, []mapping.Run{{Repeat: block.Repeat}}
			if counter != nil {
				runs = counter.Runs(stage, block.Repeat)
			}
			for _, run := range runs {
				var terms sum
				if err := add(stage, run.Traffic, terms.add); err != nil {
					return Cost{}, err
				}
				for _, t := range terms.terms {
					t.Count = t.Count.times(run.Repeat)
					all.add(t)
				}
				if len(terms.terms) > 0 {
					costs = 1
					c.Stages = append(c.Stages, StageCost{Stage: stage, Repeat: run.Repeat, Terms: terms.terms,
						First: every, Repetition: run.From, Traffic: run.Traffic})
				}
			}
			every += costs
		}
		for i := range c.Stages[before:] {
			st := &c.Stages[before+i]
			st.First, st.Every = next+st.First+st.Repetition*every, every
		}
		next += block.Repeat * every
	}
	for i := range all.terms {
		t := &all.terms[i]
		var err error
		if t.Seconds, t.Extrapolated, err = value(*t); err != nil {
			return Cost{}, fmt.Errorf("%s: %w", s.Algorithm, err)
		}
		c.Extrapolated = c.Extrapolated || t.Extrapolated
	}
	c.Terms = c.fill(all.terms, all)
	for i := range c.Stages {
		c.Stages[i].Terms = c.fill(c.Stages[i].Terms, all)
	}
	c.Seconds = total(c.Terms)
	return c, nil
}

// fill puts the numbers of all into terms.
func (c *Cost) fill(terms []Term, all sum) []Term {
	for i := range terms {
		t := &terms[i]
		from := all.terms[all.at[t.key()]]
		t.Seconds, t.Extrapolated = from.Seconds, from.Extrapolated
		t.Times = t.Count.value(float64(c.Symbols.K))
	}
	return terms
}

// symbolsOf are the symbols of a schedule's formulas; segment 0: messages are whole.
func symbolsOf(s *collective.Schedule, segment int) Symbols {
	y := Symbols{M: s.Call.M, P: s.Call.P, S: segment, Unit: "m", unit: s.Unit}
	switch {
	case s.Unit == s.Call.M:
	case s.Unit*s.Call.P == s.Call.M:
		y.Unit = "m/P"
	default:
		y.Unit = "⌈m/P⌉"
	}
	if segment > 0 && s.Unit > segment && s.Unit%segment == 0 {
		y.K = s.Unit / segment
	}
	return y
}

// gamma looks γ up for a term.
func gamma(r Reductions, operator string, t Term) (seconds float64, extrapolated bool, err error) {
	operator = cmp.Or(operator, "sum")
	if r == nil {
		return 0, false, fmt.Errorf("it reduces, and the parameters have no γ of operator %q", operator)
	}
	return r.Gamma(operator, t.Bytes, t.Tau)
}
