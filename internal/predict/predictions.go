package predict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
)

// Predictions are what collectives cost. Rows stand in the order of P, then m,
// then algorithms.
type Predictions struct {
	Source
	Rows    []Prediction `json:"rows"`
	LeftOut []Omission   `json:"left_out"`

	ensemble *model.Ensemble // what costs are uncertain by; nil: not asked
}

// A Prediction is the cost of one call.
type Prediction struct {
	Collective   string  `json:"collective"`
	Algorithm    string  `json:"algorithm"`
	Own          bool    `json:"own,omitempty"`    // it is what a library takes by itself
	Chosen       string  `json:"chosen,omitempty"` // what an algorithm that only chooses has chosen, or how one is laid out
	P            int     `json:"P"`
	Bytes        int     `json:"m_bytes"`
	Microseconds float64 `json:"cost_us"`
	Extrapolated bool    `json:"extrapolated"`
	Cheapest     bool    `json:"cheapest"`          // of this collective, P and m; see MarkCheapest
	Unknown      bool    `json:"unknown,omitempty"` // the parameters have a time of 0 for it: text and tables show no cost
	// Lo and Hi are the cost's 95 % interval in µs as far as launches of the parameters
	// tell it; nil where they do not.
	Lo *float64 `json:"lo_us,omitempty"`
	Hi *float64 `json:"hi_us,omitempty"`
	// TauLop is what τ-Lop says in µs, where it stands beside another model; nil where it
	// does not, or has a time of 0 for it.
	TauLop *float64 `json:"taulop_us,omitempty"`

	Rough  bool `json:"-"` // it is known how far such predictions were off
	Beside bool `json:"-"` // τ-Lop stands beside another model

	drawn  []float64 // costs in seconds from parameters drawn again, see model.Ensemble
	spread float64   // costs closer than this share cannot be told apart, see model.Cost
}

// An Omission says for which P an algorithm is left out, and why.
type Omission struct {
	Algorithm string `json:"algorithm"`
	Why       string `json:"why"` // it needs a power of two of ranks
	P         []int  `json:"P"`
}

func (o Omission) String() string { return o.Algorithm + " " + o.Reason() }

// Reason is what several have in common.
func (o Omission) Reason() string {
	return fmt.Sprintf("for P = %s: it %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.P), " ", ", "), "[]"), o.Why)
}

// alike is the share that costs must differ by to be told apart.
const alike = 0.01

// MarkCheapest marks the cheapest rows of each collective, P and m: with the cheapest those
// that cost up to 1 % more, or that may well be as cheap, by the launches of the
// parameters or by what the model says of itself. It marks none where they are all rows, nor
// where one of them is unknown.
func (p *Predictions) MarkCheapest() {
	for _, rows := range p.calls() {
		cheapest := slices.MinFunc(rows, func(a, b *Prediction) int { return cmp.Compare(a.Microseconds, b.Microseconds) })
		ties := 0
		for _, r := range rows {
			if r.Cheapest = r.tied(cheapest, p.ensemble); r.Cheapest {
				ties++
			}
		}
		if ties == len(rows) || slices.ContainsFunc(rows, func(r *Prediction) bool { return r.Unknown }) {
			for _, r := range rows {
				r.Cheapest = false
			}
		}
	}
}

// calls are the rows of each collective, P and m.
func (p *Predictions) calls() [][]*Prediction {
	type call struct {
		collective string
		p, bytes   int
	}
	rows := make([]*Prediction, len(p.Rows))
	for i := range rows {
		rows[i] = &p.Rows[i]
	}
	return view.Grouped(rows, func(r *Prediction) call { return call{r.Collective, r.P, r.Bytes} })
}

// Least is the share that costs must differ by to be told apart.
func (p *Predictions) Least() float64 {
	least := alike
	for _, r := range p.Rows {
		least = max(least, r.spread)
	}
	return least
}

// SomeAlike tells whether there is a row of several algorithms of which none is marked
// because they are alike.
func (p *Predictions) SomeAlike() bool {
	for _, rows := range p.calls() {
		ranked := func(r *Prediction) bool { return r.Cheapest || r.Unknown || r.Microseconds == 0 }
		if len(rows) > 1 && !slices.ContainsFunc(rows, ranked) {
			return true
		}
	}
	return false
}

// tied tells whether a row cannot be told from the cheapest one.
func (r *Prediction) tied(cheapest *Prediction, e *model.Ensemble) bool {
	ratio := r.Microseconds / cheapest.Microseconds
	if r == cheapest || !(ratio > 1+max(alike, r.spread, cheapest.spread)) {
		return true
	}
	if e == nil || len(r.drawn) == 0 || len(r.drawn) != len(cheapest.drawn) {
		return false
	}
	of := make([]float64, len(r.drawn))
	for i := range of {
		of[i] = r.drawn[i] / cheapest.drawn[i]
	}
	interval := e.Interval(ratio, of)
	return interval.Known() && interval.Lo <= 1
}
