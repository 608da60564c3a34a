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
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// inEach is a file in each of its states of Settled of the time or more; none where the
// machine was in one.
func inEach(f *params.File) []compare.Machine {
	if len(f.States()) == 0 {
		return nil
	}
	return lists.Filter(compare.Machine{File: f}.Each(), func(m compare.Machine) bool { return m.File.State() != nil })
}

// A stateColumn is a number of each state, "" where it is not known.
type stateColumn struct {
	view.Column
	of func(params.State) string
}

// sayStates has a row for each state of that many workers, the most frequent first, with its share of
// the time, how long it lasts in the median, and what was found in it; below it what is to know of states.
// Nothing of a machine without.
func sayStates(w *document.Document, workers int, states []params.State, found ...stateColumn) {
	if len(states) == 0 {
		return
	}
	falling := slices.SortedStableFunc(slices.Values(states), func(a, b params.State) int { return cmp.Compare(b.Share, a.Share) })
	columns := []stateColumn{
		{view.Column{Name: flagName(workers), Left: true}, params.State.Name},
		{view.Column{Name: "of the time", Unit: "%"}, func(s params.State) string { return fmt.Sprint(s.Percent()) }},
	}
	if slices.ContainsFunc(states, func(s params.State) bool { return s.Lasts > 0 }) {
		columns = append(columns, stateColumn{view.Column{Name: "lasts", Unit: "s"}, func(s params.State) string {
			if s.Lasts == 0 {
				return ""
			}
			return view.Digits(s.Lasts, s.Lasts/10)
		}})
	}
	columns = append(columns, found...)
	t := view.Table{Columns: lists.Map(columns, func(c stateColumn) view.Column { return c.Column })}
	if len(states) > 1 {
		t.Title = fmt.Sprintf("The machine was in %d states, told apart by what %s takes:", len(states), flagOf(workers))
	}
	for _, state := range falling {
		t.Add(lists.Map(columns, func(c stateColumn) string { return c.of(state) }))
	}
	switch slowed := lists.Filter(states, func(s params.State) bool { return s.Slow > 0 }); len(slowed) {
	case 0:
	case len(states):
		t.Note("Cores were slowed all the time: sums took longer than on a core alone, as with another program or guest of the host on it. Stop what else runs, or measure at another time.")
	default:
		t.Note("Slowed is a state in which sums take a core longer than usual, as with another program or guest of the host on it.")
	}
	w.Table(t)
}

// flagName is what a null transfer of that many workers is called, the time of which names a state.
func flagName(workers int) string {
	names := [...]string{1: "an instruction", 2: "flag"}
	if workers < len(names) {
		return names[workers]
	}
	return "round of flags"
}

// flagIn is its time in a state.
func flagIn(workers int, state params.State) string { return flagName(workers) + " " + state.Name() }

// flagOf says what it is.
func flagOf(workers int) string {
	switch workers {
	case 1:
		return "an instruction"
	case 2:
		return "a flag from one to the other"
	}
	return "a round of flags"
}

// copies is y(τ) and c(S,τ) = L − y of a setup in each state, a row for each τ.
func copies(in []compare.Machine, setup string, policy numa.Policy, off bool) view.Table {
	plan := in[0].File.Plan
	t := view.Table{Title: fmt.Sprintf("y(τ) and c(%s,τ) = L − y in ns by what a flag takes, %s, placement %s, %s", view.Bytes(plan.SegmentBytes), setup, policy, view.Cache(off))}
	t.Columns = view.Numbers("τ")
	for _, of := range []string{"y", "c"} {
		for _, m := range in {
			t.Columns = append(t.Columns, view.Column{Name: of, Unit: m.File.State().Name()})
		}
	}
	for _, tau := range plan.Taus {
		if tau == 1 && setup != params.Isolated && slices.ContainsFunc(in[0].File.Cells, func(c params.Cell) bool { return c.Setup == params.Isolated }) {
			continue // one worker's y and copy are not those of two
		}
		var ys, cs []string
		known := false
		for _, m := range in {
			find := func(kind params.Kind, bytes int, off bool) fit.Estimate {
				key := params.Key{Kind: kind, Setup: setup, Placement: policy, OffCache: off, Tau: tau, Bytes: bytes}
				for _, c := range m.File.Cells {
					if c.Key == key {
						known = known || kind == params.TransferCell || !off
						return c.Segment()
					}
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

// writeReachByState says how well cells are known in each state, and how many samples were
// taken while the machine changed it.
func writeReachByState(w *document.Document, f *params.File) {
	for _, m := range inEach(f) {
		fmt.Fprintf(w, "%s of the time: %s\n", compare.InWords(*m.File.State()), within(m.File.Widths()))
	}
	sorting := f.Sort()
	samples, moved := 0, 0
	for _, c := range f.Cells {
		for _, s := range c.Samples {
			switch sorting.Of(s) {
			case params.Moved:
				moved++
				samples++
			case params.AnyState:
			default:
				samples++
			}
		}
	}
	if moved > 0 {
		fmt.Fprintf(w, "during %d of %d samples the machine changed its state: they count for none\n", moved, samples)
	}
}
