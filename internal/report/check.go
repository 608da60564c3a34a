package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// A Check is a machine compared with its baseline.
type Check compare.Baseline

// Line is the status line of a monitoring plugin.
func (c *Check) Line() string {
	return fmt.Sprintf("taulop %v: %s%s", c.State, printable.If(c.Machine != "", printable.Name(c.Machine)+": "), c.Text)
}

// Performance is the cells' ratios to the baseline as a plugin's performance data, after the line.
func (c *Check) Performance(levels compare.Levels) string {
	var data []string
	for _, cell := range c.Cells {
		name := fmt.Sprintf("%s_%s_%s_%s_tau%d_m%d", cell.Kind, cell.Setup, cell.Placement, cache(cell.OffCache), cell.Tau, cell.Bytes)
		name += printable.If(cell.Flag > 0, fmt.Sprintf("_flag%.0fns", cell.Flag))
		name += printable.If(cell.Slow, "_slowed")
		data = append(data, fmt.Sprintf("'%s'=%.4g;%.4g;%.4g", strings.ReplaceAll(strings.ReplaceAll(name, "__", "_"), "'", ""), cell.Ratio.Value, 1+levels.Warning, 1+levels.Critical))
	}
	return " | " + strings.Join(data, " ")
}

// WriteJSON writes the document.
func (c *Check) WriteJSON(w io.Writer) error { return view.WriteJSON(w, "taulop check", 1, "", c) }

// Metrics are a text file for Prometheus's node exporter, which exports the file's time itself. Of a
// failed check they are the state alone.
func (c *Check) Metrics() string {
	var b strings.Builder
	gauge := func(name, help string, samples ...string) { // a sample: labels, a space and the value
		fmt.Fprintf(&b, "# HELP taulop_check_%s %s\n# TYPE taulop_check_%[1]s gauge\n", name, help)
		for _, s := range samples {
			fmt.Fprintf(&b, "taulop_check_%s%s\n", name, s)
		}
	}
	gauge("state", "0 as it was, 1 slower by the level of a warning, 2 by the critical one, 3 unknown", fmt.Sprintf(" %d", c.State))
	if len(c.States) > 0 { // under the baseline's flags, which stay the same from check to check
		unmet := 0.
		var shares []string
		for _, s := range c.States {
			if s.Was == nil {
				unmet += s.Share
			} else {
				shares = append(shares, fmt.Sprintf("{%s} %g", flagLabels(s.Was.NS, s.Was.Slow > 0), s.Share))
			}
		}
		gauge("flag_share", "Share of the time in a state of the baseline, by what a flag took then", shares...)
		gauge("unmet_share", "Share of the time in states that the baseline has not met", fmt.Sprintf(" %g", unmet))
	}
	if len(c.Cells) > 0 {
		if c.Visible > 0 { // else nothing was tested
			gauge("visible_ratio", "Change that would have been found in 9 of 10 cases, 0.1 is 10 %: the median over cells", fmt.Sprintf(" %g", c.Visible))
		}
		gauge("baseline_sessions", "Sessions that the baseline has", fmt.Sprintf(" %d", c.Sessions))
		var ratios, times []string
		for _, cell := range c.Cells {
			flag := printable.If(cell.Flag > 0, ","+flagLabels(cell.Flag, cell.Slow))
			labels := fmt.Sprintf(`{cell="%s",setup="%s",placement="%s",cache="%s",tau="%d",bytes="%d"%s}`,
				label(string(cell.Kind)), label(cell.Setup), label(string(cell.Placement)), cache(cell.OffCache), cell.Tau, cell.Bytes, flag)
			ratios, times = append(ratios, fmt.Sprintf("%s %g", labels, cell.Ratio.Value)), append(times, fmt.Sprintf("%s %g", labels, cell.Now.Center))
		}
		gauge("ratio", "Time of a cell over that of the baseline: above 1 it is slower", ratios...)
		gauge("nanoseconds", "Time of a cell, as in parameter files", times...)
	}
	if c.Memory != nil {
		gauge("memory_peak_ratio", "Bandwidth that memory carried over what it should", fmt.Sprintf(" %g", c.Memory.Share))
	}
	b.WriteString("# EOF\n") // the end of OpenMetrics: without it a file was cut short
	return b.String()
}

// flagLabels name a state of the baseline.
func flagLabels(ns float64, slowed bool) string {
	return printable.Either(slowed, fmt.Sprintf(`flag_ns="%.3g",slowed="true"`, ns), fmt.Sprintf(`flag_ns="%.3g"`, ns))
}

func cache(off bool) string { return printable.Either(off, "off", "in") }

// label escapes the value of a label.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}
