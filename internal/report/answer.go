package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Reach is how much of a plan was measured.
type Reach struct {
	Cells             int
	Missing           error  // which cells lack an interval; nil: none
	Rest, More, Again string // advice in sentences: the missing cells, a noisy machine, another session ("" for none)
}

// Starved is the share of the requested CPU time below which a measurement has too few samples for lack of it.
const Starved = 0.5

// Crowded says of a plan with missing cells how little CPU time the measurement got, if that is little.
func (r *Reach) Crowded(share float64, known bool) {
	if known && share < Starved && r.Missing != nil {
		r.Missing = fmt.Errorf("%w; measuring got %.2g %% of the CPU time that it asked for", r.Missing, 100*share)
	}
}

// unfit is the relative half-width at which the bounds of an interval have the ratio mostApart.
const unfit = (mostApart - 1.) / (mostApart + 1)

// fitness says in two lines whether a file is fit for use, and what to do next.
func (r Reach) fitness(f *params.File) string {
	half := fit.Quantile(f.Widths(), 0.5)
	switch {
	case r.Missing != nil:
		use := "Not fit for use"
		if known := lists.Filter(f.Cells, func(c params.Cell) bool { return c.Time.Known() }); half <= unfit && 2*len(known) >= r.Cells {
			use = "Fit for use where it has intervals"
		}
		return fmt.Sprintf("%s: %v; %s.\n%s", use, r.Missing, halfWithin(half), r.Rest)
	case !(half <= unfit):
		return fmt.Sprintf("Not fit for use: %s.\n%s", within(f.Widths()), r.More)
	}
	return strings.TrimSuffix(fmt.Sprintf("Fit for use: all %s measured, %s.\n%s", printable.Count(r.Cells, "cell"), within(f.Widths()), r.Again), "\n")
}

// Unfit says why a file is not fit for use; "" if it is, or if it is a published table.
func Unfit(f *params.File) string {
	half := fit.Quantile(f.Widths(), 0.5)
	return printable.Either(len(f.Launches) == 0 || half <= unfit, "", halfWithin(half))
}

func halfWithin(half float64) string {
	return printable.Either(!(half <= math.MaxFloat64),
		"samples are too few for intervals of half of the measured cells", "half of the measured cells are within "+view.HalfWidth(half))
}

// sayFirst writes L, y and A of the first setup and placement at the largest τ, in each state of the
// machine. Messages have the size of a segment, in published files the customary one, or else the largest size.
// Without transfers it writes nothing.
func sayFirst(w *document.Document, f *params.File) {
	c, tau := firstCurve(f)
	heads := []view.Column{{Name: fmt.Sprintf("L(%sB,%d)", view.Bytes(c.Bytes), tau), Unit: "ns"}, {Name: fmt.Sprintf("y(%d)", tau), Unit: "ns"}, {Name: fmt.Sprintf("A(%d)", tau)}}
	states := f.States()
	if len(states) == 0 {
		var said []string
		for i, e := range numbersOf(f, c, tau) {
			if !math.IsNaN(e.Center) {
				said = append(said, heads[i].Name+" = "+view.Known(e, strings.TrimRight(" "+heads[i].Unit, " ")))
			}
		}
		w.Lines(strings.Join(said, ", "))
		return
	}
	found := make(map[params.State][]fit.Estimate)
	for _, m := range inEach(f) {
		found[*m.File.State()] = numbersOf(m.File, c, tau)
	}
	var columns []stateColumn
	for i, head := range heads {
		columns = append(columns, stateColumn{head, func(state params.State) string {
			if numbers := found[state]; numbers != nil {
				return view.Few(numbers[i]) + view.Within(numbers[i])
			}
			return ""
		}})
	}
	sayStates(w, 2, states, columns...)
}

// firstCurve is the curve that sayFirst shows, with its largest τ; τ = 0: there are no transfers.
func firstCurve(f *params.File) (first compare.Curve, tau int) {
	curves, _ := compare.Curves("", f) // an error says that there are none
	segment := cmp.Or(f.Plan.SegmentBytes, compare.Customary)
	for _, c := range curves {
		if len(c.Points) == 0 || len(f.Plan.Setups) > 0 && c.Setup != f.Plan.Setups[0] || c.OffCache != curves[0].OffCache || c.Placement != curves[0].Placement {
			continue
		}
		if tau == 0 || c.Bytes == segment || first.Bytes != segment {
			first, tau = c, c.Points[len(c.Points)-1].Tau
		}
	}
	return first, tau
}

