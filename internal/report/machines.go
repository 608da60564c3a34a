package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/view"
)

// Machines are costs of the same calls on several machines.
func Machines(d *predict.Machines) *document.Document {
	return document.New("taulop predict machines", d, document.Rows((*machines)(d).values), (*machines)(d).say)
}

type machines predict.Machines

// say writes the verdict, then a table for each collective, a column for each machine.
func (d *machines) say(w *document.Document) {
	fmt.Fprintf(w, "%s\n\n", d.Verdict.Text)
	for _, s := range d.Machines {
		saySource(w, s)
	}
	var uncertain, unknown, untested, marked bool
	extrapolated := make(map[string]bool) // machines
	for _, calls := range view.Grouped((*predict.Machines)(d).Calls(), func(costs []*predict.MachineCost) string { return costs[0].Of }) {
		w.Tables(d.table(calls))
	}
	for _, r := range d.Rows {
		uncertain, unknown = uncertain || r.Lo != nil, unknown || r.Unknown
		untested, marked = untested || r.Ratio != nil && !r.Ratio.Tested, marked || r.Cheapest
		if r.Extrapolated {
			extrapolated[r.Machine] = true
		}
	}
	fmt.Fprintln(w)
	if marked {
		fmt.Fprintln(w, "* the cheaper of its row, or not to be told from it; none in a row: a tie")
	}
	fmt.Fprintf(w, "× the cost on %s, with its 95 %% interval", d.Machines[0].Machine)
	if untested {
		fmt.Fprint(w, "; ?: there are no samples for one")
	}
	fmt.Fprintln(w)
	if uncertain {
		fmt.Fprintln(w, "± the 95 % interval of a cost that launches of its parameters leave, without the hour; what the model neglects comes on top")
	}
	if unknown {
		fmt.Fprintln(w, "? unknown: the parameters have a time of 0 for it, or less")
	}
	beyond := lists.Filter(d.Machines, func(s predict.Source) bool { return extrapolated[s.Machine] })
	for _, alike := range view.Grouped(beyond, func(s predict.Source) string { return s.Measured }) {
		fmt.Fprintf(w, "~ extrapolated%s: measured are %s.\n", d.among(" on ", lists.Map(alike, func(s predict.Source) string { return s.Machine })), alike[0].Measured)
	}
	lacking := func(o predict.MachineOmission) string { // the machines that lack it
		alike := lists.Filter(d.LeftOut, func(p predict.MachineOmission) bool { return p.String() == o.String() })
		return d.among(" of ", lists.Map(alike, func(p predict.MachineOmission) string { return p.Machine }))
	}
	for _, alike := range view.Grouped(d.LeftOut, func(o predict.MachineOmission) string { return lacking(o) + o.Reason() }) {
		names := lists.Unique(lists.Map(alike, func(o predict.MachineOmission) string { return o.Algorithm }))
		fmt.Fprintf(w, "Left out%s: %s %s.\n", lacking(alike[0]), strings.Join(names, ", "), alike[0].Reason())
	}
}

// among names machines, "" where they are all.
func (d *machines) among(before string, names []string) string {
	if len(names) == len(d.Machines) {
		return ""
	}
	return before + strings.Join(names, ", ")
}

// table is of one collective or algorithm: P and sizes down, machines across.
func (d *machines) table(calls [][]*predict.MachineCost) view.Table {
	of := calls[0][0].Of
	if chosen := calls[0][0].HowChosen(); chosen != "" {
		of += ", " + chosen
	}
	t := view.Table{Title: of + "; times in µs", Columns: view.Numbers("P", "m"), Keys: 2}
	for i, m := range d.Machines {
		t.Columns = append(t.Columns, view.Numbers(m.Machine+" ")...)
		if i > 0 {
			t.Columns = append(t.Columns, view.Column{Name: "×", Beside: true}, view.Column{Left: true})
		}
	}
	for _, costs := range calls {
		var cells []string
		for i, m := range d.Machines {
			at := slices.IndexFunc(costs, func(r *predict.MachineCost) bool { return r.Machine == m.Machine })
			switch {
			case at < 0 && i == 0:
				cells = append(cells, "")
			case at < 0:
				cells = append(cells, "", "", "")
			case i == 0:
				cells = append(cells, costCells(&costs[at].Prediction)...)
			default:
				cells = append(append(cells, costCells(&costs[at].Prediction)...), ratioWithInterval(costs[at].Ratio)...)
			}
		}
		t.Add(costs[0].P, view.Bytes(costs[0].Bytes), cells)
	}
	return t
}

// ratioWithInterval are both.
func ratioWithInterval(r *predict.MachineRatio) []string {
	switch {
	case r == nil:
		return []string{"", ""}
	case !r.Tested:
		return []string{significant(r.Value), "?"}
	}
	return []string{significant(r.Value), fmt.Sprintf("[%s, %s]", significant(r.Lo), significant(r.Hi))}
}

// values have a row for each call and machine.
func (d *machines) values() view.Table {
	t := view.Table{Columns: view.Words("machine", "collective", "algorithm", "P", "m_bytes", "cost_us", "lo_us", "hi_us", "extrapolated", "cheapest", "of", "ratio", "ratio_lo", "ratio_hi", "p_adjusted", "differs")}
	for _, r := range d.Rows {
		cost := value(&r.Microseconds)
		if r.Unknown {
			cost = ""
		}
		ratio := make([]any, 5)
		if of := r.Ratio; of != nil && of.Tested {
			ratio = []any{of.Value, of.Lo, of.Hi, of.P, of.Differs}
		} else if of != nil {
			ratio[0] = of.Value
		}
		t.Add(r.Machine, r.Collective, r.Algorithm, r.P, r.Bytes, cost, value(r.Lo), value(r.Hi), r.Extrapolated, r.Cheapest, r.Of, ratio)
	}
	return t
}
