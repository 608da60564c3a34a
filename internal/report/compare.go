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
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// SideBySide is a comparison of a few machines.
func SideBySide(r *compare.Comparison) *document.Document {
	return made("taulop compare", r, comparisonValues, sayComparison)
}

func sayComparison(c *compare.Comparison, w *document.Document) {
	w.Lines(c.Verdict.Headline, c.Verdict.Text, c.Compared())
	for _, m := range c.Machines {
		if m.Memory != nil {
			fmt.Fprintf(w, "Memory of %s carried %v.\n", m.Name, m.Memory)
		}
	}
	fmt.Fprintln(w)
	sayTables(w, c)
	w.Lines(c.Verdict.Notes...)
}

// Below has the tables under the answer, and says which machine is ahead in each.
func Below(c *compare.Comparison) *document.Document {
	return document.New("", nil, nil, func(w *document.Document) { sayTables(w, c) })
}

// sayTables writes L(m,τ), bandwidth, A(τ) and fitted curves for each channel, then the conclusions.
func sayTables(w *document.Document, c *compare.Comparison) {
	for i := range c.Tables {
		t := &c.Tables[i]
		fmt.Fprintf(w, "%s\n\n", tableTitle(t))
		w.TablesAbove(quantities(t)...)
		w.TablesAbove(sums(t))
	}
	w.TablesAbove(surveyRatios(c)...)
	ratios := lists.Filter(lists.Concat(c.Tables, compare.Table.Ratios), func(r *compare.Ratio) bool { return r != nil })
	noise := slices.ContainsFunc(ratios, func(r *compare.Ratio) bool { return r.Tested && !r.Differs })
	untested := slices.ContainsFunc(ratios, func(r *compare.Ratio) bool { return !r.Tested })
	w.Lines(printable.If(noise, "~ no difference found: within the least effect, or not told from what launches and sessions differ by"),
		printable.If(untested, "? not tested: one of the two has fewer than six launches, or no samples"))
	if noise || untested {
		fmt.Fprintln(w)
	}
	sayConclusions(w, c.Tables)
}

// sayConclusions says where a machine is ahead, and of several tables in how many none is.
func sayConclusions(w *document.Document, tables []compare.Table) {
	even, untested := 0, 0
	for _, t := range tables {
		switch {
		case len(tables) == 1:
			fmt.Fprintln(w, t.Conclusion)
		case t.Ahead:
			fmt.Fprintf(w, "%s: %s\n", tableTitle(&t), t.Conclusion)
		case t.Untested:
			untested++
		default:
			even++
		}
	}
	in := func(n int) string {
		return printable.Either(n == len(tables), fmt.Sprintf("all %d tables", n), fmt.Sprintf("%d of %d tables", n, len(tables)))
	}
	const none = " no machine carries more transfers at once or moves more bytes a second, beyond what launches and hours differ by."
	w.Lines(printable.If(even > 0, "In "+in(even)+none),
		printable.If(untested > 0, "In "+in(untested)+" which machine is ahead was not tested: one has fewer than six launches."))
}

func tableTitle(t *compare.Table) string { return channelTitle(t.Channel, t.Segment) + t.State.Title() }

func channelTitle(c compare.Channel, segment bool) string {
	letter := printable.Either(segment, "S", "m")
	return fmt.Sprintf("%s, %s = %s", c, letter, view.Bytes(c.Bytes))
}

// quantities are tables with a row for each τ and a column for each machine. Beside times are their ratios
// to the first machine.
func quantities(t *compare.Table) (tables []view.Table) {
	m := view.Bytes(t.Bytes)
	for _, q := range []struct {
		title  string
		ratios bool
		cell   func(compare.Point) string
	}{
		{fmt.Sprintf("L(%s,τ) in ns, × that of %s", m, t.Rows[0].Machine), true, timeCell},
		{"bandwidth of all τ together in GB/s", false, func(p compare.Point) string { return view.Few(p.Bandwidth) + significant(p.Bandwidth.Center) }},
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
				p, measured := r.At(tau)
				if measured {
					cell = q.cell(p)
				}
				if cells = append(cells, cell); q.ratios && i > 0 {
					cells = append(cells, ratioCell(p.Ratio))
				}
			}
			table.Add(tau, cells)
		}
		tables = append(tables, table)
	}
	return tables
}

func timeCell(p compare.Point) string {
	return view.Few(p.L) + view.Center(p.L) + printable.If(p.L.Known(), fmt.Sprintf(" %6s", view.HalfWidth(p.L.Width())))
}

func concurrencyCell(p compare.Point) string {
	A := p.A
	half := (A.Hi - A.Lo) / 2
	switch {
	case math.IsNaN(A.Center):
		return "?"
	case !A.Known() || A.Lo == A.Hi:
		return view.Few(A) + fmt.Sprintf("%.2f", A.Center)
	case half >= A.Center:
		return view.Digits(A.Center, half) + " " + view.HalfWidth(half/A.Center)
	}
	return fmt.Sprintf("%.2f ±%.2f", A.Center, half)
}

