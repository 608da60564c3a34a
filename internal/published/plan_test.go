package published

import (
	"math"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
)

// Two settings a case timed beside the library's own choice leave 1.0 % or less, rounded, in less than 30 % of
// the time of all. Ranks bound to a socket float, and single runs take up to 400 times as long as those beside
// them: there a plan is held to 3 % of a table whose times are medians with their neighbours'. How little any
// prediction could help in the table itself is logged.
func TestPlans(t *testing.T) {
	table, f := measured(t, "orfeo-epyc7h12")
	e := must.Get(Compare(table, f, model.Choice{}, Choice{AtOnce: true})).Evaluate(0.02)
	plans := e.Plans()
	if len(plans) < 6 {
		t.Fatalf("%d plans", len(plans))
	}
	for _, p := range plans {
		own, of, most := p.Timings[0], p.Timings[len(p.Timings)-1], 0.0105
		if p.Mapping == "socket" {
			cells, cases := e.planned(p.Collective, p.Mapping)
			by := make([]plan.Cell, len(cells))
			for i, j := range besides(cases, false) {
				by[i] = j.cell()
				for o := range by[i].Options {
					by[i].Options[o].Seconds = j.took(by[i].Options[o].Setting)
				}
			}
			everywhere := judge("by neighbours", by, cases, cheapest(by, plan.Most))
			quiet := besides(cases, true)
			own, of, most = judge("own", cells, quiet, cheapest(cells, 0)), judge("a plan", cells, quiet, pick(cells)), 0.03
			t.Logf("%s by socket: a plan %.2g %%, of medians with neighbours %.2g; two settings in every case by neighbours' medians %.2g",
				p.Collective, 100*p.Timings[len(p.Timings)-1].Penalty.Mean, 100*of.Penalty.Mean, 100*everywhere.Penalty.Mean)
		}
		if of.Penalty.Mean > most || of.Time > 0.3 || !(of.Penalty.Mean < own.Penalty.Mean) {
			t.Errorf("%s by %s: the penalty is %.3g (own choice %.3g), in %.3g of the time", p.Collective, p.Mapping, of.Penalty.Mean, own.Penalty.Mean, of.Time)
		}
	}
}

// besides are cases whose times are medians of those up to two sizes and two numbers of ranks away, with the
// case itself or without.
func besides(cases []*Judged, itself bool) (all []*Judged) {
	type at struct{ p, m int }
	there := make(map[at]*Judged)
	var ps, ms []int
	for _, j := range cases {
		there[at{j.P, j.Bytes}] = j
		ps, ms = append(ps, j.P), append(ms, j.Bytes)
	}
	near := func(of []int, v int) []int {
		slices.Sort(of)
		of = slices.Compact(slices.Clone(of))
		i := slices.Index(of, v)
		return of[max(0, i-2):min(len(of), i+3)]
	}
	for _, j := range cases {
		n := *j
		n.cells, n.BestNs = nil, math.Inf(1)
		for _, cell := range j.cells {
			var logs []float64
			for _, p := range near(ps, j.P) {
				for _, m := range near(ms, j.Bytes) {
					if of := there[at{p, m}]; of != nil && (itself || of != j) {
						if seconds := of.took(cell.Setting); seconds > 0 {
							logs = append(logs, math.Log(seconds))
						}
					}
				}
			}
			of := *cell
			of.Time = Ranks{Mean: 1e9 * math.Exp(fit.Median(logs).Center)}
			n.BestNs, n.cells = min(n.BestNs, of.Time.Mean), append(n.cells, &of)
		}
		all = append(all, &n)
	}
	return all
}
