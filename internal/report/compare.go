package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// SideBySide is a few machines, each in full.
func SideBySide(r *compare.Comparison) *document.Document {
	return document.New("taulop compare", r, document.Rows((*sideBySide)(r).values), (*sideBySide)(r).say)
}

type sideBySide compare.Comparison

// say writes the answer, then the tables, and last what else the reader must know.
func (c *sideBySide) say(w *document.Document) {
	if c.Verdict.Headline != "" {
		fmt.Fprintln(w, c.Verdict.Headline)
	}
	fmt.Fprintf(w, "%s\n", c.Verdict.Text)
	if states := (*compare.Comparison)(c).Compared(); states != "" {
		fmt.Fprintln(w, states)
	}
	for _, m := range c.Machines {
		if m.Memory != nil {
			fmt.Fprintf(w, "Memory of %s carried %v.\n", m.Name, m.Memory)
		}
	}
	fmt.Fprintln(w)
	c.sayTables(w)
	for _, note := range c.Verdict.Notes {
		fmt.Fprintln(w, note)
	}
}

// Below is what the answer rests on: the tables, and who is ahead in each.
func Below(c *compare.Comparison) *document.Document {
	return document.New("", nil, nil, (*sideBySide)(c).sayTables)
}

// sayTables writes for each table L(m,τ), bandwidth and A(τ) with τ down and machines across and
// what sums up each machine; in the end a conclusion.
func (c *sideBySide) sayTables(w *document.Document) {
	var noise, untested bool
	for i := range c.Tables {
		t := &c.Tables[i]
		fmt.Fprintf(w, "%s\n\n", tableTitle(t))
		w.TablesAbove(quantities(t)...)
		w.TablesAbove(sums(t))
		for _, r := range t.Ratios() {
			if r != nil {
				noise, untested = noise || r.Tested && !r.Differs, untested || !r.Tested
			}
		}
	}
	w.TablesAbove(c.surveys()...)
	if noise {
		fmt.Fprintln(w, "~ no difference found: within the least effect, or not told from what launches and sessions differ by")
	}
	if untested {
		fmt.Fprintln(w, "? not tested: one of the two has fewer than six launches, or no samples")
	}
	if noise || untested {
		fmt.Fprintln(w)
	}
	for _, t := range c.Tables {
		if len(c.Tables) > 1 {
			fmt.Fprintf(w, "%s: ", tableTitle(&t))
		}
		fmt.Fprintln(w, t.Conclusion)
	}
}

// tableTitle is the channel's title, with the state.
func tableTitle(t *compare.Table) string {
	return channelTitle(t.Channel, t.Segment) + t.State.Title()
}

func channelTitle(c compare.Channel, segment bool) string {
	letter := "m"
	if segment {
		letter = "S"
	}
	return fmt.Sprintf("%s, %s = %s", c, letter, view.Bytes(c.Bytes))
}

// quantities are tables with τ down and machines across, each with its ratios to the first.
func quantities(t *compare.Table) (tables []view.Table) {
	m := view.Bytes(t.Bytes)
	for _, q := range []struct {
		title  string
		ratios bool
		cell   func(compare.Point) string
	}{
		{fmt.Sprintf("L(%s,τ) in ns, × that of %s", m, t.Rows[0].Machine), true, timeCell},
		{"bandwidth of all τ together in GB/s", false, func(b compare.Point) string { return significant(b.Bandwidth.Center) }},
		{fmt.Sprintf("memory concurrency A(τ) = τ·L(%s,1)/L(%[1]s,τ)", m), false, concurrencyCell},
	} {
		table := view.Table{Title: "  " + q.title, Columns: view.Numbers("τ")}
		for i, r := range t.Rows {
			if table.Columns = append(table.Columns, view.Numbers(r.Machine)...); q.ratios && i > 0 {
				table.Columns = append(table.Columns, view.Column{Name: "×  ", Beside: true})
			}
		}
		for _, tau := range t.Taus {
			var cells []string
			for i, r := range t.Rows {
				cell := ""
				b, measured := r.At(tau)
				if measured {
					cell = q.cell(b)
				}
				if cells = append(cells, cell); q.ratios && i > 0 {
					cells = append(cells, ratioCell(b.Ratio))
				}
			}
			table.Add(tau, cells)
		}
		tables = append(tables, table)
	}
	return tables
}

