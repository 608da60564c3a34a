package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Patterns compares measured message patterns with predictions.
func Patterns(r *verify.PatternResult) *document.Document {
	return made("taulop verify -patterns", r, func(r *verify.PatternResult) view.Table {
		return valueRows(lists.Map(r.Rows, func(r verify.PatternRow) verify.Row { return r.Row }), verify.PatternModels)
	}, sayPatterns)
}

func sayPatterns(d *verify.PatternResult, w *document.Document) {
	for i, who := range []string{"τ-Lop", "A line through times of the pattern itself"} {
		fmt.Fprintln(w, offBy(who, d.Means, verify.PatternModels[i]))
	}
	type experiment struct {
		p   int
		off bool
	}
	for _, tested := range lists.Groups(verify.Tested(d.Rows), func(r verify.PatternRow) experiment { return experiment{r.P, r.OffCache} }) {
		w.Tables(view.Filled(fitTable(d, tested[0].P, tested[0].OffCache), patternTable(tested))...)
	}
	writeErrors(w, " of all variants at these sizes", d.Means, verify.PatternModels, func(model string) string { return model })
	fmt.Fprintf(w, "\n%s\n", machine(d.Provenance))
	fmt.Fprintf(w, "channels of %d segments of %s; parameters: %s\n", d.Segments, view.Bytes(d.SegmentBytes), d.Parameters)
	for _, p := range d.Patterns {
		fmt.Fprintf(w, "%s: %s\n    %s\n", p.Variant, p.Means, p.Relation)
	}
}

// mostLines is the number of variants of a pattern up to which text shows all. Beyond it text shows the
// variants with the least and the largest time per byte.
const mostLines = 8

func fitTable(d *verify.PatternResult, p int, off bool) view.Table {
	sizes := lists.Map(d.FittedSizes, view.Bytes)
	t := view.Table{
		Title:   fmt.Sprintf("P = %d, user data %s: T = T_s + m·τ_d, fitted to m = %s; ± one standard error", p, view.Cache(off), strings.Join(sizes, ", ")),
		Columns: view.Numbers("pattern", "T_s, ns", "±", "τ_d, ns/KB", "±", "GB/s", "residual, %"),
	}
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
			bandwidth := printable.Either(f.Line.PerByte.Value > 0, fmt.Sprintf("%.2f", 1/f.Line.PerByte.Value), "–")
			startup, startupError := inUnits(f.Line.Startup, 1)
			perKB, perKBError := inUnits(f.Line.PerByte, 1024)
			t.Add(f.Name, startup, startupError, perKB, perKBError, bandwidth, percents(f.Line.Residual))
		}
	}
	return t
}

// inUnits scales a fitted number and its standard error.
func inUnits(c fit.Coefficient, units float64) (value, err string) {
	if c.Held {
		return "0", "held"
	}
	return view.Digits(units*c.Value, units*c.Error), view.Digits(units*c.Error, units*c.Error)
}

func patternTable(medians []verify.PatternRow) view.Table {
	rows := lists.Map(medians, func(r verify.PatternRow) timedRow {
		return timedRow{[]any{r.Name, r.Variants, view.Bytes(r.Bytes)}, r.Measured, []any{predicted(r.Predicted, verify.PatternModels...)}}
	})
	first := medians[0]
	title := fmt.Sprintf("P = %d, user data %s: at sizes that no line was fitted to; errors in %% of what was measured", first.P, view.Cache(first.OffCache))
	t := measuredTable(title+forced(first.Forced, first.P, "a pattern"), view.Numbers("pattern", "variants", "m"), predictedColumns(verify.PatternModels...), rows)
	t.Note("own line: T_s + m·τ_d of the pattern itself. permutation's: T_s and τ_d of the permutations, one-way messages at τ_d/2.")
	several := slices.ContainsFunc(medians, func(r verify.PatternRow) bool { return r.Variants > 1 })
	t.NoteIf(several, "Of several variants these are the medians; the JSON has each.")
	t.NoteIf(slices.ContainsFunc(medians, func(r verify.PatternRow) bool { return extrapolated(r.Predicted) }), beyond)
	return t
}
