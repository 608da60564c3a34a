package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Compared is machines side by side, few or many.
type Compared interface {
	WriteText(w io.Writer, charts bool) // charts where somebody is looking
	WriteCSV(io.Writer) error
	WriteJSON(io.Writer) error
	Warned() []compare.Warning
}

// A SideBySide is a few machines, each in full.
type SideBySide compare.Comparison

// Warned are the warnings.
func (c *SideBySide) Warned() []compare.Warning { return c.Warnings }

// WriteJSON writes the document.
func (c *SideBySide) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

// WriteText writes the verdict and, for each table, L(m,τ), bandwidth and A(τ) with τ down and
// machines across and what sums up each machine; in the end a conclusion.
func (c *SideBySide) WriteText(w io.Writer, charts bool) {
	var noise, untested bool
	fmt.Fprintf(w, "%s\n\n", c.Verdict.Text)
	for i := range c.Tables {
		t := &c.Tables[i]
		fmt.Fprintf(w, "%s\n", tableTitle(t))
		for _, rows := range across(t.Rows) {
			writeQuantity(w, t, rows, fmt.Sprintf("L(%s,τ) in ns, × that of %s", view.Bytes(t.Bytes), t.Rows[0].Machine), true, timeCell)
		}
		for _, rows := range across(t.Rows) {
			writeQuantity(w, t, rows, "bandwidth of all τ together in GB/s", false, func(b compare.ComparedPoint) string { return significant(b.Bandwidth.Center) })
		}
		for _, rows := range across(t.Rows) {
			writeQuantity(w, t, rows, fmt.Sprintf("memory concurrency A(τ) = τ·L(%s,1)/L(%[1]s,τ)", view.Bytes(t.Bytes)), false, concurrencyCell)
		}
		writeSums(w, t)
		fmt.Fprintln(w)
		for _, r := range t.Rows {
			for _, b := range r.Points {
				if b.Ratio != nil {
					noise, untested = noise || b.Ratio.Tested && !b.Ratio.Differs, untested || !b.Ratio.Tested
				}
			}
		}
	}
	c.writeSurveys(w)
	if noise {
		fmt.Fprintln(w, "~ no difference found: within the least effect, or not told from what launches and sessions differ by")
	}
	if untested {
		fmt.Fprintln(w, "? not tested: one of the two has fewer than six launches, or no samples")
	}
	if noise || untested {
		fmt.Fprintln(w)
	}
	for i := range c.Tables {
		if t := &c.Tables[i]; charts && WriteConcurrencyChart(w, tableTitle(t), t.Curves()) {
			fmt.Fprintln(w)
		}
	}
	for i := range c.Tables {
		t := &c.Tables[i]
		if len(c.Tables) > 1 {
			fmt.Fprintf(w, "%s: ", tableTitle(t))
		}
		fmt.Fprintln(w, t.Conclusion)
	}
}

func tableTitle(t *compare.Table) string { return channelTitle(t.Channel, t.Segment) }

func channelTitle(c compare.Channel, segment bool) string {
	letter := "m"
	if segment {
		letter = "S"
	}
	return fmt.Sprintf("%s, %s = %s", c, letter, view.Bytes(c.Bytes))
}

// across cuts rows into those that stand beside each other in a line.
func across(rows []compare.Row) (parts [][]compare.Row) {
	const width = 96
	used := 0
	for i, r := range rows {
		need := max(14, utf8.RuneCountInString(r.Machine)+2) + 10
		if i == 0 || used+need > width {
			parts, used = append(parts, nil), 6
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], r)
		used += need
	}
	return parts
}

func writeQuantity(w io.Writer, t *compare.Table, rows []compare.Row, title string, ratios bool, cell func(compare.ComparedPoint) string) {
	fmt.Fprintf(w, "\n  %s\n", title)
	tw := newTable(w)
	defer tw.Flush()
	fmt.Fprint(tw, "τ\t")
	for i := range rows {
		fmt.Fprintf(tw, "%s\t", rows[i].Machine)
		if ratios && rows[i].Machine != t.Rows[0].Machine {
			fmt.Fprint(tw, "×  \t")
		}
	}
	fmt.Fprintln(tw)
	for _, tau := range t.Taus {
		fmt.Fprintf(tw, "%d\t", tau)
		for i := range rows {
			b, measured := rows[i].At(tau)
			if measured {
				fmt.Fprint(tw, cell(b))
			}
			fmt.Fprint(tw, "\t")
			if ratios && rows[i].Machine != t.Rows[0].Machine {
				fmt.Fprintf(tw, "%s\t", ratioCell(b.Ratio))
			}
		}
		fmt.Fprintln(tw)
	}
}

