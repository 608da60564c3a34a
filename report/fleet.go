package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/taulop/taulop/compare"
)

// An Overview is many machines beside their median.
type Overview compare.Overview

// Warned are the warnings, a sentence each.
func (o *Overview) Warned() []string { return o.Warnings }

// WriteJSON writes the document.
func (o *Overview) WriteJSON(w io.Writer) error { return writeJSON(w, o) }

// WriteText writes the outliers, then for each table the median machine and the
// spread about it. There are no charts.
func (o *Overview) WriteText(w io.Writer, _ bool) {
	fmt.Fprintf(w, "%d machines\n\n", len(o.Machines))
	if len(o.Outliers) > 0 {
		fmt.Fprintf(w, "machines that are off: robust z-score above %g, and the cell that gave them away\n", compare.OutlierScore)
		tw := newTable(w)
		fmt.Fprint(tw, "machine\tz\tτ\tL(m,τ) ns\tmedian\t×\tcells off\twhere\t\n")
		for _, out := range o.Outliers {
			fmt.Fprintf(tw, "%s\t%+.1f\t%d\t%s\t%s\t%s\t%d of %d\t%s, m = %s\t\n", out.Machine, out.Score, out.Tau,
				Digits(out.L.Center, (out.L.Hi-out.L.Lo)/2), significant(out.Median), significant(out.L.Center/out.Median),
				out.Off, out.Cells, out.Channel, Bytes(out.Bytes))
		}
		tw.Flush()
		fmt.Fprintln(w)
	}
	for _, t := range o.Tables {
		fmt.Fprintf(w, "%s: medians, least … most, ± robust standard deviation\n", channelTitle(t.Channel, t.Segment))
		tw := newTable(w)
		fmt.Fprintf(tw, "τ\tmachines\tL(%s,τ) ns\t\t\tGB/s\t\t\tA(τ)\t\t\t\n", Bytes(t.Bytes))
		for _, r := range t.Rows {
			fmt.Fprintf(tw, "%d\t%d\t%s\t%s\t%s\t\n", r.Tau, r.Machines, spreadCells(r.L), spreadCells(r.Bandwidth), spreadCells(r.A))
		}
		tw.Flush()
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, (*compare.Overview)(o).Conclusion())
}

func spreadCells(s compare.Spread) string {
	if s == (compare.Spread{}) {
		return "?\t\t"
	}
	return fmt.Sprintf("%s\t%s … %s\t±%.1f %%", significant(s.Median), significant(s.Least), significant(s.Most), 100*s.Deviation/s.Median)
}

// WriteCSV writes a row for each machine, channel and τ, with the median of all
// and the robust z-score.
func (o *Overview) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"setup", "placement", "off_cache", "m_bytes", "machine", "tau", "L_ns", "L_lo_ns", "L_hi_ns", "bandwidth_GBs", "A", "median_L_ns", "deviation_L_ns", "z"})
	for _, t := range o.Tables {
		for _, r := range t.Rows {
			for _, s := range r.Scores {
				out.Write([]string{t.Setup, string(t.Placement), strconv.FormatBool(t.OffCache), strconv.Itoa(t.Bytes), s.Machine, strconv.Itoa(r.Tau),
					csvNumber(s.L.Center), csvNumber(s.L.Lo), csvNumber(s.L.Hi), csvNumber(s.Bandwidth.Center), csvNumber(s.A.Center),
					csvNumber(r.L.Median), csvNumber(r.L.Deviation), csvNumber(s.Z)})
			}
		}
	}
	out.Flush()
	return out.Error()
}
