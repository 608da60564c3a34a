package report

import (
	"fmt"
	"github.com/taulop/taulop/internal/predict"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Against is times that an MPI benchmark printed, with what the models say.
type Against struct {
	predict.Source
	Output  string               `json:"output"` // the file that holds what the benchmark printed
	Rows    []verify.Compared    `json:"rows"`
	Means   []verify.AgainstMean `json:"means"`
	LeftOut []mpibench.Omission  `json:"left_out"`
}

// Document is what there is to read and to compute with.
func (a *Against) Document() *document.Document {
	return document.New("taulop verify -against", a, document.Rows(a.values), a.say)
}

// say writes a table for each benchmark and P, then the means.
func (a *Against) say(w *document.Document) {
	fmt.Fprint(w, "predicted: ")
	saySource(w, a.Source)
	fmt.Fprintf(w, "measured: %s\n", a.Output)
	type benchmark struct {
		suite, name string
		p           int
	}
	for _, rows := range view.Grouped(a.Rows, func(r verify.Compared) benchmark { return benchmark{r.Suite, r.Benchmark, r.P} }) {
		w.Tables(compared(rows))
	}
	if len(a.Means) > 0 {
		w.Tables(a.means())
	}
	extrapolated := func(ps []verify.Prediction) bool {
		return slices.ContainsFunc(ps, func(p verify.Prediction) bool { return p.Extrapolated })
	}
	sayNotes(w, a.Source, slices.ContainsFunc(a.Rows, func(r verify.Compared) bool {
		return extrapolated(r.Predicted.Models) || r.Nearest != nil && extrapolated(r.Nearest.Models[:1])
	}), nil)
	for _, alike := range view.Grouped(a.LeftOut, func(o mpibench.Omission) string { return o.Why }) {
		names := lists.Map(alike, func(o mpibench.Omission) string { return fmt.Sprintf("%s (line %d)", o.Benchmark, o.Line) })
		fmt.Fprintf(w, "Left out: %s: %s.\n", strings.Join(names, ", "), alike[0].Why)
	}
}

func (a *Against) means() view.Table {
	t := view.Table{Title: "Mean relative errors, %", Columns: view.Numbers(append([]string{"benchmark", "P", "rows"}, verify.AgainstModels...)...), Keys: 2}
	if slices.ContainsFunc(a.Means, func(m verify.AgainstMean) bool { return m.Nearest != nil }) {
		t.Columns = append(t.Columns, view.Numbers("nearest")...)
		t.Note("nearest: each time has chosen the algorithm that suits it best, so this bounds the error from below and tests no model")
	}
	for _, m := range a.Means {
		var nearest []string
		if m.Nearest != nil {
			nearest = percents(*m.Nearest)
		}
		t.Add(m.Benchmark, m.P, m.Rows, percents(m.Errors...), nearest)
	}
	return t
}

// compared are the rows of one benchmark. Only some suites print intervals, and only
// collectives have other algorithms.
func compared(rows []verify.Compared) view.Table {
	name, several := rows[0].Benchmark, slices.ContainsFunc(rows, func(r verify.Compared) bool { return r.Predicted.Algorithm != rows[0].Predicted.Algorithm })
	switch as := rows[0].Predicted.Algorithm; {
	case several:
		name += " as the library chooses"
	case as != "":
		name += " as " + as
	}
	t := view.Table{
		Title:   fmt.Sprintf("%s, P = %d; times in µs, errors in %% of what was measured", name, rows[0].P),
		Columns: view.Numbers("m", "measured"),
	}
	if several {
		t.Columns = slices.Insert(t.Columns, 1, view.Numbers("algorithm")...)
		t.Keys = 2
	}
	intervals := slices.ContainsFunc(rows, func(r verify.Compared) bool { return r.Measured.Known() })
	if intervals {
		t.Columns = append(t.Columns, view.Numbers("95 % interval")...)
	}
	t.Columns = append(t.Columns, beside(verify.AgainstModels...)...)
	if slices.ContainsFunc(rows, func(r verify.Compared) bool { return r.Nearest != nil }) {
		t.Columns = append(append(t.Columns, view.Numbers("nearest algorithm")...), beside(verify.AgainstModels[0])...)
	}
	for _, r := range rows {
		us := r.Measured.Scale(1e-3)
		var measured, nearest []string
		switch {
		case us.Known():
			measured = []string{view.Center(us), view.Interval(us)}
		case intervals:
			measured = []string{microseconds(us.Center, false), ""}
		default:
			measured = []string{microseconds(us.Center, false)}
		}
		if r.Nearest != nil {
			_, name, _ := strings.Cut(r.Nearest.Algorithm, ":")
			nearest = append([]string{name}, predicted(r.Nearest.Models, verify.AgainstModels[:1])...)
		}
		var algorithm []string
		if several {
			_, name, _ := strings.Cut(r.Predicted.Algorithm, ":")
			algorithm = []string{name}
		}
		t.Add(view.Bytes(r.Bytes), algorithm, measured, predicted(r.Predicted.Models, verify.AgainstModels), nearest)
	}
	return t
}
