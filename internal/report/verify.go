package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// A Verification is measured collectives with what the models say of them.
type Verification verify.Result

// WriteText writes a table for each P and state of the cache, then the means.
func (v *Verification) WriteText(w io.Writer) {
	writeSetting(w, v.Setting)
	for _, g := range v.LogGP {
		fmt.Fprintf(w, "LogGP %s: L = %.4g ns, o = %.4g ns, g = %.4g ns, G = %.4g ns/KB\n", view.Cache(g.OffCache),
			1e9*g.Latency, 1e9*g.Overhead, 1e9*g.Gap, 1024e9*g.GapPerByte)
	}
	for _, rows := range view.Grouped(v.Rows, experimentOf) {
		writeTables(w, besideModels(fmt.Sprint(experimentOf(rows[0])), "an algorithm", rows, nil, verify.Models))
	}
	writeMeans(w, "Mean relative errors, %", v.Means, verify.Models)
}

func writeSetting(w io.Writer, s verify.Setting) {
	fmt.Fprintln(w, machine(s.Provenance))
	fmt.Fprintf(w, "channels of %d segments of %s; parameters: %s\n", s.Segments, view.Bytes(s.SegmentBytes), s.Parameters)
}

// An experiment is what has a table.
type experiment struct {
	p   int
	off bool
}

func experimentOf(r verify.Row) experiment { return experiment{r.P, r.OffCache} }

func (x experiment) String() string {
	return fmt.Sprintf("P = %d, user data %s", x.p, view.Cache(x.off))
}

// besideModels is a table of what was measured of, say, an algorithm and what models say
// of it. Rows may be medians over so many variants.
func besideModels(title, what string, rows []verify.Row, variants []int, models []string) view.Table {
	_, name, _ := strings.Cut(what, " ")
	t := view.Table{Title: title + "; times in µs, errors in % of what was measured", Columns: view.Numbers(name)}
	if rows[0].Forced {
		t.Title += fmt.Sprintf("\nFORCED: %d ranks take turns on fewer CPUs; these times are no measurement of %s", rows[0].P, what)
	}
	if variants != nil {
		t.Columns = append(t.Columns, view.Numbers("variants")...)
	}
	t.Columns = append(append(t.Columns, view.Numbers("m", "measured", "95 % interval")...), beside(models...)...)
	extrapolated := false
	for i, r := range rows {
		us := r.Measured.Scale(1e-3)
		var of []any
		if variants != nil {
			of = []any{variants[i]}
		}
		var none []string // of a run that was stopped, or of patterns without a line
		for range models[len(r.Predicted):] {
			none = append(none, "–", "–")
		}
		t.Add(r.Name, of, view.Bytes(r.Bytes), view.Center(us), view.Interval(us), none, predicted(r.Predicted, r.Measured.Center))
		extrapolated = extrapolated || slices.ContainsFunc(r.Predicted, func(p verify.Prediction) bool { return p.Extrapolated })
	}
	if extrapolated {
		t.Note("~ extrapolated: m or τ is beyond what was measured")
	}
	return t
}

func writeMeans(w io.Writer, title string, means []verify.Mean, models []string) {
	if len(means) == 0 {
		return
	}
	t := view.Table{Title: title, Columns: view.Numbers(append([]string{"P", "user data", "of"}, models...)...)}
	for _, m := range means {
		t.Add(m.P, view.Cache(m.OffCache), m.Of, percents(m.Errors...))
	}
	writeTables(w, t)
}

// WriteJSON writes the document.
func (v *Verification) WriteJSON(w io.Writer) error { return view.WriteJSON(w, v) }
