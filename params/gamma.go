package params

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// Scalar is the suffix of operators without vector instructions, as in some MPI libraries: SUM_I_SCALAR.
const Scalar = "_SCALAR"

// Gamma is the time of reductions: γ(m,τ) of each measured operator.
type Gamma struct {
	Operators []Operator
	// Unfinished says, by operator, which cells a sweep has not measured yet: errors that wrap
	// ErrUnfinished.
	Unfinished map[string]error
	Doubt      error // as in Table
}

// Operator is the time of combining two vectors of m bytes on τ ranks at once.
type Operator struct {
	Name string // as its file names it, such as "sum" or "SUM_R"
	Curve
}

// Gamma is γ(m,τ) of an operator in seconds, and whether it is extrapolated, see Curve. It fails as
// Operator does.
func (g *Gamma) Gamma(operator string, m, tau int) (seconds float64, extrapolated bool, err error) {
	o, err := g.Operator(operator)
	if err != nil {
		return 0, false, err
	}
	seconds, extrapolated = o.At(m, tau)
	return seconds, extrapolated, nil
}

// Operator finds an operator by name. Case does not matter. A plain name such as "sum" stands for SUM_I,
// on integers, if there is no operator of that name. It fails for operators that are not measured or not
// finished.
func (g *Gamma) Operator(name string) (*Operator, error) {
	for _, full := range []string{name, name + "_I"} {
		if o := lists.Find(g.Operators, func(o Operator) bool { return strings.EqualFold(o.Name, full) }); o != nil {
			return o, nil
		}
		for unfinished, why := range g.Unfinished {
			if strings.EqualFold(unfinished, full) {
				return nil, why
			}
		}
	}
	names := lists.Map(g.Operators, func(o Operator) string { return o.Name })
	if len(names) == 0 {
		names = []string{"none"}
	}
	return nil, fmt.Errorf("no γ of operator %.40q; measured are %s", name, printable.List(names))
}
