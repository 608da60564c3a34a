package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// A Check is a machine beside what it was.
type Check compare.Baseline

// WriteText writes a line as monitoring plugins do.
func (c *Check) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n", c.line())
	return err
}

func (c *Check) line() string {
	if c.Machine == "" {
		return fmt.Sprintf("taulop %v: %s", c.State, c.Text)
	}
	return fmt.Sprintf("taulop %v: %s: %s", c.State, printable.Name(c.Machine), c.Text)
}

// WritePerformance writes the line with each cell's ratio to the baseline behind it, as
// plugins' performance data.
func (c *Check) WritePerformance(w io.Writer, levels compare.Levels) error {
	data := []string{}
	for _, cell := range c.Cells {
		name := fmt.Sprintf("%s_%s_%s_%s_tau%d_m%d", cell.Kind, cell.Setup, cell.Placement, cache(cell.OffCache), cell.Tau, cell.Bytes)
		if cell.Flag > 0 {
			name += fmt.Sprintf("_flag%.0fns", cell.Flag)
		}
		if cell.Slow {
			name += "_slowed"
		}
		data = append(data, fmt.Sprintf("'%s'=%.4g;%.4g;%.4g", strings.ReplaceAll(strings.ReplaceAll(name, "__", "_"), "'", ""), cell.Ratio.Value, 1+levels.Warning, 1+levels.Critical))
	}
	_, err := fmt.Fprintf(w, "%s | %s\n", c.line(), strings.Join(data, " "))
	return err
}

// WriteJSON writes the document.
func (c *Check) WriteJSON(w io.Writer) error { return view.WriteJSON(w, "taulop check", 1, "", c) }

// WriteMetrics writes a textfile for Prometheus's node exporter, which says itself when it
// was written. Of a check that failed there is the state alone.
func (c *Check) WriteMetrics(w io.Writer) error {
	var b strings.Builder
	metric := func(name, help string) {
		fmt.Fprintf(&b, "# HELP taulop_check_%s %s\n# TYPE taulop_check_%[1]s gauge\n", name, help)
	}
	metric("state", "0 as it was, 1 slower by the level of a warning, 2 by the critical one, 3 unknown")
	fmt.Fprintf(&b, "taulop_check_state %d\n", c.State)
	c.writeStates(&b, metric)
	if len(c.Cells) > 0 {
		if c.Visible > 0 { // else nothing was tested
			metric("visible_ratio", "Change that would have been found in 9 of 10 cases, 0.1 is 10 %: the median over cells")
			fmt.Fprintf(&b, "taulop_check_visible_ratio %g\n", c.Visible)
		}
		metric("baseline_sessions", "Sessions that the baseline has")
		fmt.Fprintf(&b, "taulop_check_baseline_sessions %d\n", c.Sessions)
		labels := make([]string, len(c.Cells))
		for i, cell := range c.Cells {
			flag := ""
			if cell.Flag > 0 {
				flag = "," + flagLabels(cell.Flag, cell.Slow)
			}
			labels[i] = fmt.Sprintf(`{cell="%s",setup="%s",placement="%s",cache="%s",tau="%d",bytes="%d"%s}`,
				label(string(cell.Kind)), label(cell.Setup), label(string(cell.Placement)), cache(cell.OffCache), cell.Tau, cell.Bytes, flag)
		}
		metric("ratio", "Time of a cell over that of the baseline: above 1 it is slower")
		for i, cell := range c.Cells {
			fmt.Fprintf(&b, "taulop_check_ratio%s %g\n", labels[i], cell.Ratio.Value)
		}
		metric("nanoseconds", "Time of a cell, as in parameter files")
		for i, cell := range c.Cells {
			fmt.Fprintf(&b, "taulop_check_nanoseconds%s %g\n", labels[i], cell.Now.Center)
		}
	}
	if c.Memory != nil {
		metric("memory_peak_ratio", "Bandwidth that memory carried over what it should")
		fmt.Fprintf(&b, "taulop_check_memory_peak_ratio %g\n", c.Memory.Share)
	}
	b.WriteString("# EOF\n") // as OpenMetrics ends, so that a file cut short is told from a whole one
	_, err := io.WriteString(w, b.String())
	return err
}

// writeStates writes the shares of states by the flag of the baseline, whose numbers stay the
// same from check to check; those that it has not met are one.
func (c *Check) writeStates(b *strings.Builder, metric func(name, help string)) {
	if len(c.States) == 0 {
		return
	}
	unmet := 0.
	metric("flag_share", "Share of the time in a state of the baseline, by what a flag took then")
	for _, s := range c.States {
		if s.Was == nil {
			unmet += s.Share
			continue
		}
		fmt.Fprintf(b, "taulop_check_flag_share{%s} %g\n", flagLabels(s.Was.NS, s.Was.Slow > 0), s.Share)
	}
	metric("unmet_share", "Share of the time in states that the baseline has not met")
	fmt.Fprintf(b, "taulop_check_unmet_share %g\n", unmet)
}

// flagLabels name a state of the baseline.
func flagLabels(ns float64, slowed bool) string {
	if slowed {
		return fmt.Sprintf(`flag_ns="%.3g",slowed="true"`, ns)
	}
	return fmt.Sprintf(`flag_ns="%.3g"`, ns)
}

func cache(off bool) string {
	if off {
		return "off"
	}
	return "in"
}

// label is a value of a label: a backslash, a quotation mark and a line's end are all that
// the format escapes.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}