// newTable aligns to the right, and leaves no spaces at the ends of lines.
func newTable(w io.Writer) *table {
	t := &table{out: w}
	t.Writer = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', tabwriter.AlignRight)
	return t
}

type table struct {
	*tabwriter.Writer
	text bytes.Buffer
	out  io.Writer
}

// Flush writes the table.
func (t *table) Flush() {
	t.Writer.Flush()
	for line := range strings.Lines(t.text.String()) {
		fmt.Fprintln(t.out, strings.TrimRight(line, " \n"))
	}
}

func timeCell(b compare.ComparedPoint) string {
	text := view.Center(b.L)
	if b.L.Known() {
		text += fmt.Sprintf(" ±%2.0f %%", 100*b.L.Width())
	}
	return text
}

func concurrencyCell(b compare.ComparedPoint) string {
	switch {
	case math.IsNaN(b.A.Center):
		return "?"
	case !b.A.Known() || b.A.Lo == b.A.Hi:
		return fmt.Sprintf("%.2f", b.A.Center)
	}
	return fmt.Sprintf("%.2f ±%.2f", b.A.Center, (b.A.Hi-b.A.Lo)/2)
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

// significant writes three digits.
func significant(v float64) string { return view.Digits(v, 0) }

// writeSums writes what sums up each machine's curve.
func writeSums(w io.Writer, t *compare.Table) {
	fmt.Fprintf(w, "\n  summed up; contention σ and coherence κ of X(τ) = λτ/(1 + σ(τ−1) + κτ(τ−1))\n")
	tw := newTable(w)
	fmt.Fprintf(tw, "machine\tL(%s,1)\tA(τ)\tsaturates\tσ\tκ\tresidual\t\n", view.Bytes(t.Bytes))
	var notes []string
	unfitted := make(map[string][]string) // machines by reason
	for i := range t.Rows {
		r := &t.Rows[i]
		end := r.Points[len(r.Points)-1]
		alone := r.Alone()
		fmt.Fprintf(tw, "%s\t%s ns\t", r.Machine, view.Center(alone))
		switch {
		case len(r.Points) < 2:
			fmt.Fprint(tw, "-\t-\t")
		case r.Saturation.Unknown:
			fmt.Fprintf(tw, "%s of %d\tunknown\t", view.Digits(end.A.Center, 0.01), end.Tau)
		case r.Saturation.Reached:
			fmt.Fprintf(tw, "%s of %d\tat τ = %d\t", view.Digits(end.A.Center, 0.01), end.Tau, r.Saturation.Tau)
		default:
			fmt.Fprintf(tw, "%s of %d\tnot up to τ = %d\t", view.Digits(end.A.Center, 0.01), end.Tau, end.Tau)
		}
		s := r.Scalability
		if s == nil {
			fmt.Fprint(tw, "-\t-\t-\t\n")
			unfitted[r.Unfitted] = append(unfitted[r.Unfitted], r.Machine)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%.1f %%\t\n", coefficient(s.Sigma), coefficient(s.Kappa), 100*s.Residual)
		if r.Poor {
			notes = append(notes, fmt.Sprintf("%s: a poor fit, its times are off by %.0f %%: σ and κ do not describe it", r.Machine, 100*s.Residual))
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unfitted)) {
		note := "no σ and κ, " + why
		if machines := unfitted[why]; len(machines) < len(t.Rows) {
			note = strings.Join(machines, ", ") + ": " + note
		}
		notes = append(notes, note)
	}
	tw.Flush()
	for _, note := range notes {
		fmt.Fprintf(w, "  %s\n", note)
	}
}

// writeSurveys writes what surveys measured, a line for each kind and
// machine.
func (c *SideBySide) writeSurveys(w io.Writer) {
	if len(c.Surveys) == 0 {
		return
	}
	fmt.Fprintf(w, "surveys, × the times of %s; beyond the intervals are so many slower and faster\n", c.Machines[0].Name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\tmachine\tcells\t× on average\tslower\tfaster\t  farthest")
	for _, k := range c.Surveys {
		for _, r := range k.Rows {
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%d\t%d\t  %s × for %s\n", k.Kind, r.Machine, r.Cells, significant(r.Mean), r.Slower, r.Faster,
				significant(r.Farthest.Ratio), r.Farthest.Key)
		}
	}
	t.Flush()
	fmt.Fprintln(w)
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

// WriteCSV writes a row for each machine and τ, with what sums up the machine's
// curve repeated in each, then one for each machine and cell of what was measured
// surveys: all in one table, which kind and variant tell apart. Fields
// without a value are empty.
func (c *SideBySide) WriteCSV(w io.Writer) error {
	out := printable.NewTable(w, ',')
	header := []string{"kind", "variant", "setup", "placement", "off_cache", "m_bytes", "machine", "tau", "samples", "L_ns", "L_lo_ns", "L_hi_ns",
		"bandwidth_GBs", "bandwidth_lo_GBs", "bandwidth_hi_GBs", "A", "A_lo", "A_hi", "ratio", "p", "differs",
		"saturation_tau", "saturated", "sigma", "sigma_error", "kappa", "kappa_error", "residual", "poor_fit"}
	out.Write(header)
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for _, b := range r.Points {
				row := csvRow(channelKey(t.Channel, b.Tau), r.Machine, b.Replicates.Launches(), b.L, b.Bandwidth, b.A)
				row = append(row, csvRatio(b.Ratio)...)
				row = append(row, csvSaturation(len(r.Points), r.Saturation)...)
				if s := r.Scalability; s != nil {
					row = append(row, csvNumber(s.Sigma.Value), csvNumber(s.Sigma.Error), csvNumber(s.Kappa.Value), csvNumber(s.Kappa.Error),
						csvNumber(s.Residual), strconv.FormatBool(r.Poor))
				}
				out.Write(padded(row, len(header)))
			}
		}
	}
	for _, k := range c.Surveys {
		for _, r := range append([]compare.SurveyRow{{Machine: c.Machines[0].Name, Compared: k.First}}, k.Rows...) {
			for _, cell := range r.Compared {
				unknown := fit.Median(nil)
				row := append(csvRow(cell.Key, r.Machine, cell.Samples, cell.Time, unknown, unknown), csvRatio(cell.Ratio)...)
				out.Write(padded(row, len(header)))
			}
		}
	}
	return out.Flush()
}

// channelKey is that of a transfer.
func channelKey(c compare.Channel, tau int) params.Key {
	return params.Key{Kind: params.TransferCell, Setup: c.Setup, Placement: c.Placement, OffCache: c.OffCache, Tau: tau, Bytes: c.Bytes}
}

// csvKey is what was measured, and on which machine.
func csvKey(k params.Key, machine string) []string {
	return []string{string(k.Kind), k.Variant, k.Setup, string(k.Placement), strconv.FormatBool(k.OffCache), strconv.Itoa(k.Bytes), machine, strconv.Itoa(k.Tau)}
}

func csvRow(k params.Key, machine string, samples int, estimates ...fit.Estimate) []string {
	row := append(csvKey(k, machine), strconv.Itoa(samples))
	for _, e := range estimates {
		row = append(row, csvNumber(e.Center), csvNumber(e.Lo), csvNumber(e.Hi))
	}
	return row
}

// csvRatio is a ratio to the first machine, its p, and whether it differs.
func csvRatio(r *compare.Ratio) []string {
	switch {
	case r == nil:
		return []string{"", "", ""}
	case !r.Tested:
		return []string{csvNumber(r.Value), "", ""}
	}
	return []string{csvNumber(r.Value), csvNumber(r.Adjusted), strconv.FormatBool(r.Differs)}
}

// csvSaturation is as text has it: nothing of one τ, and nothing where it is unknown.
func csvSaturation(points int, s compare.Saturation) []string {
	if points < 2 || s.Unknown {
		return []string{"", ""}
	}
	return []string{strconv.Itoa(s.Tau), strconv.FormatBool(s.Reached)}
}

// padded fills a row up with empty fields.
func padded(row []string, fields int) []string {
	return append(row, make([]string, fields-len(row))...)
}

// csvNumber writes six digits, nothing for what is unknown.
func csvNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
