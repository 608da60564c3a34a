package predict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/model"
)

// Predictions are costs of collectives. Rows are in the order of P, then m, then algorithms.
type Predictions struct {
	Source
	Rows    []Prediction `json:"rows"`
	LeftOut []Omission   `json:"left_out"`

	ensemble *model.Ensemble // uncertainty of costs; nil: not asked for
}

// A Prediction is the cost of one call.
type Prediction struct {
	Collective   string  `json:"collective"`
	Algorithm    string  `json:"algorithm"`
	Own          bool    `json:"own,omitempty"`    // a library's own choice
	Chosen       string  `json:"chosen,omitempty"` // the choice of an algorithm that only chooses, or the layout of one
	P            int     `json:"P"`
	Bytes        int     `json:"m_bytes"`
	Microseconds float64 `json:"cost_us"`
	Extrapolated bool    `json:"extrapolated"`
	Cheapest     bool    `json:"cheapest"`          // of this collective, P and m; see MarkCheapest
	Unknown      bool    `json:"unknown,omitempty"` // the parameters have a time of 0 for it: text and tables show no cost
	// Lo and Hi are the cost's 95 % interval in µs by the parameters' launches; nil: unknown.
	Lo *float64 `json:"lo_us,omitempty"`
	Hi *float64 `json:"hi_us,omitempty"`
	// TauLop is τ-Lop's cost in µs beside another model's; nil: none, or from a time of 0.
	TauLop *float64 `json:"taulop_us,omitempty"`

	Rough  bool `json:"-"` // such predictions have known errors, see Source.Errors
	Beside bool `json:"-"` // τ-Lop's cost beside another model's

	drawn  []float64 // costs in seconds from resampled parameters, see model.Ensemble
	spread float64   // costs closer than this share cannot be told apart, see model.Cost
}

// An Omission is an algorithm that is left out for some P.
type Omission struct {
	Algorithm string `json:"algorithm"`
	Why       string `json:"why"` // it needs a power of two of ranks
	P         []int  `json:"P"`
}

func (o Omission) String() string { return o.Algorithm + " " + o.Reason() }

// Reason is the omission without the algorithm.
func (o Omission) Reason() string {
	return fmt.Sprintf("for P = %s: it %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.P), " ", ", "), "[]"), o.Why)
}

// alike is the share that costs must differ by to be told apart.
const alike = 0.01

// MarkCheapest marks the cheapest rows of each collective, P and m, with those at most 1 % dearer, and
// those that the parameters' launches or the model's spread cannot tell from it. It marks none if these
// are all rows, or if a row is unknown.
func (p *Predictions) MarkCheapest() {
	for _, rows := range p.calls() {
		cheapest := slices.MinFunc(rows, func(a, b *Prediction) int { return cmp.Compare(a.Microseconds, b.Microseconds) })
		tied := lists.Filter(rows, func(r *Prediction) bool { return r.tied(cheapest, p.ensemble) })
		if len(tied) == len(rows) || slices.ContainsFunc(rows, func(r *Prediction) bool { return r.Unknown }) {
			continue
		}
		for _, r := range tied {
			r.Cheapest = true
		}
	}
}

// A callKey tells calls apart.
type callKey struct {
	of       string // a collective, and perhaps one of its algorithms
	p, bytes int
}

// calls are the rows of each collective, P and m.
func (p *Predictions) calls() [][]*Prediction {
	return grouped(p.Rows, func(r *Prediction) callKey { return callKey{r.Collective, r.P, r.Bytes} })
}

// grouped are the rows of each call.
func grouped[R any](rows []R, key func(*R) callKey) [][]*R {
	all := make([]*R, len(rows))
	for i := range all {
		all[i] = &rows[i]
	}
	return lists.Groups(all, key)
}

// Least is the share that costs must differ by to be told apart.
func (p *Predictions) Least() float64 {
	return max(alike, lists.Most(p.Rows, func(r Prediction) float64 { return r.spread }))
}

// SomeAlike tells whether there are several algorithms of a call with none marked, as they are alike.
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
	ratios := make([]float64, len(r.drawn))
	for i := range ratios {
		ratios[i] = r.drawn[i] / cheapest.drawn[i]
	}
	interval := e.Interval(ratio, ratios)
	return interval.Known() && interval.Lo <= 1
}
