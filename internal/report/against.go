package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Against is times that an MPI benchmark printed, with what the models say.
type Against struct {
	Source
	Output  string               `json:"output"` // the file that holds what the benchmark printed
	Rows    []verify.Compared    `json:"rows"`
	Means   []verify.AgainstMean `json:"means"`
	LeftOut []mpibench.Omission  `json:"left_out"`
}

// WriteText writes a table for each benchmark and P, then the means.
func (a *Against) WriteText(w io.Writer) {
	fmt.Fprint(w, "predicted: ")
	a.Source.WriteText(w)
	fmt.Fprintf(w, "measured: %s\n", a.Output)
	extrapolated := false
	for rows := a.Rows; len(rows) > 0; {
		n := 0
		for n < len(rows) && rows[n].P == rows[0].P && rows[n].Benchmark == rows[0].Benchmark && rows[n].Suite == rows[0].Suite {
			n++
		}
		extrapolated = writeAgainstRows(w, rows[:n]) || extrapolated
		rows = rows[n:]
	}
	fmt.Fprintf(w, "\nMean relative errors, %%\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "benchmark\tP\trows\t%s\t", strings.Join(verify.AgainstModels, "\t"))
	nearest := false
	for _, m := range a.Means {
		nearest = nearest || m.Nearest != nil
	}
	if nearest {
		fmt.Fprint(t, "nearest\t")
	}
	fmt.Fprintln(t)
	for _, m := range a.Means {
		fmt.Fprintf(t, "%s\t%d\t%d\t", m.Benchmark, m.P, m.Rows)
		for _, e := range m.Errors {
			fmt.Fprintf(t, "%.1f\t", 100*e)
		}
		if m.Nearest != nil {
			fmt.Fprintf(t, "%.1f\t", 100**m.Nearest)
		} else if nearest {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if nearest {
		fmt.Fprintln(w, "nearest: each time has chosen the algorithm that suits it best, so this bounds the error from below and tests no model")
	}
	a.WriteNotes(w, extrapolated, nil)
	a.writeLeftOut(w)
}

// writeLeftOut writes a line for each reason.
func (a *Against) writeLeftOut(w io.Writer) {
	var whys []string
	what := make(map[string][]string)
	for _, o := range a.LeftOut {
		if what[o.Why] == nil {
			whys = append(whys, o.Why)
		}
		what[o.Why] = append(what[o.Why], fmt.Sprintf("%s (line %d)", o.Benchmark, o.Line))
	}
	for _, why := range whys {
		fmt.Fprintf(w, "Left out: %s: %s.\n", strings.Join(what[why], ", "), why)
	}
}

func writeAgainstRows(w io.Writer, rows []verify.Compared) (extrapolated bool) {
	first := rows[0]
	fmt.Fprintf(w, "\n%s", first.Benchmark)
	if first.Predicted.Algorithm != "" {
		fmt.Fprintf(w, " as %s", first.Predicted.Algorithm)
	}
	fmt.Fprintf(w, ", P = %d; times in µs, errors in %% of what was measured\n", first.P)
	intervals, nearest := false, false
	for _, r := range rows {
		intervals = intervals || r.Measured.Known()
		nearest = nearest || r.Nearest != nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "m\tmeasured\t")
	if intervals {
		fmt.Fprint(t, "95 % interval\t")
	}
	for _, name := range verify.AgainstModels {
		fmt.Fprintf(t, "%s\terror\t", name)
	}
	if nearest {
		fmt.Fprintf(t, "nearest algorithm\t%s\terror\t", verify.AgainstModels[0])
	}
	fmt.Fprintln(t)
	for _, r := range rows {
		us := r.Measured.Scale(1e-3)
		fmt.Fprintf(t, "%s\t", view.Bytes(r.Bytes))
		if us.Known() {
			fmt.Fprintf(t, "%s\t%s\t", view.Center(us), view.Interval(us))
		} else {
			fmt.Fprintf(t, "%s\t", Microseconds(us.Center, false))
			if intervals {
				fmt.Fprint(t, "\t")
			}
		}
		predictions := func(ps []verify.Prediction) {
			for _, p := range ps {
				fmt.Fprintf(t, "%s\t%s\t", Microseconds(p.Ns/1e3, p.Extrapolated), percent(p.Ns, r.Measured.Center))
				extrapolated = extrapolated || p.Extrapolated
			}
		}
		predictions(r.Predicted.Models)
		if r.Nearest != nil {
			_, name, _ := strings.Cut(r.Nearest.Algorithm, ":")
			fmt.Fprintf(t, "%s\t", name)
			predictions(r.Nearest.Models[:1])
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	return extrapolated
}

// percent writes how far a prediction is off.
func percent(predicted, measured float64) string {
	p := 100 * (predicted - measured) / measured
	if math.Abs(p) >= 1000 {
		return fmt.Sprintf("%+.0f", p)
	}
	return fmt.Sprintf("%+.1f", p)
}

// WriteJSON writes the document.
func (a *Against) WriteJSON(w io.Writer) error {
	if a.LeftOut == nil {
		a.LeftOut = []mpibench.Omission{}
	}
	return writeJSON(w, a)
}
