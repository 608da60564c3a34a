package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// An Overview is many machines beside their median.
type Overview compare.Overview

// Warned are the warnings.
func (o *Overview) Warned() []compare.Warning { return o.Warnings }

// WriteJSON writes the document.
func (o *Overview) WriteJSON(w io.Writer) error { return writeJSON(w, o) }

// WriteText writes the outliers, then for each table the median machine and the
// spread about it. There are no charts.
func (o *Overview) WriteText(w io.Writer, _ bool) {
	fmt.Fprintf(w, "%d machines\n\n", len(o.Machines))
	if len(o.Outliers) > 0 {
		fmt.Fprintf(w, "outliers: robust z-score above %g, each with the cell that is farthest off\n", fit.OutlierScore)
		tw := newTable(w)
		fmt.Fprint(tw, "machine\tz\tτ\tL(m,τ) ns\tmedian\t×\tcells off\twhere\t\n")
		for _, out := range o.Outliers {
			fmt.Fprintf(tw, "%s\t%+.1f\t%d\t%s\t%s\t%s\t%d of %d\t%s, m = %s\t\n", out.Machine, out.Score, out.Tau,
				view.Center(out.L), significant(out.Median), significant(out.L.Center/out.Median),
				out.Off, out.Cells, out.Channel, view.Bytes(out.Bytes))
		}
		tw.Flush()
		fmt.Fprintln(w)
	}
	for _, t := range o.Tables {
		fmt.Fprintf(w, "%s: medians, least … most, ± robust standard deviation\n", channelTitle(t.Channel, t.Segment))
		tw := newTable(w)
		fmt.Fprintf(tw, "τ\tmachines\tL(%s,τ) ns\t\t\tGB/s\t\t\tA(τ)\t\t\t\n", view.Bytes(t.Bytes))
		for _, r := range t.Rows {
			fmt.Fprintf(tw, "%d\t%d\t%s\t%s\t%s\t\n", r.Tau, r.Machines, spreadCells(r.L), spreadCells(r.Bandwidth), spreadCells(r.A))
		}
		tw.Flush()
		fmt.Fprintln(w)
	}
	for _, k := range o.Surveys {
		writeFleetKind(w, k)
	}
	fmt.Fprintln(w, (*compare.Overview)(o).Conclusion())
}

// mostInSurvey is how many outliers, and how many cells, text has of a
// kind: pairs of CPUs are thousands.
const mostInSurvey = 12

// writeFleetKind writes the outliers of what surveys measured, then
// medians of the cells that machines are least alike in.
func writeFleetKind(w io.Writer, k compare.FleetKind) {
	if len(k.Outliers) > 0 {
		fmt.Fprintf(w, "%s: outliers, each with the cell that is farthest off%s\n", k.Kind, firstOf(len(k.Outliers), "farthest"))
		tw := newTable(w)
		fmt.Fprint(tw, "machine\tz\tns\tmedian\t×\tcells off\t  where\n")
		for _, out := range k.Outliers[:min(mostInSurvey, len(k.Outliers))] {
			fmt.Fprintf(tw, "%s\t%+.1f\t%s\t%s\t%s\t%d of %d\t  %s\n", out.Machine, out.Score, view.Center(out.Time),
				significant(out.Median), significant(out.Time.Center/out.Median), out.Off, out.Cells, out.Key)
		}
		tw.Flush()
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: medians of %d machines, least … most, ± robust standard deviation%s\n", k.Kind, k.Machines, firstOf(len(k.Cells), "widest"))
	tw := newTable(w)
	fmt.Fprint(tw, "machines\tns\t\t\t  cell\n")
	for _, c := range widest(k.Cells) {
		fmt.Fprintf(tw, "%d\t%s\t  %s\n", c.Machines, spreadCells(c.Time), c.Key)
	}
	tw.Flush()
	fmt.Fprintln(w)
}

// firstOf says how many are shown, where these are not all.
func firstOf(n int, what string) string {
	if n <= mostInSurvey {
		return ""
	}
	return fmt.Sprintf("; the %d %s of %d: the CSV has all", mostInSurvey, what, n)
}

// widest are the cells with the widest spread, in their order.
func widest(cells []compare.FleetCell) []compare.FleetCell {
	width := func(i int) float64 { return cells[i].Time.Deviation / cells[i].Time.Median }
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(width(b), width(a)) })
	order = order[:min(mostInSurvey, len(order))]
	slices.Sort(order)
	some := make([]compare.FleetCell, len(order))
	for i, at := range order {
		some[i] = cells[at]
	}
	return some
}

func spreadCells(s fit.Spread) string {
	if s == (fit.Spread{}) {
		return "?\t\t"
	}
	return fmt.Sprintf("%s\t%s … %s\t±%.1f %%", significant(s.Median), significant(s.Least), significant(s.Most), 100*s.Deviation/s.Median)
}

// WriteCSV writes a row for each machine, channel and τ, with the median of all and
// the robust z-score, then one for each machine and cell of a survey.
func (o *Overview) WriteCSV(w io.Writer) error {
	out := printable.NewTable(w, ',')
	out.Write([]string{"kind", "variant", "setup", "placement", "off_cache", "m_bytes", "machine", "tau",
		"L_ns", "L_lo_ns", "L_hi_ns", "bandwidth_GBs", "A", "median_L_ns", "deviation_L_ns", "z"})
	write := func(k params.Key, all fit.Spread, s compare.Score) {
		out.Write(append(csvKey(k, s.Machine), csvNumber(s.L.Center), csvNumber(s.L.Lo), csvNumber(s.L.Hi), csvNumber(s.Bandwidth), csvNumber(s.A),
			csvNumber(all.Median), csvNumber(all.Deviation), csvNumber(s.Z)))
	}
	for _, t := range o.Tables {
		for _, r := range t.Rows {
			for _, s := range r.Scores {
				write(channelKey(t.Channel, r.Tau), r.L, s)
			}
		}
	}
	for _, k := range o.Surveys {
		for _, c := range k.Cells {
			for _, s := range c.Scores {
				write(c.Key, c.Time, s)
			}
		}
	}
	return out.Flush()
}
