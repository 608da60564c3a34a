package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Estimate adds to a file of messages by levels what timed collectives say of it. The table
// says how well they tell it. An error is a sentence.
func Estimate(f *params.File, tables []*tidy.Table, choice Choice) (view.Table, error) {
	var timings []model.Timing
	for _, t := range tables {
		some, err := Timings(t, f, choice)
		if err != nil {
			return view.Table{}, err
		}
		timings = append(timings, some...)
	}
	e, err := model.EstimateLevels(f, nil, timings)
	if err != nil {
		return view.Table{}, err
	}
	f.Cells = append(f.Cells, e.Cells()...)
	for _, t := range tables {
		f.Provenance.Published = append(f.Provenance.Published, printable.Text("estimated from collectives: "+t.Name))
	}
	return estimated(e, len(timings)), nil
}

// WithNetwork is a file of tables with messages between nodes, if it has none, from timed
// collectives of two ranks. The note says so, "" where the file is as it was.
func WithNetwork(f *params.File, tables, timed []*tidy.Table, cores map[string]int, choice Choice) (with *params.File, note string, err error) {
	if slices.ContainsFunc(f.LevelTimes(), func(l params.LevelTimes) bool { return len(l.Groups) == 0 && l.Message != nil }) {
		return f, "", nil
	}
	for _, t := range timed {
		if between := BetweenNodes(t, f, choice); len(between) > 0 {
			with, err := tidy.File(append(slices.Clone(tables), &tidy.Table{Name: t.Name, Messages: between}), cores)
			if err != nil {
				return nil, "", err
			}
			const what = "messages between nodes are what collectives of two ranks on two nodes took, the mean over both, in %s"
			with.Warn(fmt.Errorf(what, printable.Name(t.Name)))
			return with, fmt.Sprintf(what, t.Name), nil
		}
	}
	return f, "", nil
}

// Machine is what tables call their machine, without what follows the name; "" where
// none does.
func Machine(tables []*tidy.Table) string {
	for _, t := range tables {
		name, _, _ := strings.Cut(strings.NewReplacer("(", ",", "[", ",", "{", ",", ";", ",").Replace(t.Machine), ",")
		if name = strings.TrimSpace(name); name != "" {
			return printable.Name(name)
		}
	}
	return ""
}

// estimated says how well timings tell the parameters.
func estimated(e *model.Estimates, timings int) view.Table {
	t := view.Table{Title: fmt.Sprintf("Estimated from %s", printable.Count(timings-e.Skipped, "timing")), Columns: append(view.Words("level", "parameter"),
		view.Column{Name: "sizes", Unit: "told"}, view.Column{Name: "sizes", Unit: "open"}, view.Column{Name: "± (median)", Unit: "%"})}
	type key struct{ level, parameter string }
	var order []key
	by := make(map[key][]model.Estimate)
	for _, one := range e.All {
		k := key{one.Level, one.Parameter}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], one)
	}
	for _, k := range order {
		told := 0
		var errors []float64
		for _, one := range by[k] {
			if !one.Determined {
				continue
			}
			if told++; one.Error > 0 {
				errors = append(errors, 100*one.Error/one.Seconds)
			}
		}
		name := "share"
		if k.parameter == params.ChannelRelay {
			name = "relay"
		}
		var off any
		if len(errors) > 0 {
			off = fmt.Sprintf("%.2g", fit.Median(errors).Center)
		}
		t.Add(k.level, name, fmt.Sprint(told), fmt.Sprint(len(by[k])-told), off)
	}
	t.Notes = append(t.Notes, "share: what each further message at once adds to L(m,τ), at most L(m,1); relay: what passing on what has just arrived takes longer. Open: the timings do not tell it, and it stays what the model takes for it")
	if e.Skipped > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("left out: %s of messages that differ in size, or of sizes with too few", printable.Count(e.Skipped, "timing")))
	}
	return t
}
