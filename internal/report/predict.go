package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Predictions are costs on one machine.
func Predictions(p *predict.Predictions) *document.Document {
	return made("taulop predict", p, predictionValues, sayPredictions)
}

// A call identifies a table of predictions.
type call struct {
	collective string
	p          int
}

func callOf(r predict.Prediction) call { return call{r.Collective, r.P} }

func sayPredictions(p *predict.Predictions, w *document.Document) {
	w.Lines(cheapest(p.Rows)...)
	if w.Empty() {
		fmt.Fprintln(w, "No cheapest algorithm is known: each row has an unknown cost.")
	}
	for _, rows := range lists.Groups(p.Rows, callOf) {
		w.Tables(predictionTable(rows))
	}
	has := func(mark func(r predict.Prediction) bool) bool { return slices.ContainsFunc(p.Rows, mark) }
	unranked := has(func(r predict.Prediction) bool { return r.Unknown })
	var n notes
	n.add(has(func(r predict.Prediction) bool { return r.Cheapest }), "* the cheapest of its row, or not to be told from it: within %.0f %%, or within the interval", 100*p.Least())
	n.add(p.SomeAlike(), "No * in a row: none of its algorithms can be told from the cheapest, in the same way")
	n.add(has(func(r predict.Prediction) bool { return r.Lo != nil }), "± %s", p.Uncertainty)
	n.errors(p.Source, p.Rows)
	n.add(unranked, "%s, and its row is not ranked", unknown)
	n.add(!unranked && has(func(r predict.Prediction) bool { return r.Beside && r.TauLop == nil }), unknown)
	n.beyond(p.Source, has(func(r predict.Prediction) bool { return r.Extrapolated }))
	n.leftOut(p.LeftOut)
	n.say(w)
	fmt.Fprintln(w)
	saySource(w, p.Source)
}

// unknown explains the mark of unknown costs.
const unknown = "? unknown: the parameters have a time of 0 for it, or less"

// Notes are sentences below tables, on marks and omissions.
type notes []string

// add adds a sentence if it applies.
func (n *notes) add(applies bool, format string, args ...any) {
	if applies {
		*n = append(*n, fmt.Sprintf(format, args...))
	}
}

// say writes the notes after an empty line.
func (n notes) say(w *document.Document) {
	if len(n) > 0 {
		fmt.Fprintln(w)
		w.Lines(n...)
	}
}

// errors states the mean error of predictions without an interval, if there are any.
func (n *notes) errors(s predict.Source, rows []predict.Prediction) {
	n.add(s.Errors != "" && slices.ContainsFunc(rows, func(r predict.Prediction) bool { return r.Lo == nil && !r.Unknown && r.Microseconds > 0 }),
		"No interval is known: such predictions were off by %s on average.", s.Errors)
}

// beyond explains the mark of extrapolated values.
func (n *notes) beyond(s predict.Source, extrapolated bool) {
	if extrapolated { // else there may be no rule
		n.add(true, "~ extrapolated: measured are %s.\n  %s.", s.Measured, view.Capital(s.Rule))
	}
}

func (n *notes) leftOut(all []predict.Omission) {
	for _, alike := range lists.Groups(all, predict.Omission.Reason) {
		names := lists.Map(alike, func(o predict.Omission) string { return o.Algorithm })
		n.add(true, "Left out: %s %s.", strings.Join(names, ", "), alike[0].Reason())
	}
}

// saySource names machine, file and model of predictions.
func saySource(w *document.Document, s predict.Source) {
	known := func(format, text string) string { return printable.If(text != "", fmt.Sprintf(format, text)) }
	fmt.Fprint(w, s.Machine, ", from ", s.File, known(" (%s)", s.Channel), known("; %s", s.Cluster), "; ", s.Model,
		printable.If(s.Transport != "" || s.Segment > 0, ", "+s.Transport+" messages"), known("; messages of %s", s.Library),
		printable.If(s.Segment > 0, ", segments of "+view.Bytes(s.Segment)), layout(s.Chunk, s.Degree), known("; %s", s.Schedules), "\n")
	w.Lines(s.Nodes)
	if s.States != "" {
		fmt.Fprintf(w, "%s.\n", view.Capital(s.States))
	}
}

// layout states chunks and degree of algorithms, if they were chosen.
func layout(chunk, degree int) string {
	return printable.If(chunk > 0, ", chunks of "+view.Bytes(chunk)) + printable.If(degree > 0, fmt.Sprintf(", degree %d", degree))
}

