package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Overview is many machines beside their median.
func Overview(r *compare.Overview) *document.Document {
	return document.New("taulop compare fleet", r, document.Rows((*overview)(r).values), (*overview)(r).say)
}

type overview compare.Overview

// say writes the outliers, then for each table the median machine and the
// spread about it. There are no charts.
func (o *overview) say(w *document.Document) {
	fmt.Fprintf(w, "%d machines%s\n\n", len(o.Machines), inMost(o.State))
	if o.Means != "" {
		fmt.Fprintf(w, "%s\n\n", o.Means)
	}
	if len(o.Outliers) > 0 {
		t := view.Table{
			Title:   fmt.Sprintf("outliers: robust z-score above %g, each with the cell that is farthest off", fit.OutlierScore),
			Columns: append(view.Numbers("machine", "z", "τ", "L(m,τ) ns", "median", "×", "cells off"), view.Words("where")...),
		}
		for _, out := range o.Outliers {
			t.Add(out.Machine, score(out.Deviation), out.Tau, besideMedian(out.L, out.Median), off(out.Deviation),
				fmt.Sprintf("%s, m = %s", out.Channel, view.Bytes(out.Bytes)))
		}
		w.TablesAbove(t)
	}
	for _, of := range o.Tables {
		t := view.Table{
			Title:   fmt.Sprintf("%s: medians, %s", channelTitle(of.Channel, of.Segment), spreads),
			Columns: view.Numbers("τ", "machines", fmt.Sprintf("L(%s,τ) ns", view.Bytes(of.Bytes)), "", "", "GB/s", "", "", "A(τ)", "", ""),
		}
		for _, r := range of.Rows {
			t.Add(r.Tau, r.Machines, spread(r.L), spread(r.Bandwidth), spread(r.A))
		}
		w.TablesAbove(t)
	}
	for _, k := range o.Surveys {
		w.TablesAbove(kindTables(k)...)
	}
	fmt.Fprintln(w, (*compare.Overview)(o).Conclusion())
}

// inMost is the state that machines are compared in; nothing where none is told apart.
func inMost(s *compare.InState) string {
	if s == nil {
		return ""
	}
	byShare := func(a, b compare.MachineState) int { return cmp.Compare(a.Share, b.Share) }
	return fmt.Sprintf(", in the state that most have been in%s: %.0f to %.0f %% of their time", s.Title(),
		100*slices.MinFunc(s.Machines, byShare).Share, 100*slices.MaxFunc(s.Machines, byShare).Share)
}

// mostInSurvey is how many outliers, and how many cells, text has of a
// kind: pairs of CPUs are thousands.
const mostInSurvey = 12

// kindTables are the outliers of what surveys measured, then medians of the cells
// that machines are least alike in.
func kindTables(k compare.FleetKind) (tables []view.Table) {
	if len(k.Outliers) > 0 {
		t := view.Table{
			Title:   fmt.Sprintf("%s: outliers, each with the cell that is farthest off%s", k.Kind, firstOf(len(k.Outliers), "farthest")),
			Columns: append(view.Numbers("machine", "z", "ns", "median", "×", "cells off"), view.Words("where")...),
		}
		for _, out := range k.Outliers[:min(mostInSurvey, len(k.Outliers))] {
			t.Add(out.Machine, score(out.Deviation), besideMedian(out.Time, out.Median), off(out.Deviation), out.Key)
		}
		tables = append(tables, t)
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

func score(d compare.Deviation) string { return fmt.Sprintf("%+.1f", d.Score) }

func off(d compare.Deviation) string { return fmt.Sprintf("%d of %d", d.Off, d.Cells) }

// besideMedian is a time, the median of all machines, and how many times that it is.
func besideMedian(e fit.Estimate, median float64) []string {
	return []string{view.Center(e), significant(median), significant(e.Center / median)}
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
	width := func(c compare.FleetCell) float64 { return c.Time.Deviation / c.Time.Median }
	falling := slices.SortedStableFunc(slices.Values(cells), func(a, b compare.FleetCell) int { return cmp.Compare(width(b), width(a)) })
	widest := make(map[params.Key]bool)
	for _, c := range falling[:min(mostInSurvey, len(falling))] {
		widest[c.Key] = true
	}
	return lists.Filter(cells, func(c compare.FleetCell) bool { return widest[c.Key] })
}

// spreads says what the cells of a spread are.
const spreads = "least … most, ± robust standard deviation"

func spread(s fit.Spread) []string {
	if s == (fit.Spread{}) {
		return []string{"?", "", ""}
	}
	return []string{significant(s.Median), significant(s.Least) + " … " + significant(s.Most), fmt.Sprintf("±%.1f %%", 100*s.Deviation/s.Median)}
}

// values have a row for each machine, channel and τ, with the median of all and
// the robust z-score, then one for each machine and cell of a survey.
func (o *overview) values() view.Table {
	out := view.Table{Columns: view.Words(append(slices.Clone(keyColumns),
		"L_ns", "L_lo_ns", "L_hi_ns", "bandwidth_GBs", "A", "median_L_ns", "deviation_L_ns", "z", "state_ns", "state_share")...)}
	add := func(k params.Key, all fit.Spread, s compare.Score) {
		out.Add(keyCells(k, s.Machine), bounds(s.L), s.Bandwidth, s.A, all.Median, all.Deviation, s.Z, stateCells(o.State, s.Machine))
	}
	for _, t := range o.Tables {
		for _, r := range t.Rows {
			for _, s := range r.Scores {
				add(channelKey(t.Channel, r.Tau), r.L, s)
			}
		}
	}
	for _, k := range o.Surveys {
		for _, c := range k.Cells {
			for _, s := range c.Scores {
				add(c.Key, c.Time, s)
			}
		}
	}
	return out
}
