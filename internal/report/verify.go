package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// A Verification is measured collectives with what the models say of them.
type Verification verify.Result

// WriteText writes a table for each P and state of the cache, then the means.
func (v *Verification) WriteText(w io.Writer) {
	fmt.Fprintln(w, machine(v.Provenance))
	fmt.Fprintf(w, "channels of %d segments of %s; parameters: %s\n", v.Segments, view.Bytes(v.SegmentBytes), v.Parameters)
	for _, g := range v.LogGP {
		fmt.Fprintf(w, "LogGP %s: L = %.4g ns, o = %.4g ns, g = %.4g ns, G = %.4g ns/KB\n", view.Cache(g.OffCache),
			1e9*g.Latency, 1e9*g.Overhead, 1e9*g.Gap, 1024e9*g.GapPerByte)
	}
	type experiment struct {
		p   int
		off bool
	}
	for _, rows := range grouped(v.Rows, func(r verify.Row) experiment { return experiment{r.P, r.OffCache} }) {
		writeTables(w, verified(rows))
	}
	if len(v.Means) == 0 {
		return
	}
	t := view.Table{Title: "Mean relative errors, %", Columns: view.Numbers(append([]string{"P", "user data", "of"}, verify.Models...)...)}
	for _, m := range v.Means {
		t.Add(m.P, view.Cache(m.OffCache), m.Of, percents(m.Errors...))
	}
	writeTables(w, t)
}

func verified(rows []verify.Row) view.Table {
	t := view.Table{
		Title:   fmt.Sprintf("P = %d, user data %s; times in µs, errors in %% of what was measured", rows[0].P, view.Cache(rows[0].OffCache)),
		Columns: append(view.Numbers("algorithm", "m", "measured", "95 % interval"), beside(verify.Models...)...),
	}
	if rows[0].Forced {
		t.Title += fmt.Sprintf("\nFORCED: %d ranks take turns on fewer CPUs; these times are no measurement of an algorithm", rows[0].P)
	}
	extrapolated := false
	for _, r := range rows {
		us := r.Measured.Scale(1e-3)
		var none []string // of a run that was stopped
		for range verify.Models[len(r.Predicted):] {
			none = append(none, "–", "–")
		}
		t.Add(r.Name, view.Bytes(r.Bytes), view.Center(us), view.Interval(us), predicted(r.Predicted, r.Measured.Center), none)
		extrapolated = extrapolated || slices.ContainsFunc(r.Predicted, func(p verify.Prediction) bool { return p.Extrapolated })
	}
	if extrapolated {
		t.Note("~ extrapolated: m or τ is beyond what was measured")
	}
	return t
}

// WriteJSON writes the document.
func (v *Verification) WriteJSON(w io.Writer) error { return view.WriteJSON(w, v) }
