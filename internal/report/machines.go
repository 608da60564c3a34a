package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// Machines compares costs of the same calls on several machines.
func Machines(d *predict.Machines) *document.Document {
	return made("taulop predict machines", d, machinesValues, sayMachines)
}

func sayMachines(d *predict.Machines, w *document.Document) {
	fmt.Fprintln(w, d.Verdict.Text)
	for _, calls := range lists.Groups(d.Calls(), func(costs []*predict.MachineCost) string { return costs[0].Of }) {
		w.Tables(machinesTable(d, calls))
	}
	has := func(mark func(r predict.MachineCost) bool) bool { return slices.ContainsFunc(d.Rows, mark) }
	var n notes
	n.add(has(func(r predict.MachineCost) bool { return r.Cheapest }), "* the cheaper of its row, or not to be told from it; none in a row: a tie")
	untested := printable.If(has(func(r predict.MachineCost) bool { return r.Ratio != nil && !r.Ratio.Tested }),
		"; ?: there are no samples for one")
	n.add(has(func(r predict.MachineCost) bool { return r.Ratio != nil }), "× the cost on %s, with its 95 %% interval%s", d.Machines[0].Machine, untested)
	n.add(has(func(r predict.MachineCost) bool { return r.Lo != nil }), "± the 95 %% interval of a cost that launches of its parameters leave, without the hour; what the model neglects comes on top")
	n.add(has(func(r predict.MachineCost) bool { return r.Unknown }), unknown)
	beyond := lists.Filter(d.Machines, func(s predict.Source) bool {
		return has(func(r predict.MachineCost) bool { return r.Machine == s.Machine && r.Extrapolated })
	})
	for _, alike := range lists.Groups(beyond, func(s predict.Source) string { return s.Measured }) {
		n.add(true, "~ extrapolated%s: measured are %s.", among(d, " on ", lists.Map(alike, func(s predict.Source) string { return s.Machine })), alike[0].Measured)
	}
	lacking := func(o predict.MachineOmission) string { // the machines that lack it
		alike := lists.Filter(d.LeftOut, func(p predict.MachineOmission) bool { return p.String() == o.String() })
		return among(d, " of ", lists.Map(alike, func(p predict.MachineOmission) string { return p.Machine }))
	}
	for _, alike := range lists.Groups(d.LeftOut, func(o predict.MachineOmission) string { return lacking(o) + o.Reason() }) {
		names := lists.Unique(lists.Map(alike, func(o predict.MachineOmission) string { return o.Algorithm }))
		n.add(true, "Left out%s: %s %s.", lacking(alike[0]), strings.Join(names, ", "), alike[0].Reason())
	}
	n.say(w)
	fmt.Fprintln(w)
	for _, s := range d.Machines {
		saySource(w, s)
	}
}

// among names machines, "" for all of them.
func among(d *predict.Machines, before string, names []string) string {
	return printable.If(len(names) != len(d.Machines), before+strings.Join(names, ", "))
}

// machinesTable is one collective or algorithm: P and sizes down, machines across.
func machinesTable(d *predict.Machines, calls [][]*predict.MachineCost) view.Table {
	name := calls[0][0].Of
	if chosen := calls[0][0].HowChosen(); chosen != "" {
		name += ", " + chosen
	}
	t := view.Table{Title: name + "; times in µs", Columns: view.Numbers("P", "m"), Keys: 2}
	for i, m := range d.Machines {
		t.Columns = append(t.Columns, view.Numbers(m.Machine+" ")...)
		if i > 0 {
			t.Columns = append(t.Columns, view.Column{Name: "×", Beside: true}, view.Column{Left: true})
		}
	}
	for _, costs := range calls {
		var cells []string
		for i, m := range d.Machines {
			own := []string{"", "", ""}
			if r := lists.Find(costs, func(r *predict.MachineCost) bool { return r.Machine == m.Machine }); r != nil {
				own = append(costCells(&(*r).Prediction), ratioWithInterval((*r).Ratio)...)
			}
			if i == 0 {
				own = own[:1]
			}
			cells = append(cells, own...)
		}
		t.Add(costs[0].P, view.Bytes(costs[0].Bytes), cells)
	}
	return t
}

func ratioWithInterval(r *predict.MachineRatio) []string {
	switch {
	case r == nil:
		return []string{"", ""}
	case !r.Tested:
		return []string{significant(r.Value), "?"}
	}
	return []string{significant(r.Value), fmt.Sprintf("[%s, %s]", significant(r.Lo), significant(r.Hi))}
}

// machinesValues have a row for each call and machine.
func machinesValues(d *predict.Machines) view.Table {
	t := view.Table{Columns: view.Words("machine", "collective", "algorithm", "P", "m_bytes", "cost_us", "lo_us", "hi_us", "extrapolated", "cheapest", "of", "ratio", "ratio_lo", "ratio_hi", "p_adjusted", "differs")}
	for _, r := range d.Rows {
		var ratio []any
		if q := r.Ratio; q != nil && q.Tested {
			ratio = []any{q.Value, q.Lo, q.Hi, q.P, q.Differs}
		} else if q != nil {
			ratio = []any{q.Value}
		}
		t.Add(r.Machine, r.Collective, r.Algorithm, r.P, r.Bytes, costValue(r.Prediction), value(r.Lo), value(r.Hi), r.Extrapolated, r.Cheapest, r.Of, ratio)
	}
	return t
}
