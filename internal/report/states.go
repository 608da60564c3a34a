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
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// inEach is a file in each state with a share of Settled or more; nil without several states.
func inEach(f *params.File) []compare.Machine {
	if len(f.States()) == 0 {
		return nil
	}
	return lists.Filter(compare.Machine{File: f}.Each(), func(m compare.Machine) bool { return m.File.State() != nil })
}

// A stateColumn has a cell for each state, "" if its value is unknown.
type stateColumn struct {
	view.Column
	cell func(params.State) string
}

// sayStates writes a row for each state, the most frequent first: what a flag among the workers takes, share
// of the time, median duration, and the columns found.
func sayStates(w *document.Document, workers int, states []params.State, found ...stateColumn) {
	falling := slices.SortedStableFunc(slices.Values(states), func(a, b params.State) int { return cmp.Compare(b.Share, a.Share) })
	columns := append([]stateColumn{
		{view.Column{Name: flag(workers).name, Left: true}, params.State.Name},
		{view.Column{Name: "of the time", Unit: "%"}, func(s params.State) string { return fmt.Sprint(s.Percent()) }},
		{view.Column{Name: "lasts", Unit: "s"}, func(s params.State) string {
			return printable.If(s.Lasts != 0, view.Digits(s.Lasts, s.Lasts/10))
		}},
	}, found...)
	t := view.Table{Columns: lists.Map(columns, func(c stateColumn) view.Column { return c.Column })}
	if len(states) > 1 {
		t.Title = fmt.Sprintf("The machine was in %d states, told apart by what %s takes:", len(states), flag(workers).phrase)
	}
	for _, state := range falling {
		t.Add(lists.Map(columns, func(c stateColumn) string { return c.cell(state) }))
	}
	t.DropEmpty()
	switch slowed := lists.Filter(states, func(s params.State) bool { return s.Slow > 0 }); len(slowed) {
	case 0:
	case len(states):
		t.Note("Cores were slowed all the time: sums took longer than on a core alone, as with another program or guest of the host on it. Stop what else runs, or measure at another time.")
	default:
		t.Note("Slowed is a state in which sums take a core longer than usual, as with another program or guest of the host on it.")
	}
	w.Table(t)
}

// A nullTransfer is what tells states of a number of workers apart: its name, and a phrase.
type nullTransfer struct{ name, phrase string }

func flag(workers int) nullTransfer {
	switch workers {
	case 1:
		return nullTransfer{"an instruction", "an instruction"}
	case 2:
		return nullTransfer{"flag", "a flag from one to the other"}
	}
	return nullTransfer{"round of flags", "a round of flags"}
}

// flagIn names a state: flag 60 ns.
func flagIn(workers int, state params.State) string { return flag(workers).name + " " + state.Name() }

// copies is y(τ) and c(S,τ) = L − y of a setup in each state, a row for each τ.
func copies(states []compare.Machine, setup string, policy numa.Policy, off bool) view.Table {
	plan := states[0].File.Plan
	t := view.Table{Title: fmt.Sprintf("y(τ) and c(%s,τ) = L − y in ns by what a flag takes, %s, placement %s, %s", view.Bytes(plan.SegmentBytes), setup, policy, view.Cache(off))}
	t.Columns = view.Numbers("τ")
	for _, name := range []string{"y", "c"} {
		for _, m := range states {
			t.Columns = append(t.Columns, view.Column{Name: name, Unit: m.File.State().Name()})
		}
	}
	for _, tau := range plan.Taus {
		if tau == 1 && setup != params.Isolated && slices.ContainsFunc(states[0].File.Cells, func(c params.Cell) bool { return c.Setup == params.Isolated }) {
			continue // y and c of one worker differ from those between two
		}
		var ys, cs []string
		known := false
		for _, m := range states {
			find := func(kind params.Kind, bytes int, off bool) fit.Estimate {
				key := params.Key{Kind: kind, Setup: setup, Placement: policy, OffCache: off, Tau: tau, Bytes: bytes}
				if c := lists.Find(m.File.Cells, func(c params.Cell) bool { return c.Key == key }); c != nil {
					known = known || kind == params.TransferCell || !off
					return c.Segment()
				}
				return fit.Median(nil)
			}
			y := find(params.NullCell, 0, false)
			ys = append(ys, view.Center(y))
			cs = append(cs, view.Center(fit.Copy(find(params.TransferCell, plan.SegmentBytes, off), y)))
		}
		if known {
			t.Add(tau, ys, cs)
		}
	}
	return t
}

// writeReachByState states the widths of intervals in each state, and the number of samples during
// which the state changed.
func writeReachByState(w *document.Document, f *params.File) {
	for _, m := range inEach(f) {
		fmt.Fprintf(w, "%s of the time: %s\n", compare.InWords(*m.File.State()), within(m.File.Widths()))
	}
	sorting := f.Sort()
	samples, moved := 0, 0
	for _, c := range f.Cells {
		for _, s := range c.Samples {
			in := sorting.Of(s)
			samples += lists.FalseFirst(in != params.AnyState)
			moved += lists.FalseFirst(in == params.Moved)
		}
	}
	w.Lines(printable.If(moved > 0, fmt.Sprintf("during %d of %d samples the machine changed its state: they count for none", moved, samples)))
}