func timeCell(b compare.Point) string {
	text := view.Center(b.L)
	if b.L.Known() {
		text += fmt.Sprintf(" %6s", view.HalfWidth(b.L.Width()))
	}
	return text
}

func concurrencyCell(b compare.Point) string {
	switch {
	case math.IsNaN(b.A.Center):
		return "?"
	case !b.A.Known() || b.A.Lo == b.A.Hi:
		return fmt.Sprintf("%.2f", b.A.Center)
	}
	half := (b.A.Hi - b.A.Lo) / 2
	if half >= b.A.Center {
		return view.Digits(b.A.Center, half) + " " + view.HalfWidth(half/b.A.Center)
	}
	return fmt.Sprintf("%.2f ±%.2f", b.A.Center, half)
}

// ratioCell leaves room for the mark, so that digits stand below each other.
func ratioCell(r *compare.Ratio) string {
	switch {
	case r == nil:
		return ""
	case !r.Tested:
		return significant(r.Value) + " ?"
	case !r.Differs:
		return "~  "
	}
	return significant(r.Value) + "  "
}

// sums is what sums up each machine's curve.
func sums(t *compare.Table) view.Table {
	table := view.Table{
		Title:   "  summed up; contention σ and coherence κ of X(τ) = λτ/(1 + σ(τ−1) + κτ(τ−1))",
		Columns: view.Numbers("machine", fmt.Sprintf("L(%s,1)", view.Bytes(t.Bytes)), "A(τ)", "saturates", "σ", "κ", "residual"),
	}
	unfitted := make(map[string][]string) // machines by reason
	for i := range t.Rows {
		r := &t.Rows[i]
		A, saturates := "-", "-"
		if len(r.Points) > 1 {
			end := r.Points[len(r.Points)-1]
			A = fmt.Sprintf("%s of %d", view.Digits(end.A.Center, 0.01), end.Tau)
			switch {
			case r.Saturation.Unknown:
				saturates = "cannot tell"
			case r.Saturation.Reached:
				saturates = fmt.Sprintf("at τ = %d", r.Saturation.Tau)
			default:
				saturates = fmt.Sprintf("not up to τ = %d", end.Tau)
			}
		}
		sigma, kappa, residual := "-", "-", "-"
		if s := r.Scalability; s != nil {
			sigma, kappa, residual = coefficient(s.Sigma), coefficient(s.Kappa), fmt.Sprintf("%.1f %%", 100*s.Residual)
			if r.Poor {
				table.Note("  %s: a poor fit, its times are off by %.0f %%: σ and κ do not describe it", r.Machine, 100*s.Residual)
			}
		} else {
			unfitted[r.Unfitted] = append(unfitted[r.Unfitted], r.Machine)
		}
		table.Add(r.Machine, view.Center(r.Alone())+" ns", A, saturates, sigma, kappa, residual)
	}
	for _, why := range slices.Sorted(maps.Keys(unfitted)) {
		of := ""
		if machines := unfitted[why]; len(machines) < len(t.Rows) {
			of = strings.Join(machines, ", ") + ": "
		}
		table.Note("  %sno σ and κ, %s", of, why)
	}
	return table
}

// surveys has a table for each state, with a line for each kind of survey and machine.
func (c *sideBySide) surveys() (tables []view.Table) {
	var state *compare.InState
	for i, k := range c.Surveys {
		if i == 0 || k.State != state {
			state = k.State
			tables = append(tables, view.Table{
				Title:   fmt.Sprintf("surveys%s, × the times of %s; slower and faster are so many cells of those tested, corrected for their number", state.Title(), (*compare.Comparison)(c).First(state)),
				Columns: append(view.Numbers("kind", "machine", "mean ×", "tested", "slower", "faster"), view.Words("farthest")...),
			})
		}
		for _, r := range k.Rows {
			tables[len(tables)-1].Add(k.Kind, r.Machine, significant(r.Mean), fmt.Sprintf("%d of %d", r.Tested, r.Cells), r.Slower, r.Faster, fmt.Sprintf("%s × for %s", significant(r.Farthest.Ratio), r.Farthest.Key))
		}
	}
	return tables
}