// predictionTable is one collective: sizes down, algorithms across.
func predictionTable(rows []predict.Prediction) view.Table {
	t := view.Table{Title: fmt.Sprintf("%s, P = %d; times in µs", rows[0].Collective, rows[0].P), Columns: view.Numbers("m")}
	algorithms := lists.Groups(rows, func(r predict.Prediction) string { return r.Algorithm })
	for _, a := range algorithms {
		heads := []string{a[0].Algorithm + " ", "τ-Lop "}
		t.Columns = append(t.Columns, view.Numbers(heads[:len(costCells(&a[0]))]...)...)
		t.Columns[len(t.Columns)-1].Beside = len(costCells(&a[0])) > 1
		if a[0].Own {
			t.Columns = append(t.Columns, view.Words("choice")...)
		}
	}
	for _, sized := range lists.Groups(rows, func(r predict.Prediction) int { return r.Bytes }) {
		var costs []string
		for _, a := range algorithms {
			cells, choice := make([]string, len(costCells(&a[0]))), ""
			if r := lists.Find(sized, named(a[0].Algorithm)); r != nil {
				cells, choice = costCells(r), r.Chosen
			}
			if costs = append(costs, cells...); a[0].Own {
				costs = append(costs, choice)
			}
		}
		t.Add(view.Bytes(sized[0].Bytes), costs)
	}
	return t
}

// costCells are the cost with its mark or a space, and beside the costs of another model the cost by τ-Lop.
func costCells(r *predict.Prediction) []string {
	mark := printable.Either(r.Cheapest, "*", " ")
	if r.Lo != nil && !r.Unknown {
		mark = fmt.Sprintf(" %6s", view.HalfWidth((*r.Hi-*r.Lo)/2/r.Microseconds)) + mark
	}
	cells := []string{costText(r) + mark}
	switch {
	case r.Beside && r.TauLop == nil:
		cells = append(cells, "? ")
	case r.Beside:
		cells = append(cells, microseconds(*r.TauLop, false)+" ")
	}
	return cells
}

// intervalText is the interval after a space, "" if it is unknown.
func intervalText(r *predict.Prediction) string {
	if r.Lo == nil {
		return ""
	}
	return " " + view.Interval(fit.Estimate{Center: r.Microseconds, Lo: *r.Lo, Hi: *r.Hi})
}

// costText is a cost, "?" if it is unknown.
func costText(r *predict.Prediction) string {
	if r.Unknown {
		return "?"
	}
	text := microseconds(r.Microseconds, false)
	switch {
	case r.Lo != nil:
		text = view.Rough(fit.Estimate{Center: r.Microseconds, Lo: *r.Lo, Hi: *r.Hi})
	case r.Rough:
		text = rough(r.Microseconds)
	}
	return marked(text, r.Extrapolated)
}

// predictionValues have a row for each prediction. The first columns equal the tables that the authors' library
// is tested with.
func predictionValues(p *predict.Predictions) view.Table {
	t := view.Table{Columns: view.Words("machine", "collective", "algorithm", "P", "m_bytes", "cost_us")}
	beside := len(p.Rows) > 0 && p.Rows[0].Beside
	if beside {
		t.Columns = append(t.Columns, view.Words("taulop_us")...)
	}
	t.Columns = append(t.Columns, view.Words("lo_us", "hi_us", "extrapolated", "cheapest")...)
	for _, r := range p.Rows {
		cells := []string{costValue(r)}
		if beside {
			cells = append(cells, value(r.TauLop))
		}
		t.Add(p.Machine, r.Collective, r.Algorithm, r.P, r.Bytes, cells, value(r.Lo), value(r.Hi), r.Extrapolated, r.Cheapest)
	}
	return t
}

// costValue is a cost in µs for programs, "" if it is unknown.
func costValue(r predict.Prediction) string {
	return printable.If(!r.Unknown, value(&r.Microseconds))
}

// value is a time in µs for programs, "" if it is unknown.
func value(us *float64) string {
	if us == nil {
		return ""
	}
	return fmt.Sprintf("%.6f", *us)
}

// Uncertainty says which sources of error the intervals of predictions contain, and which not.
func Uncertainty(f *params.File, on *model.Cluster) string {
	from, beyond := launches(f), printable.Either(f.Drawn() > f.Sessions(),
		"what another hour changes and what the model neglects come", "what the model neglects comes")
	if on != nil && on.Nodes > 1 && on.Network != nil {
		if net := on.Network.File; net != nil && len(net.Launches) > 0 {
			from += ", and of the network " + launches(net) + ","
		} else {
			beyond = "the network's own, " + beyond
		}
	}
	return fmt.Sprintf("the 95 %% interval that %s leave; %s on top", from, beyond)
}
