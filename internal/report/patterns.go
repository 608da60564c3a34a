package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Patterns is measured message patterns with what predicts them.
type Patterns verify.PatternResult

// WriteText writes what the patterns are, then for each P and state of the cache
// the lines and a table of predicted against measured times, then the means.
func (d *Patterns) WriteText(w io.Writer) {
	fmt.Fprintln(w, machine(d.Provenance))
	fmt.Fprintf(w, "channels of %d segments of %s; parameters: %s\n", d.Segments, view.Bytes(d.SegmentBytes), d.Parameters)
	for _, p := range d.Patterns {
		fmt.Fprintf(w, "%s: %s\n    %s\n", p.Variant, p.Means, p.Relation)
	}
	tested, variants := verify.Tested(d.Rows)
	for len(tested) > 0 {
		n := 0
		for n < len(tested) && tested[n].P == tested[0].P && tested[n].OffCache == tested[0].OffCache {
			n++
		}
		d.writeFits(w, tested[0].P, tested[0].OffCache)
		d.writeTested(w, tested[:n], variants[:n])
		tested, variants = tested[n:], variants[n:]
	}
	if len(d.Means) == 0 {
		return
	}
	fmt.Fprintf(w, "\nMean relative errors, %%, of all variants at these sizes\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "P\tuser data\tof\t%s\t\n", strings.Join(verify.PatternModels, "\t"))
	for _, m := range d.Means {
		fmt.Fprintf(t, "%d\t%s\t%s\t", m.P, view.Cache(m.OffCache), m.Of)
		for _, e := range m.Errors {
			fmt.Fprintf(t, "%.1f\t", 100*e)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// mostLines is how many variants of a pattern have their lines in the text; of more
// it shows the quickest and the slowest, a byte of them.
const mostLines = 8

func (d *Patterns) writeFits(w io.Writer, p int, off bool) {
	var sizes []string
	for _, m := range d.FittedSizes {
		sizes = append(sizes, view.Bytes(m))
	}
	fmt.Fprintf(w, "\nP = %d, user data %s: T = T_s + m·τ_d, fitted to m = %s; ± one standard error\n", p, view.Cache(off), strings.Join(sizes, ", "))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "pattern\tT_s, ns\t±\tτ_d, ns/KB\t±\tGB/s\tresidual, %\t\n")
	for _, pattern := range d.Patterns {
		var fits, together []verify.PatternFit
		for _, f := range d.Fits {
			switch {
			case f.Pattern != pattern.Name || f.P != p || f.OffCache != off:
			case f.Name == verify.Permutation:
				f.Name = "all permutations"
				together = append(together, f)
			default:
				fits = append(fits, f)
			}
		}
		switch n := len(fits); {
		case n > mostLines:
			perByte := func(a, b verify.PatternFit) int { return cmp.Compare(a.Line.PerByte.Value, b.Line.PerByte.Value) }
			quick, slow := slices.MinFunc(fits, perByte), slices.MaxFunc(fits, perByte)
			quick.Name, slow.Name = fmt.Sprintf("%s, quickest of %d", quick.Name, n), slow.Name+", slowest"
			fits = append([]verify.PatternFit{quick, slow}, together...)
		case n > 1:
			fits = append(fits, together...)
		}
		for _, f := range fits {
			bandwidth := "–"
			if f.Line.PerByte.Value > 0 {
				bandwidth = fmt.Sprintf("%.2f", 1/f.Line.PerByte.Value)
			}
			startup, startupError := inUnits(f.Line.Startup, 1)
			perKB, perKBError := inUnits(f.Line.PerByte, 1024)
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t\n", f.Name, startup, startupError, perKB, perKBError, bandwidth, 100*f.Line.Residual)
		}
	}
	t.Flush()
}

// inUnits is a fitted number in units, and its error.
func inUnits(c fit.Coefficient, units float64) (value, err string) {
	if c.Held {
		return "0", "held"
	}
	return view.Digits(units*c.Value, units*c.Error), view.Digits(units*c.Error, units*c.Error)
}

func (d *Patterns) writeTested(w io.Writer, rows []verify.PatternRow, variants []int) {
	fmt.Fprintf(w, "\nP = %d, user data %s: at sizes that no line was fitted to; times in µs, errors in %% of what was measured\n", rows[0].P, view.Cache(rows[0].OffCache))
	if rows[0].Forced {
		fmt.Fprintf(w, "FORCED: %d ranks take turns on fewer CPUs; these times are no measurement of a pattern\n", rows[0].P)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "pattern\tvariants\tm\tmeasured\t95 % interval\t")
	for _, model := range verify.PatternModels {
		fmt.Fprintf(t, "%s\terror\t", model)
	}
	fmt.Fprintln(t)
	several, extrapolated := false, false
	for i, r := range rows {
		us := r.Measured.Scale(1e-3)
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t", r.Name, variants[i], view.Bytes(r.Bytes), view.Center(us), view.Interval(us))
		for range verify.PatternModels[len(r.Predicted):] {
			fmt.Fprint(t, "–\t–\t")
		}
		for _, p := range r.Predicted {
			fmt.Fprintf(t, "%s\t%+.1f\t", microseconds(p.Ns/1e3, p.Extrapolated), 100*(p.Ns-r.Measured.Center)/r.Measured.Center)
			extrapolated = extrapolated || p.Extrapolated
		}
		fmt.Fprintln(t)
		several = several || variants[i] > 1
	}
	t.Flush()
	fmt.Fprintln(w, "own line: T_s + m·τ_d of the pattern itself. permutation's: T_s and τ_d of the permutations, one-way messages at τ_d/2.")
	if several {
		fmt.Fprintln(w, "Of several variants these are the medians; the JSON has each.")
	}
	if extrapolated {
		fmt.Fprintln(w, "~ extrapolated: m or τ is beyond what was measured")
	}
}

// WriteJSON writes the document.
func (d *Patterns) WriteJSON(w io.Writer) error {
	if d.Warnings == nil {
		d.Warnings = []string{}
	}
	return view.WriteJSON(w, d)
}
