package verify

import (
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
)

// A Mean is the errors of the models over some rows.
type Mean struct {
	Of       string   `json:"of"` // message, a collective, or all
	P        int      `json:"P"`
	OffCache bool     `json:"off_cache"`
	Errors   []Errors `json:"errors"` // of the models that predict any of the rows
}

// Errors are those of one model, as shares of what was measured.
type Errors struct {
	Model  string  `json:"model"`
	Rows   int     `json:"rows"`                // that it predicts
	Mean   float64 `json:"mean_relative_error"` // of errors without their signs
	Ninety float64 `json:"percentile_90"`       // nine of ten are no larger, without their signs
	Signed float64 `json:"mean_signed_error"`   // above 0 where predictions are too high
}

// Means are those of messages, of each collective and of all rows, for each P and
// state of the cache, in the order of the rows.
func Means(rows []Row) []Mean {
	return meansOf(rows, Models, func(r Row) string {
		name, _, _ := strings.Cut(r.Name, ":")
		return name
	})
}

// meansOf groups rows by a name, too.
func meansOf(rows []Row, models []string, nameOf func(Row) string) (means []Mean) {
	type group struct {
		name string
		p    int
		off  bool
	}
	var groups []group
	members := make(map[group][]Row)
	add := func(g group, r Row) {
		if members[g] == nil {
			groups = append(groups, g)
		}
		members[g] = append(members[g], r)
	}
	type experiment struct {
		p   int
		off bool
	}
	seen := make(map[experiment]bool)
	for _, first := range rows {
		x := experiment{first.P, first.OffCache}
		if seen[x] {
			continue
		}
		seen[x] = true
		for _, name := range []func(Row) string{nameOf, func(Row) string { return "all" }} {
			for _, r := range rows {
				if r.P == x.p && r.OffCache == x.off && len(r.Predicted) > 0 {
					add(group{name(r), x.p, x.off}, r)
				}
			}
		}
	}
	for _, g := range groups {
		m := Mean{Of: g.name, P: g.p, OffCache: g.off}
		for _, name := range models {
			if e := errorsOf(members[g], name); e.Rows > 0 {
				m.Errors = append(m.Errors, e)
			}
		}
		means = append(means, m)
	}
	return means
}

// errorsOf are those of a model over rows.
func errorsOf(rows []Row, name string) Errors {
	e := Errors{Model: name}
	var sizes []float64
	for _, r := range rows {
		if p, made := of(r.Predicted, name); made {
			sizes = append(sizes, math.Abs(p.Error))
			e.Mean += math.Abs(p.Error)
			e.Signed += p.Error
		}
	}
	if e.Rows = len(sizes); e.Rows > 0 {
		slices.Sort(sizes)
		e.Ninety = fit.Quantile(sizes, 0.9)
		e.Mean, e.Signed = e.Mean/float64(e.Rows), e.Signed/float64(e.Rows)
	}
	return e
}
