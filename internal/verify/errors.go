package verify

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A Mean is the errors of the models over some rows.
type Mean struct {
	Of       string       `json:"of"` // message, a collective, or all
	P        int          `json:"P"`
	OffCache bool         `json:"off_cache"`
	State    params.State `json:"state,omitzero"`   // that the rows are of, see Row
	States   int          `json:"states,omitempty"` // or of all, their number, weighted by their shares
	Errors   []Errors     `json:"errors"`           // of the models that predict any of the rows
}

// Errors are one model's errors, relative to the measured times.
type Errors struct {
	Model  string  `json:"model"`
	Rows   int     `json:"rows"`                // that it predicts
	Mean   float64 `json:"mean_relative_error"` // of errors without their signs
	Ninety float64 `json:"percentile_90"`       // nine of ten are no larger, without their signs
	Signed float64 `json:"mean_signed_error"`   // above 0 where predictions are too high
}

// Means are the means over messages, over each collective and over all rows: by P, state of the
// machine and cache, in the order of the rows; and by P over the machine's states.
func Means(rows []Row) []Mean {
	return meansOf(rows, Models, func(r Row) string {
		name, _, _ := strings.Cut(r.Name, ":")
		return name
	})
}

// An over selects the rows of a mean: of a number of ranks, in or off cache, in one state or in all.
type over struct {
	p      int
	off    bool
	state  params.State
	states int
}

// has reports whether a row is selected.
func (o over) has(r Row) bool {
	return r.P == o.p && r.OffCache == o.off && (o.states > 0 || r.State == o.state) && len(r.Predicted) > 0
}

// overs are the selections of all means: each state, then all states together.
func overs(rows []Row) (all []over) {
	for _, ranks := range lists.Groups(rows, func(r Row) int { return r.P }) {
		each := lists.Unique(lists.Map(ranks, func(r Row) over { return over{r.P, r.OffCache, r.State, 0} }))
		all = append(all, each...)
		for _, off := range lists.Unique(lists.Map(each, func(o over) bool { return o.off })) {
			states := lists.Filter(each, func(o over) bool { return o.off == off && o.state.NS > 0 })
			if len(states) > 1 {
				all = append(all, over{p: ranks[0].P, off: off, states: len(states)})
			}
		}
	}
	return all
}

// meansOf also groups rows by a name.
func meansOf(rows []Row, models []string, nameOf func(Row) string) (means []Mean) {
	for _, o := range overs(rows) {
		members := lists.Filter(rows, o.has)
		named := lists.Groups(members, nameOf)
		names := lists.Map(named, func(of []Row) string { return nameOf(of[0]) })
		for i, in := range append(named, members) {
			if len(in) == 0 {
				continue
			}
			m := Mean{Of: append(names, "all")[i], P: o.p, OffCache: o.off, State: o.state, States: o.states}
			for _, name := range models {
				if e := errorsOf(in, name); e.Rows > 0 {
					m.Errors = append(m.Errors, e)
				}
			}
			means = append(means, m)
		}
	}
	return means
}

// errorsOf are a model's errors over rows, each weighted by its state's share.
func errorsOf(rows []Row, name string) Errors {
	type size struct{ error, weight float64 }
	e := Errors{Model: name}
	var sizes []size
	total := 0.
	for _, r := range rows {
		p := of(r.Predicted, name)
		if p == nil {
			continue
		}
		weight := cmp.Or(r.State.Share, 1)
		sizes = append(sizes, size{math.Abs(p.Error), weight})
		e.Mean += weight * math.Abs(p.Error)
		e.Signed += weight * p.Error
		total += weight
	}
	if e.Rows = len(sizes); e.Rows == 0 {
		return e
	}
	e.Mean, e.Signed = e.Mean/total, e.Signed/total
	slices.SortFunc(sizes, func(a, b size) int { return cmp.Compare(a.error, b.error) })
	below := 0.
	for _, s := range sizes {
		e.Ninety = s.error
		if below += s.weight; below > 0.9*total {
			break
		}
	}
	return e
}
