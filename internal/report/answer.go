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

// A Reach is how far a measurement came.
type Reach struct {
	Cells             int
	Missing           error  // which of them lack an interval; nil: none
	Rest, More, Again string // sentences: how to measure the rest, more of a noisy machine, another session or nothing
}

// unfit is the half-width from which on an interval's bounds are mostApart.
const unfit = (mostApart - 1.) / (mostApart + 1)

// fitness says whether a file is fit for use, and what to do about it, in two lines.
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

// Unfit says why a file is not fit for use, "" of one that is, or was published.
func Unfit(f *params.File) string {
	half := fit.Quantile(f.Widths(), 0.5)
	if len(f.Launches) == 0 || half <= unfit {
		return ""
	}
	return halfWithin(half)
}

func halfWithin(half float64) string {
	if !(half <= math.MaxFloat64) {
		return "samples are too few for intervals of half of those measured"
	}
	return "half of those measured are within " + view.HalfWidth(half)
}

// sayFirst writes L, y and A of the first setup and placement at the largest τ, of the segment or else of
// the largest message measured, in each state of the machine; nothing without transfers.
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
		if len(said) > 0 {
			fmt.Fprintln(w, strings.Join(said, ", "))
		}
		return
	}
	found := make(map[params.State][]fit.Estimate)
	for _, m := range inEach(f) {
		found[*m.File.State()] = numbersOf(m.File, c, tau)
	}
	var columns []stateColumn
	for i, head := range heads {
		text := func(state params.State) string {
			if of := found[state]; of != nil {
				return view.Within(of[i])
			}
			return ""
		}
		if slices.ContainsFunc(states, func(s params.State) bool { return text(s) != "" }) {
			columns = append(columns, stateColumn{head, text})
		}
	}
	sayStates(w, 2, states, columns...)
}

// firstCurve is where the first numbers are of, with τ; τ = 0: there are no transfers.
func firstCurve(f *params.File) (c compare.Curve, tau int) {
	curves, _ := compare.Curves("", f) // an error says that there are none
	for _, of := range curves {
		if len(of.Points) == 0 || len(f.Plan.Setups) > 0 && of.Setup != f.Plan.Setups[0] || of.OffCache != curves[0].OffCache || of.Placement != curves[0].Placement {
			continue
		}
		if tau == 0 || of.Segment || !c.Segment {
			c, tau = of, of.Points[len(of.Points)-1].Tau
		}
	}
	return c, tau
}

// numbersOf are L, y and A of a curve as a file has them, NaN where it does not.
func numbersOf(f *params.File, like compare.Curve, tau int) []fit.Estimate {
	L, y, A := fit.Median(nil), fit.Median(nil), fit.Median(nil)
	if curves, _ := compare.Curves("", f); tau > 0 {
		if i := slices.IndexFunc(curves, func(c compare.Curve) bool { return c.Channel == like.Channel }); i >= 0 {
			if p, measured := curves[i].At(tau); measured {
				L = p.L
				if tau > 1 {
					A = p.A
				}
			}
		}
	}
	for _, c := range f.Cells {
		if c.Kind == params.NullCell && c.Placement == like.Placement && c.Tau == tau && (c.Setup == like.Setup || tau == 1 && c.Setup == setups.Isolated.Name) {
			y = c.Segment()
			break
		}
	}
	return []fit.Estimate{L, y, A}
}

// mostCheapest is of how many runs of sizes the answer of a prediction speaks.
const mostCheapest = 3

// cheapest says for each collective and P which algorithm is the cheapest and what it costs, in a
// line for each run of sizes in which one stays so; nothing of sizes whose costs are not all known.
func (p *predictions) cheapest() (lines []string) {
	for _, of := range view.Grouped(p.Rows, func(r predict.Prediction) call { return call{r.Collective, r.P} }) {
		var first, last []predict.Prediction // the cheapest rows of the run's first and last size
		end := func() {
			if len(last) > 0 {
				lines = append(lines, cheapestOf(first, last))
			}
			first, last = nil, nil
		}
		for _, rows := range view.Grouped(of, func(r predict.Prediction) int { return r.Bytes }) {
			if slices.ContainsFunc(rows, func(r predict.Prediction) bool { return r.Unknown }) {
				end()
				continue
			}
			if marked := lists.Filter(rows, func(r predict.Prediction) bool { return r.Cheapest }); len(marked) > 0 { // else they are alike
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
		lines = append(lines[:mostCheapest-1], fmt.Sprintf("The tables have %d more such runs of sizes.", n+1))
	}
	return lines
}

func named(algorithm string) func(predict.Prediction) bool {
	return func(r predict.Prediction) bool { return r.Algorithm == algorithm }
}

// few are the first two names, and how many more there are.
func few(names []string) []string {
	if n := len(names) - 2; n > 0 {
		return append(names[:2:2], fmt.Sprintf("%d more", n))
	}
	return names
}

// cheapestOf says it of one run of sizes.
func cheapestOf(first, last []predict.Prediction) string {
	names := few(lists.Map(last, func(r predict.Prediction) string { return r.Algorithm }))
	least := func(rows []predict.Prediction) predict.Prediction {
		return slices.MinFunc(rows, func(a, b predict.Prediction) int { return cmp.Compare(a.Microseconds, b.Microseconds) })
	}
	from, to := first[slices.IndexFunc(first, named(last[0].Algorithm))], last[0]
	who := names[0]
	switch n := len(names) - 1; {
	case n > 0:
		who = "no difference is certain between " + strings.Join(names[:n], ", ") + " and " + names[n]
		from, to = least(first), least(last)
	case to.Cheapest:
		who += " is the cheapest, alone or tied"
	}
	cost := func(r predict.Prediction) string {
		return fmt.Sprintf("%s µs%s at m = %s", costText(&r), intervalText(&r), view.Bytes(r.Bytes))
	}
	text := fmt.Sprintf("%s, P = %d: %s: %s", to.Collective, to.P, who, cost(from))
	if to.Bytes != from.Bytes {
		text += " to " + cost(to)
	}
	return text
}