// coefficient writes as many digits as the standard error leaves, at most six.
func coefficient(c fit.Coefficient) string {
	if c.Held {
		return "0"
	}
	places := 6
	if c.Error > 0 {
		places = min(max(int(math.Ceil(-math.Log10(c.Error))), 0), 6)
	}
	return fmt.Sprintf("%.*f ±%.*f", places, c.Value, places, c.Error)
}

// values have a row for each machine and τ, with what sums up the machine's
// curve repeated in each, then one for each machine and cell of what was measured
// by surveys: all in one table, which kind and variant tell apart. Fields
// without a value are empty.
func (c *sideBySide) values() view.Table {
	out := view.Table{Columns: view.Words(append(slices.Clone(keyColumns), "samples", "L_ns", "L_lo_ns", "L_hi_ns",
		"bandwidth_GBs", "bandwidth_lo_GBs", "bandwidth_hi_GBs", "A", "A_lo", "A_hi", "ratio", "p", "differs",
		"saturation_tau", "saturated", "sigma", "sigma_error", "kappa", "kappa_error", "residual", "poor_fit", "state_ns", "state_share", "state_slowed")...)}
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			saturation := []any{nil, nil}
			if len(r.Points) > 1 && !r.Saturation.Unknown { // as text has it
				saturation = []any{r.Saturation.Tau, r.Saturation.Reached}
			}
			law := make([]any, 6)
			if s := r.Scalability; s != nil {
				law = []any{s.Sigma.Value, s.Sigma.Error, s.Kappa.Value, s.Kappa.Error, s.Residual, r.Poor}
			}
			for _, b := range r.Points {
				out.Add(keyCells(t.Channel.Key(b.Tau), r.Machine), b.Replicates.Launches(),
					bounds(b.L), bounds(b.Bandwidth), bounds(b.A), ratioCells(b.Ratio), saturation, law, stateCells(t.State, r.Machine))
			}
		}
	}
	for _, k := range c.Surveys {
		for _, r := range append([]compare.SurveyRow{{Machine: (*compare.Comparison)(c).First(k.State), Compared: k.First}}, k.Rows...) {
			for _, cell := range r.Compared {
				out.Add(keyCells(cell.Key, r.Machine), cell.Samples, bounds(cell.Time), make([]any, 6), ratioCells(cell.Ratio), make([]any, 8), stateCells(k.State, r.Machine))
			}
		}
	}
	return out
}

// keyColumns are the heads of keyCells: what was measured, and on which machine.
var keyColumns = []string{"kind", "variant", "setup", "placement", "off_cache", "m_bytes", "machine", "tau"}

func keyCells(k params.Key, machine string) []any {
	return []any{k.Kind, k.VariantName(), k.Setup, k.Placement, k.OffCache, k.Bytes, machine, k.Tau}
}

// stateCells are a machine's flag in a state, the state's share of its time, and whether something
// slows a core in it.
func stateCells(s *compare.InState, machine string) []any {
	if s == nil {
		return []any{nil, nil, nil}
	}
	of, _ := s.Of(machine)
	return []any{of.NS, of.Share, of.Slow > 0}
}

func bounds(e fit.Estimate) []any { return []any{e.Center, e.Lo, e.Hi} }

// ratioCells are a ratio to the first machine, its p, and whether it differs.
func ratioCells(r *compare.Ratio) []any {
	switch {
	case r == nil:
		return []any{nil, nil, nil}
	case !r.Tested:
		return []any{r.Value, nil, nil}
	}
	return []any{r.Value, r.Adjusted, r.Differs}
}