// numbersOf are L, y and A in a file for the channel of a curve; Center is NaN where one is unknown.
func numbersOf(f *params.File, like compare.Curve, tau int) []fit.Estimate {
	L, y, A := fit.Median(nil), fit.Median(nil), fit.Median(nil)
	if curves, _ := compare.Curves("", f); tau > 0 {
		if c := lists.Find(curves, func(c compare.Curve) bool { return c.Channel == like.Channel }); c != nil {
			if p, measured := c.At(tau); measured {
				L = p.L
				if tau > 1 {
					A = p.A
				}
			}
		}
	}
	if c := lists.Find(f.Cells, func(c params.Cell) bool {
		return c.Kind == params.NullCell && c.Placement == like.Placement && c.Tau == tau && (c.Setup == like.Setup || tau == 1 && c.Setup == setups.Isolated.Name)
	}); c != nil {
		y = c.Segment()
	}
	return []fit.Estimate{L, y, A}
}

// mostCheapest is the number of ranges of sizes in an answer.
const mostCheapest = 3

// cheapest names the cheapest algorithm of each collective and P with its cost: a line for each range of
// sizes that it wins. Sizes with an unknown cost are left out.
func cheapest(rows []predict.Prediction) (lines []string) {
	for _, calls := range lists.Groups(rows, callOf) {
		var first, last []predict.Prediction // the cheapest rows of the run's first and last size
		compared := slices.ContainsFunc(calls, func(r predict.Prediction) bool { return r.Algorithm != calls[0].Algorithm })
		end := func() {
			if len(last) > 0 {
				lines = append(lines, cheapestOf(first, last, compared))
			}
			first, last = nil, nil
		}
		for _, rows := range lists.Groups(calls, func(r predict.Prediction) int { return r.Bytes }) {
			if slices.ContainsFunc(rows, func(r predict.Prediction) bool { return r.Unknown }) {
				end()
				continue
			}
			if marked := lists.Filter(rows, func(r predict.Prediction) bool { return r.Cheapest }); len(marked) > 0 { // else all are tied
				rows = marked
			}
			stay := lists.Filter(rows, func(r predict.Prediction) bool { return slices.ContainsFunc(last, named(r.Algorithm)) })
			if len(stay) == 0 {
				end()
				first, stay = rows, rows
			}
			last = stay
		}
		end()
	}
	if n := len(lines) - mostCheapest; n > 0 {
		lines = append(lines[:mostCheapest-1], fmt.Sprintf("The tables show the cheapest for %d more ranges of m.", n+1))
	}
	return lines
}

func named(algorithm string) func(predict.Prediction) bool {
	return func(r predict.Prediction) bool { return r.Algorithm == algorithm }
}

// few abridges names to the first two and the number of others.
func few(names []string) []string {
	if n := len(names) - 2; n > 0 {
		return append(names[:2:2], fmt.Sprintf("%d more", n))
	}
	return names
}

// cheapestOf is the line of one range, given the cheapest rows of its first and last size, and whether
// there are other algorithms.
func cheapestOf(first, last []predict.Prediction, compared bool) string {
	names := few(lists.Map(last, func(r predict.Prediction) string { return r.Algorithm }))
	least := func(rows []predict.Prediction) predict.Prediction {
		return slices.MinFunc(rows, func(a, b predict.Prediction) int { return cmp.Compare(a.Microseconds, b.Microseconds) })
	}
	from, to := *lists.Find(first, named(last[0].Algorithm)), last[0]
	who := names[0]
	switch {
	case len(names) > 1:
		who = printable.Either(to.Lo == nil, "within 1 % of each other are ", "no difference is certain between ")
		who += printable.And(names)
		tied := lists.Filter(first, func(r predict.Prediction) bool { return slices.ContainsFunc(last, named(r.Algorithm)) })
		from, to = least(tied), least(last)
	case compared:
		who += " is the cheapest, alone or tied"
	}
	cost := func(r predict.Prediction) string {
		return fmt.Sprintf("%s µs%s at m = %s", costText(&r), intervalText(&r), view.Bytes(r.Bytes))
	}
	return fmt.Sprintf("%s, P = %d: %s: %s", to.Collective, to.P, who, cost(from)) + printable.If(to.Bytes != from.Bytes, " to "+cost(to))
}