// ratioCell has two columns for the mark, so that digits align.
func ratioCell(r *compare.Ratio) string {
	switch {
	case r == nil:
		return ""
	case !r.Tested:
		return significant(r.Value) + " ?"
	case !r.Differs:
		return significant(r.Value) + " ~"
	}
	return significant(r.Value) + "  "
}

// sums has a row for each machine: L(m,1), A at the largest τ, saturation and the fitted law.
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
			A = fmt.Sprintf("%s%s of %d", view.Few(end.A), view.Digits(end.A.Center, 0.01), end.Tau)
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
			table.NoteIf(r.Poor, "  %s: a poor fit, its times are off by %.0f %%: σ and κ do not describe it", r.Machine, 100*s.Residual)
		} else {
			unfitted[r.Unfitted] = append(unfitted[r.Unfitted], r.Machine)
		}
		table.Add(r.Machine, view.Few(r.Alone())+view.Center(r.Alone())+" ns", A, saturates, sigma, kappa, residual)
	}
	for _, why := range slices.Sorted(maps.Keys(unfitted)) {
		which := ""
		if machines := unfitted[why]; len(machines) < len(t.Rows) {
			which = strings.Join(machines, ", ") + ": "
		}
		table.Note("  %sno σ and κ, %s", which, why)
	}
	return table
}

// surveyRatios has a table for each state and first machine, with a row for each kind and machine, of what sweeps
// have beside transfers and of surveys.
func surveyRatios(c *compare.Comparison) (tables []view.Table) {
	for i, k := range c.Surveys {
		if i == 0 || k.State != c.Surveys[i-1].State || k.Machine != c.Surveys[i-1].Machine || compare.Swept(k.Kind) != compare.Swept(c.Surveys[i-1].Kind) {
			of := printable.Either(compare.Swept(k.Kind), "synchronisation, copies and reductions of these sizes", "surveys")
			tables = append(tables, view.Table{
				Title:   fmt.Sprintf("%s%s, × the times of %s; slower, faster: tested cells that differ, corrected for the number of tests", of, k.State.Title(), k.Machine),
				Columns: append(view.Numbers("kind", "machine", "mean ×", "tested", "slower", "faster"), view.Words("farthest")...),
			})
		}
		for _, r := range k.Rows {
			tables[len(tables)-1].Add(k.Kind, r.Machine, significant(r.Mean), fmt.Sprintf("%d of %d", r.Tested, r.Cells), r.Slower, r.Faster, fmt.Sprintf("%s × for %s", significant(r.Farthest.Ratio), r.Farthest.Key))
		}
	}
	return tables
}

// coefficient has the decimals that its standard error leaves, six at most.
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

// comparisonValues have a row for each machine and τ, where saturation and the fitted law repeat, then a row
// for each machine and cell of surveys. Kind and variant tell them apart.
func comparisonValues(c *compare.Comparison) view.Table {
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
			for _, p := range r.Points {
				out.Add(keyCells(t.Channel.Key(p.Tau), r.Machine), p.Replicates.Launches(),
					bounds(p.L), bounds(p.Bandwidth), bounds(p.A), ratioCells(p.Ratio), saturation, law, stateCells(t.State, r.Machine))
			}
		}
	}
	for _, k := range c.Surveys {
		for _, r := range append([]compare.SurveyRow{{Machine: k.Machine, Compared: k.First}}, k.Rows...) {
			for _, cell := range r.Compared {
				out.Add(keyCells(cell.Key, r.Machine), cell.Samples, bounds(cell.Time), make([]any, 6), ratioCells(cell.Ratio), make([]any, 8), stateCells(k.State, r.Machine))
			}
		}
	}
	return out
}

// keyColumns are the heads of keyCells.
var keyColumns = []string{"kind", "variant", "setup", "placement", "off_cache", "m_bytes", "machine", "tau"}

func keyCells(k params.Key, machine string) []any {
	return []any{k.Kind, k.VariantName(), k.Setup, k.Placement, k.OffCache, k.Bytes, machine, k.Tau}
}

// stateCells are the flag time of a state in ns, its share of the time, and whether it slows cores.
func stateCells(s *compare.InState, machine string) []any {
	if s == nil {
		return []any{nil, nil, nil}
	}
	state, _ := s.Of(machine)
	return []any{state.NS, state.Share, state.Slow > 0}
}

func bounds(e fit.Estimate) []any { return []any{e.Center, e.Lo, e.Hi} }

// ratioCells are the ratio to the first machine, its adjusted p, and whether it differs.
func ratioCells(r *compare.Ratio) []any {
	switch {
	case r == nil:
		return []any{nil, nil, nil}
	case !r.Tested:
		return []any{r.Value, nil, nil}
	}
	return []any{r.Value, r.Adjusted, r.Differs}
}
