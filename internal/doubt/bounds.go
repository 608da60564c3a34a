package doubt

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Violation is measured times in ns that break eq. (8) of taulop-2015, L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ),
// beyond their intervals.
type Violation struct {
	Setup     string
	Placement numa.Policy
	OffCache  bool
	Bytes     int // m
	Tau, A    int
	Above     bool         // L(m,Aτ) > A·L(m,τ); else L(m,Aτ) < L(m,τ)
	Few, Many fit.Estimate // L(m,τ) and L(m,Aτ)
}

func (v Violation) Error() string {
	many := fmt.Sprintf("L(%d,%d) = %s ns", v.Bytes, v.A*v.Tau, interval(v.Many))
	few := fmt.Sprintf("L(%d,%d) = %s ns", v.Bytes, v.Tau, interval(v.Few))
	how := fmt.Sprintf("%s is below %s, with fewer transfers at once", many, few)
	if v.Above {
		how = fmt.Sprintf("%s is above %d times %s: worse than one after the other", many, v.A, few)
	}
	return fmt.Sprintf("eq. (8) is broken (%s, %s): %s", v.Setup, params.Where(v.Placement, v.OffCache), how)
}

func interval(e fit.Estimate) string {
	return printable.Either(e.Lo == e.Hi, fmt.Sprintf("%.5g", e.Center), fmt.Sprintf("%.5g [%.5g, %.5g]", e.Center, e.Lo, e.Hi))
}

// significance is the level of a violation's adjusted p-value.
const significance = 0.05

// Bounds checks eq. (8) for whole messages at every measured τ and Aτ, corrected for the number of comparisons,
// of which a machine of many cores has hundreds. Published values without samples count as exact; values with too
// few samples for an interval break nothing.
func Bounds(tables []params.Transfers) (all []Violation) {
	var ps []float64
	for _, t := range tables {
		for i, few := range t.Cells {
			for _, many := range t.Cells[i+1:] {
				if many.Tau%few.Tau != 0 || t.OffCache && few.Setup == params.Isolated && many.Setup == params.Ring {
					continue // off cache an isolated message is received in memory, a ring's in cache
				}
				v := Violation{Setup: t.Setup, Placement: t.Placement, OffCache: t.OffCache, Bytes: t.Bytes, Tau: few.Tau, A: many.Tau / few.Tau,
					Few: exact(few.Whole()), Many: exact(many.Whole())}
				below, above := fit.Bounds(v.A, v.Few, v.Many)
				v.Above = above < below
				all, ps = append(all, v), append(ps, min(below, above))
			}
		}
	}
	adjusted, i := fit.Adjust(ps), -1
	return slices.DeleteFunc(all, func(Violation) bool { i++; return !(adjusted[i] < significance) })
}

// exact sets the interval of a value without samples to the value.
func exact(e fit.Estimate) fit.Estimate {
	if e.N == 0 && math.IsInf(e.Lo, -1) && math.IsInf(e.Hi, 1) {
		e.Lo, e.Hi = e.Center, e.Center
	}
	return e
}
