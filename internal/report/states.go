package report

import (
	"fmt"
	"slices"
	"strings"

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

// writeStates says in which states the machine was; nothing where that is one.
func writeStates(w *document.Document, f *params.File) {
	states := f.States()
	if len(states) == 0 {
		return
	}
	writeWhy(w, states, flagOf(2), ", "+params.StateList(states))
	writeLasts(w, states)
	fmt.Fprintln(w)
}

// writeWhy says what states are and by what they are told apart; flag is what names them.
func writeWhy(w *document.Document, states []params.State, flag, which string) {
	if len(states) > 1 {
		fmt.Fprintf(w, "The machine was in %d states, told apart by what %s takes%s.\n", len(states), flag, which)
	}
	slowed := lists.Filter(states, func(s params.State) bool { return s.Slow > 0 })
	switch len(slowed) {
	case 0:
	case len(states):
		fmt.Fprintln(w, "Cores were slowed all the time: sums took longer than on a core alone, as with another program or guest of the host on it. Stop what else runs, or measure at another time.")
	default:
		fmt.Fprintln(w, "Slowed is a state in which sums take a core longer than usual, as with another program or guest of the host on it.")
	}
}

// writeLasts says how long states last; nothing where none was seen to end.
func writeLasts(w *document.Document, states []params.State) {
	var lasts []string
	for _, of := range states {
		if of.Lasts > 0 {
			lasts = append(lasts, fmt.Sprintf("%s: %s s", of.Name(), view.Digits(of.Lasts, of.Lasts/10)))
		}
	}
	if len(lasts) > 0 {
		fmt.Fprintf(w, "How long a state lasts, in the median: %s.\n", strings.Join(lasts, ", "))
	}
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
