package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// Overview compares many machines with their median.
func Overview(o *compare.Overview) *document.Document {
	return made("taulop compare fleet", o, fleetValues, func(o *compare.Overview, w *document.Document) {
		fmt.Fprintln(w, o.Conclusion())
		if o.State != nil {
			fmt.Fprintf(w, "\n%d machines%s\n", len(o.Machines), inMost(o.State))
		}
		w.Lines(printable.If(o.Means != "", "\n"+o.Means))
		w.Tables(FleetTables(o)...)
		if len(o.Notes) > 0 {
			fmt.Fprintln(w)
			w.Lines(o.Notes...)
		}
	})
}

// FleetTables are the outliers, then the median and spread of each channel and survey.
func FleetTables(o *compare.Overview) (all []view.Table) {
	if len(o.Outliers) > 0 {
		all = append(all, outlierTable(fmt.Sprintf("outliers: robust z-score beyond ±%g, each with the cell that is farthest off", fit.OutlierScore), o.Outliers))
	}
	for _, channel := range o.Tables {
		t := view.Table{
			Title:   fmt.Sprintf("%s: medians, %s", channelTitle(channel.Channel, channel.Segment), spreads),
			Columns: view.Numbers("τ", "machines", fmt.Sprintf("L(%s,τ) ns", view.Bytes(channel.Bytes)), "", "", "GB/s", "", "", "A(τ)", "", ""),
		}
		for _, c := range channel.Cells {
			t.Add(c.Tau, c.Machines, spread(c.Time), spread(c.Bandwidth), spread(c.A))
		}
		all = append(all, t)
	}
	return append(all, lists.Concat(o.Surveys, kindTables)...)
}

// inMost describes the state that most machines were in. The comparison is of this state.
func inMost(s *compare.InState) string {
	byShare := func(a, b compare.MachineState) int { return cmp.Compare(a.Share, b.Share) }
	least := fmt.Sprintf("%.0f", slices.MinFunc(s.Machines, byShare).Percent())
	share := fmt.Sprintf("%.0f", slices.MaxFunc(s.Machines, byShare).Percent())
	if least != share {
		share = least + " to " + share
	}
	return fmt.Sprintf(", in the state that most have been in%s: %s %% of their time", s.Title(), share)
}

// mostInSurvey limits the outliers and the cells of a survey in text: there are thousands of pairs of CPUs.
const mostInSurvey = 12

// kindTables are the outliers of a survey, then medians of the cells with the widest spread.
func kindTables(k compare.FleetKind) (tables []view.Table) {
	if len(k.Outliers) > 0 {
		title := fmt.Sprintf("%s: outliers, each with the cell that is farthest off%s", k.Kind, firstOf(len(k.Outliers), "farthest"))
		tables = append(tables, outlierTable(title, k.Outliers[:min(mostInSurvey, len(k.Outliers))]))
	}
	t := view.Table{
		Title:   fmt.Sprintf("%s: medians of %d machines, %s%s", k.Kind, k.Machines, spreads, firstOf(len(k.Cells), "widest")),
		Columns: append(view.Numbers("machines", "ns", "", ""), view.Words("cell")...),
	}
	for _, c := range widest(k.Cells) {
		t.Add(c.Machines, spread(c.Time), c.Key)
	}
	return append(tables, t)
}

func outlierTable(title string, outliers []compare.Outlier) view.Table {
	t := view.Table{Title: title, Columns: append(view.Numbers("machine", "z", "ns", "median", "×", "cells off"), view.Words("where")...)}
	for _, out := range outliers {
		t.Add(out.Machine, fmt.Sprintf("%+.1f", out.Score), view.Center(out.Time), significant(out.Median), significant(out.Time.Center/out.Median),
			fmt.Sprintf("%d of %d", out.Off, out.Cells), out.Key)
	}
	return t
}

// firstOf says how many of n are shown, "" if all are.
func firstOf(n int, what string) string {
	return printable.If(n > mostInSurvey, fmt.Sprintf("; the %d %s of %d: the CSV has all", mostInSurvey, what, n))
}

// widest are the cells with the widest spread, in their order.
func widest(cells []*compare.FleetCell) []*compare.FleetCell {
	width := func(c *compare.FleetCell) float64 { return c.Time.Deviation / c.Time.Median }
	falling := slices.SortedStableFunc(slices.Values(cells), func(a, b *compare.FleetCell) int { return cmp.Compare(width(b), width(a)) })
	widest := falling[:min(mostInSurvey, len(falling))]
	return lists.Filter(cells, func(c *compare.FleetCell) bool { return slices.Contains(widest, c) })
}

// spreads are the heads of a spread's cells.
const spreads = "least … most, ± robust standard deviation"

func spread(s fit.Spread) []string {
	if s == (fit.Spread{}) {
		return []string{"?", "", ""}
	}
	return []string{significant(s.Median), significant(s.Least) + " … " + significant(s.Most), fmt.Sprintf("±%.1f %%", 100*s.Deviation/s.Median)}
}

// fleetValues have a row for each machine and cell of transfers and surveys.
func fleetValues(o *compare.Overview) view.Table {
	out := view.Table{Columns: view.Words(append(slices.Clone(keyColumns),
		"L_ns", "L_lo_ns", "L_hi_ns", "bandwidth_GBs", "A", "median_L_ns", "deviation_L_ns", "z", "state_ns", "state_share", "state_slowed")...)}
	for _, c := range o.Cells() {
		for _, s := range c.Scores {
			out.Add(keyCells(c.Key, s.Machine), bounds(s.Time), s.Bandwidth, s.A, c.Time.Median, c.Time.Deviation, s.Z, stateCells(o.State, s.Machine))
		}
	}
	return out
}
