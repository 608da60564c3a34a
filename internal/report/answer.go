package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Reach is how far a sweep came: the cells of its plan, and those that lack an interval, of which
// some were visited.
type Reach struct {
	Cells, Lacking, Visited int
	Rest, More, Again       string // sentences: how to measure the rest, more of a noisy machine, another session
}

// Swept is Sweep with an answer of three lines before it: L, y and A of the first placement, whether
// the file is fit for use, and what to do.
func Swept(f *params.File, r Reach) *document.Document {
	return document.New("", f, f, func(w *document.Document) {
		if line := firstNumbers(f); line != "" {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintf(w, "%s\n\n", r.fitness(f))
		saySweep(w, f)
	})
}

// unfit is the half-width from which on an interval's bounds are mostApart.
const unfit = (mostApart - 1.) / (mostApart + 1)

// fitness says whether a file is fit for use, and what to do about it, in two lines.
func (r Reach) fitness(f *params.File) string {
	half := fit.Quantile(f.Widths(), 0.5)
	switch {
	case r.Lacking > 0:
		var parts []string
		if n := r.Lacking - r.Visited; n > 0 {
			parts = append(parts, fmt.Sprintf("%d are missing", n))
		}
		if r.Visited > 0 {
			parts = append(parts, fmt.Sprintf("%d have too few launches for an interval", r.Visited))
		}
		use := "Not fit for use"
		if half <= unfit {
			use = "Fit for use where it has intervals"
		}
		return fmt.Sprintf("%s: of %s %s; %s.\n%s", use, printable.Count(r.Cells, "cell"), strings.Join(parts, ", "), halfWithin(half), r.Rest)
	case !(half <= unfit):
		return fmt.Sprintf("Not fit for use: %s.\n%s", within(f.Widths()), r.More)
	}
	return fmt.Sprintf("Fit for use: all %s measured, %s.\n%s", printable.Count(r.Cells, "cell"), within(f.Widths()), r.Again)
}

func halfWithin(half float64) string {
	if !(half <= math.MaxFloat64) {
		return "samples are too few for intervals of half of those measured"
	}
	return "half of those measured are within " + view.HalfWidth(half)
}

// firstNumbers are L, y and A of the first setup and placement at the largest τ, of the segment or
// else of the largest message measured, in each state of the machine; "" without transfers.
func firstNumbers(f *params.File) string {
	in := inEach(f)
	if len(in) == 0 {
		return numbersOf(f)
	}
	return strings.Join(lists.Map(in, func(m compare.Machine) string {
		return fmt.Sprintf("%s (%s of the time)", numbersOf(m.File), compare.InWords(*m.File.State()))
	}), "; ")
}

func numbersOf(f *params.File) (numbers string) {
	curves, err := compare.Curves("", f)
	if err != nil {
		return ""
	}
	first := -1
	for i, c := range curves {
		if len(c.Points) == 0 || len(f.Plan.Setups) > 0 && c.Setup != f.Plan.Setups[0] || c.OffCache != curves[0].OffCache || c.Placement != curves[0].Placement {
			continue
		}
		if first < 0 || c.Segment || !curves[first].Segment {
			first = i
		}
	}
	if first < 0 {
		return ""
	}
	c := curves[first]
	p := c.Points[len(c.Points)-1]
	known := func(e fit.Estimate, unit string) string { return view.Center(e) + unit + " " + view.Interval(e) }
	numbers = fmt.Sprintf("L(%sB,%d) = %s", view.Bytes(c.Bytes), p.Tau, known(p.L, " ns"))
	y := slices.IndexFunc(f.Cells, func(y params.Cell) bool {
		return y.Kind == params.NullCell && y.Placement == c.Placement && y.Tau == p.Tau && (y.Setup == c.Setup || p.Tau == 1 && y.Setup == setups.Isolated.Name)
	})
	if y >= 0 {
		numbers += fmt.Sprintf(", y(%d) = %s", p.Tau, known(f.Cells[y].Segment(), " ns"))
	}
	if p.Tau > 1 && !math.IsNaN(p.A.Center) {
		numbers += fmt.Sprintf(", A(%d) = %s", p.Tau, known(p.A, ""))
	}
	return numbers
}
