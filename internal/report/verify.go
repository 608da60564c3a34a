package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
	for rows := v.Rows; len(rows) > 0; {
		n := 0
		for n < len(rows) && rows[n].P == rows[0].P && rows[n].OffCache == rows[0].OffCache {
			n++
		}
		v.writeRows(w, rows[:n])
		rows = rows[n:]
	}
	if len(v.Means) == 0 {
		return
	}
	fmt.Fprintf(w, "\nMean relative errors, %%\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "P\tuser data\tof\t%s\t\n", strings.Join(verify.Models, "\t"))
	for _, m := range v.Means {
		fmt.Fprintf(t, "%d\t%s\t%s\t", m.P, view.Cache(m.OffCache), m.Of)
		for _, e := range m.Errors {
			fmt.Fprintf(t, "%.1f\t", 100*e)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func (v *Verification) writeRows(w io.Writer, rows []verify.Row) {
	fmt.Fprintf(w, "\nP = %d, user data %s; times in µs, errors in %% of what was measured\n", rows[0].P, view.Cache(rows[0].OffCache))
	if rows[0].Forced {
		fmt.Fprintf(w, "FORCED: %d ranks take turns on fewer CPUs; these times are no measurement of an algorithm\n", rows[0].P)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "algorithm\tm\tmeasured\t95 % interval\t")
	for _, name := range verify.Models {
		fmt.Fprintf(t, "%s\terror\t", name)
	}
	fmt.Fprintln(t)
	extrapolated := false
	for _, r := range rows {
		us := r.Measured.Scale(1e-3)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t", r.Name, view.Bytes(r.Bytes), view.Center(us), view.Interval(us))
		for range verify.Models[len(r.Predicted):] {
			fmt.Fprint(t, "–\t–\t")
		}
		for _, p := range r.Predicted {
			fmt.Fprintf(t, "%s\t%+.1f\t", Microseconds(p.Ns/1e3, p.Extrapolated), 100*(p.Ns-r.Measured.Center)/r.Measured.Center)
			extrapolated = extrapolated || p.Extrapolated
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if extrapolated {
		fmt.Fprintln(w, "~ extrapolated: m or τ is beyond what was measured")
	}
}

// WriteJSON writes the document.
func (v *Verification) WriteJSON(w io.Writer) error {
	if v.Warnings == nil {
		v.Warnings = []string{}
	}
	return writeJSON(w, v)
}
