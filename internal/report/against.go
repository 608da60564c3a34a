package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Against holds times that an MPI benchmark printed, beside predictions.
type Against struct {
	predict.Source
	Output  string               `json:"output"` // the file that holds what the benchmark printed
	Rows    []verify.Compared    `json:"rows"`
	Means   []verify.AgainstMean `json:"means"`
	LeftOut []mpibench.Omission  `json:"left_out"`
}

// Document is the result in all output formats.
func (a *Against) Document() *document.Document {
	return made("taulop verify -against", a, (*Against).values, (*Against).say)
}

func (a *Against) say(w *document.Document) {
	fmt.Fprintln(w, a.answer())
	type benchmark struct {
		suite, name string
		p           int
	}
	for _, rows := range lists.Groups(a.Rows, func(r verify.Compared) benchmark { return benchmark{r.Suite, r.Benchmark, r.P} }) {
		w.Tables(compared(rows))
	}
	if len(a.Means) > 0 {
		w.Tables(a.means())
	}
	var n notes
	n.beyond(a.Source, slices.ContainsFunc(a.Rows, func(r verify.Compared) bool {
		return extrapolated(r.Predicted.Models) || r.Nearest != nil && extrapolated(r.Nearest.Models[:1])
	}))
	for _, alike := range lists.Groups(a.LeftOut, func(o mpibench.Omission) string { return o.Why }) {
		names := lists.Map(alike, func(o mpibench.Omission) string { return fmt.Sprintf("%s (line %d)", o.Benchmark, o.Line) })
		n.add(true, "Left out: %s: %s.", strings.Join(names, ", "), alike[0].Why)
	}
	n.say(w)
	fmt.Fprint(w, "\nPredicted: ")
	saySource(w, a.Source)
	fmt.Fprintf(w, "Measured: %s\n", a.Output)
}

// answer states the mean error of each model over the rows that all models predict.
func (a *Against) answer() string {
	rows, sums := 0, make([]float64, len(verify.AgainstModels))
	for _, m := range a.Means {
		rows += m.Rows
		for i, off := range m.Errors {
			sums[i] += float64(m.Rows) * off
		}
	}
	if rows == 0 {
		return "No model predicts these times."
	}
	var off []string
	for i, sum := range sums {
		off = append(off, fmt.Sprintf("%s by %s %%", verify.AgainstModels[i], percent(sum/float64(rows))))
	}
	return fmt.Sprintf("Off on average of %s: %s.", printable.Count(rows, "measured time"), strings.Join(off, ", "))
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

// compared is the table of one benchmark. Point-to-point rows have no algorithm and no Nearest.
func compared(measured []verify.Compared) view.Table {
	first, models := measured[0], verify.AgainstModels
	name := first.Benchmark
	several := slices.ContainsFunc(measured, func(r verify.Compared) bool { return r.Predicted.Algorithm != first.Predicted.Algorithm })
	nearest := slices.ContainsFunc(measured, func(r verify.Compared) bool { return r.Nearest != nil })
	keys, beside := view.Numbers("m"), predictedColumns(models...)
	switch as := first.Predicted.Algorithm; {
	case several:
		name += " as the library chooses"
		keys = append(keys, view.Numbers("algorithm")...)
	case as != "":
		name += " as " + as
	}
	if nearest {
		beside = append(append(beside, view.Numbers("nearest algorithm")...), predictedColumns(models[0])...)
	}
	short := func(algorithm string) string { // without its collective
		_, name, _ := strings.Cut(algorithm, ":")
		return name
	}
	var rows []timedRow
	for _, r := range measured {
		row := timedRow{[]any{view.Bytes(r.Bytes)}, r.Measured, []any{predicted(r.Predicted.Models, models...)}}
		if several {
			row.keys = append(row.keys, short(r.Predicted.Algorithm))
		}
		if r.Nearest != nil {
			row.beside = append(row.beside, short(r.Nearest.Algorithm), predicted(r.Nearest.Models, models[0]))
		}
		rows = append(rows, row)
	}
	return measuredTable(fmt.Sprintf("%s, P = %d; errors in %% of what was measured", name, first.P), keys, beside, rows)
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
