package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Predictions is measured and predicted times of one algorithm over m, and below them the relative
// errors: Figs. 7 and 9 of taulop-2015. By default it takes the first collective with two sizes.
func Predictions(v *verify.Result, ch Choice) (*Chart, error) {
	rows, caption, err := ch.verified(v)
	if err != nil {
		return nil, err
	}
	if len(ch.Algorithms) > 1 {
		return nil, fmt.Errorf("this chart shows one algorithm, %d are named: name one, or take the chart accuracy", len(ch.Algorithms))
	}
	names := collectives(namesOf(rows))
	measured := Series{Name: "measured", Colour: black, Style: ring, Loose: true}
	measured.Points = lists.Map(lists.Filter(rows, func(r verify.Row) bool { return r.Name == names[0] }),
		func(r verify.Row) Point { return Point{float64(r.Bytes), r.Measured} })
	times := models(rows, names[0], func(r verify.Row, ns float64) fit.Estimate { return exactly(ns) })
	errors := models(rows, names[0], func(r verify.Row, ns float64) fit.Estimate {
		return exactly((ns - r.Measured.Center) / r.Measured.Center)
	})
	x := Axis{"m, bytes", Sizes}
	return &Chart{
		Title:   "Predicted and measured: " + names[0],
		Caption: append(caption, certainty([]Series{measured})),
		Panels: []Panel{
			{X: x, Y: Axis{"time", Times}, Series: append([]Series{measured}, times...)},
			{X: x, Y: Axis{"relative error", Fractions}, Height: 0.7, Levels: []float64{0}, Series: errors},
		},
	}, nil
}

// Accuracy is predicted over measured time of each model over m: the median over the algorithms, and
// each of them as a thin line. By default it takes all collectives.
func Accuracy(v *verify.Result, ch Choice) (*Chart, error) {
	rows, caption, err := ch.verified(v)
	if err != nil {
		return nil, err
	}
	names := namesOf(rows)
	if len(ch.Algorithms) == 0 {
		names = collectives(names)
	}
	title, medians := "Predicted over measured time", models(rows, "", nil)
	each := make([][]Series, len(medians)) // of a model, by algorithm
	for _, name := range names {
		ratio := func(r verify.Row, ns float64) fit.Estimate { return exactly(ns).Div(r.Measured) }
		for i, line := range models(rows, name, ratio) {
			each[i] = append(each[i], line)
		}
	}
	series := slices.Concat(each...)
	if len(names) == 1 {
		title += ": " + names[0]
		caption = append(caption, certainty(series))
	} else {
		caption = append(caption, fmt.Sprintf("bold: the median of %d algorithms, thin: each", len(names)), strings.Join(names, ", "))
		for i := range each {
			each[i], _ = crowd(medians[i], each[i], 1, nil)
		}
		series = slices.Concat(each...)
	}
	return &Chart{
		Title: title, Caption: caption,
		Panels: []Panel{{
			X: Axis{"m, bytes", Sizes}, Y: Axis{"predicted / measured", Proportions},
			Levels: []float64{1}, Series: series,
		}},
	}, nil
}

// models are series of y over m, one for each model that predicts any row, with the predictions for one
// algorithm.
func models(rows []verify.Row, algorithm string, y func(r verify.Row, ns float64) fit.Estimate) (series []Series) {
	for _, name := range slices.Concat(verify.Models, verify.PatternModels[1:]) {
		s, predicts := Series{Name: name, Colour: len(series), Style: len(series)}, false
		for _, r := range rows {
			for _, p := range r.Predicted {
				if predicts = predicts || p.Model == name; p.Model == name && r.Name == algorithm {
					s.Points = append(s.Points, Point{float64(r.Bytes), y(r, p.Ns)})
				}
			}
		}
		if predicts {
			series = append(series, s)
		}
	}
	return series
}

// exactly is a value without an interval.
func exactly(v float64) fit.Estimate { return fit.Estimate{Center: v, Lo: v, Hi: v, N: math.MaxInt} }

// verified are the chosen rows with a message: by default of the largest P and in cache, and of the most
// frequent state of the machine.
func (ch Choice) verified(v *verify.Result) (taken []verify.Row, caption []string, err error) {
	all := lists.Filter(v.Rows, func(r verify.Row) bool { return r.Bytes >= 1 && r.Measured.Center > 0 })
	of := rows[verify.Row]{all, "verified", func(r verify.Row) string { return r.Name },
		func(r verify.Row, algorithm string) bool {
			return r.Name == algorithm || strings.HasPrefix(r.Name, algorithm+":")
		},
		func(r verify.Row) int { return r.P }, func(r verify.Row) int { return r.Bytes }}
	if len(of.all) == 0 {
		return nil, nil, fmt.Errorf("there is no collective with a message in it: verify some with taulop verify")
	}
	if taken, err = of.named(ch); err != nil {
		return nil, nil, err
	}
	taken, p, err := of.ofRanks(ch, taken)
	if err != nil {
		return nil, nil, err
	}
	off := !slices.ContainsFunc(taken, func(r verify.Row) bool { return !r.OffCache })
	switch {
	case len(ch.Caches) > 1:
		return nil, nil, fmt.Errorf("this chart shows one state of the cache: name in or off")
	case len(ch.Caches) == 1:
		off = ch.Caches[0]
	}
	if taken = lists.Filter(taken, func(r verify.Row) bool { return r.OffCache == off }); len(taken) == 0 {
		return nil, nil, fmt.Errorf("nothing was verified %s: %w", view.Cache(off), ErrOthers)
	}
	state := slices.MaxFunc(taken, func(a, b verify.Row) int { return cmp.Compare(a.State.Share, b.State.Share) }).State
	taken = lists.Filter(taken, func(r verify.Row) bool { return r.State == state })
	if taken, err = of.ofSizes(ch, taken); err != nil {
		return nil, nil, err
	}
	forced := slices.ContainsFunc(taken, func(r verify.Row) bool { return r.Forced })
	return taken, stated(v.Provenance.Hostname, fmt.Sprintf("P = %d", p), view.Cache(off), "segments of "+view.Bytes(v.SegmentBytes),
		printable.If(state.NS > 0, fmt.Sprintf("while a flag took %s, %.0f %% of the time", state.Name(), state.Percent())),
		printable.If(forced, "FORCED: ranks took turns on fewer CPUs")), nil
}

func namesOf(rows []verify.Row) []string {
	return lists.Unique(lists.Map(rows, func(r verify.Row) string { return r.Name }))
}

// collectives are the names without one-way messages, unless these are the only ones.
func collectives(names []string) []string {
	if others := lists.Filter(names, func(n string) bool { return n != verify.Message }); len(others) > 0 {
		return others
	}
	return names
}
