package report

import (
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/view"
)

// timedTable says what timing some settings is worth.
func timedTable(plans []published.Planned) view.Table {
	t := view.Table{Title: "Penalties where some settings are timed and the quickest is taken, %", Columns: append(view.Words("collective", "mapping", "timed"),
		view.Numbers("cases", "mean", "worst", "of all runs", "of their time")...)}
	for _, p := range plans {
		for _, of := range p.Timings {
			t.Add(p.Collective, p.Mapping, of.Of, of.Cases, percents(of.Penalty.Mean, of.Penalty.Worst), percents(of.Runs, of.Time))
		}
	}
	t.Note("own: the library's own choice; cheapest: predicted; a plan: what taulop tune -plan would have had timed")
	return t
}
