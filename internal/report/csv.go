package report

import (
	"math"
	"strings"

	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping/heuristic"
)

// Tables for programs: units in the heads, six digits, and an empty cell for an unknown value.

// values have a row for each k and state.
func (s *Series) values() view.Table {
	t := view.Table{Columns: view.Words("setup", "placement", "off_cache", "tau", "segment_bytes", "k", "m_bytes", "l_ns", "l_lo_ns", "l_hi_ns", "L_ns", "L_lo_ns", "L_hi_ns", "launches", "state_ns", "state_share", "state_slowed")}
	add := func(rows []series.Row, state ...any) {
		for _, r := range rows {
			t.Add(s.Setup, s.Placement.Policy, s.OffCache, s.Tau, s.SegmentBytes, r.K, r.Bytes, bounds(r.Message), bounds(r.Transfer), r.Message.N, state)
		}
	}
	if len(s.States) == 0 {
		add(s.Rows, nil, nil, nil)
	}
	for _, state := range s.States {
		add(state.Rows, state.NS, state.Share, state.Slow > 0)
	}
	return t
}

// valueRows have a row for each measured time.
func valueRows(rows []verify.Row, models []string) view.Table {
	t := view.Table{Columns: view.Words("algorithm", "P", "m_bytes", "off_cache", "measured_ns", "measured_lo_ns", "measured_hi_ns", "on_grid")}
	t.Columns = append(append(t.Columns, predictedHeads(models)...), view.Words("state_ns", "state_share", "state_slowed")...)
	for _, r := range rows {
		var state []any
		if r.State.NS > 0 {
			state = []any{r.State.NS, r.State.Share, r.State.Slow > 0}
		}
		t.Add(r.Name, r.P, r.Bytes, r.OffCache, bounds(r.Measured), r.OnGrid, predictedCells(r.Predicted, models), state)
	}
	return t
}

// values have a row for each time that the benchmark printed.
func (a *Against) values() view.Table {
	t := view.Table{Columns: view.Words("suite", "benchmark", "algorithm", "P", "m_bytes", "measured_ns", "measured_lo_ns", "measured_hi_ns")}
	t.Columns = append(t.Columns, predictedHeads(verify.AgainstModels)...)
	t.Columns = append(t.Columns, view.Words("nearest_algorithm")...)
	for _, r := range a.Rows {
		nearest := ""
		if r.Nearest != nil {
			nearest = r.Nearest.Algorithm
		}
		t.Add(r.Suite, r.Benchmark, r.Predicted.Algorithm, r.P, r.Bytes, bounds(r.Measured), predictedCells(r.Predicted.Models, verify.AgainstModels), nearest)
	}
	return t
}

// values have a row for each mapping and level; the mapping's total cost repeats.
func (r *processMap) values() view.Table {
	t := view.Table{Columns: view.Words("matrix", "processes", "nodes", "mapping", "best", "hop_bytes", "predicted_ns", "gain_over_block", "gain_over_cyclic", "extrapolated",
		"level", "hops", "level_bytes", "level_messages", "level_predicted_ns")}
	for _, m := range r.Mappings {
		for i, level := range m.Levels {
			ns, levelNs := math.NaN(), math.NaN()
			if m.Seconds != nil {
				ns, levelNs = *m.Seconds*1e9, level.Seconds*1e9
			}
			t.Add(r.Matrix, r.Processes, r.Nodes, m.Method, m.Method == r.Best, m.HopBytes, ns, m.OverBlock, m.OverCyclic, m.Extrapolated,
				r.Levels[i], heuristic.Hops(i), level.Bytes, level.Messages, levelNs)
		}
	}
	return t
}

// predictedHeads are the heads of each model's time and error.
func predictedHeads(models []string) (columns []view.Column) {
	for _, m := range models {
		m = strings.NewReplacer(" ", "_", "'", "").Replace(m)
		columns = append(columns, view.Words(m+"_ns", m+"_error")...)
	}
	return columns
}

func predictedCells(predictions []verify.Prediction, models []string) (cells []any) {
	for _, m := range models {
		if p := predictionOf(predictions, m); p != nil {
			cells = append(cells, p.Ns, p.Error)
		} else {
			cells = append(cells, nil, nil)
		}
	}
	return cells
}

// values have a row for each term of each formula, or for each range of sizes with one cheapest
// algorithm.
func (d *explanations) values() view.Table {
	if len(d.Comparisons) > 0 {
		t := view.Table{Columns: view.Words("P", "from_bytes", "to_bytes", "cheapest", "advantage", "extrapolated")}
		for _, c := range d.Comparisons {
			for _, in := range c.Intervals {
				t.Add(c.P, in.From, in.To, strings.Join(in.Cheapest, " "), in.Advantage, in.Extrapolated)
			}
		}
		return t
	}
	t := view.Table{Columns: view.Words("collective", "algorithm", "P", "m_bytes", "parameter", "times", "value_us", "cost_us", "share", "extrapolated")}
	for _, c := range d.Calls {
		for _, term := range c.Terms {
			t.Add(c.Collective, c.Algorithm, c.P, c.Bytes, term.Parameter, term.Times, term.Value, term.Microseconds, term.Share, term.Extrapolated)
		}
	}
	return t
}

// values have a row for each CPU, or for each worker of the placements.
func (t *Topology) values() view.Table {
	if len(t.Placements) > 0 {
		all := view.Table{Columns: view.Words("placement", "worker", "cpu", "core", "package", "node", "user_node", "intermediate_node", "distance")}
		for _, p := range t.Placements {
			for i, w := range p.Workers {
				all.Add(p.Policy, i, w.ID, w.Core, w.Package, w.Node, w.UserNode, w.IntermediateNode, w.Distance)
			}
		}
		return all
	}
	cpus := view.Table{Columns: view.Words("cpu", "core", "thread", "package", "node", "allowed")}
	for _, c := range t.Machine.CPUs {
		cpus.Add(c.ID, c.Core, c.Thread, c.Package, c.Node, t.Machine.Allowed.Contains(c.ID))
	}
	return cpus
}
