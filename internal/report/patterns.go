package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Patterns is measured message patterns with what predicts them.
type Patterns verify.PatternResult

// WriteText writes what the patterns are, then for each P and state of the cache
// the lines and a table of predicted against measured times, then the means.
func (d *Patterns) WriteText(w io.Writer) {
	writeSetting(w, d.Setting)
	for _, p := range d.Patterns {
		fmt.Fprintf(w, "%s: %s\n    %s\n", p.Variant, p.Means, p.Relation)
	}
	tested, variants := verify.Tested(d.Rows)
	for _, of := range view.Grouped(tested, func(r verify.PatternRow) experiment { return experimentOf(r.Row) }) {
		writeTables(w, d.fits(experimentOf(of[0].Row)), d.tested(of, variants[:len(of)]))
		variants = variants[len(of):]
	}
	writeMeans(w, "Mean relative errors, %, of all variants at these sizes", d.Means, verify.PatternModels)
}

// mostLines is how many variants of a pattern have their lines in the text; of more
// it shows the quickest and the slowest, a byte of them.
const mostLines = 8

func (d *Patterns) fits(x experiment) view.Table {
	var sizes []string
	for _, m := range d.FittedSizes {
		sizes = append(sizes, view.Bytes(m))
	}
	t := view.Table{
		Title:   fmt.Sprintf("%v: T = T_s + m·τ_d, fitted to m = %s; ± one standard error", x, strings.Join(sizes, ", ")),
		Columns: view.Numbers("pattern", "T_s, ns", "±", "τ_d, ns/KB", "±", "GB/s", "residual, %"),
	}
	for _, pattern := range d.Patterns {
		var fits, together []verify.PatternFit
		for _, f := range d.Fits {
			switch {
			case f.Pattern != pattern.Name || f.P != x.p || f.OffCache != x.off:
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
			t.Add(f.Name, startup, startupError, perKB, perKBError, bandwidth, percents(f.Line.Residual))
		}
	}
	return t
}

// inUnits is a fitted number in units, and its error.
func inUnits(c fit.Coefficient, units float64) (value, err string) {
	if c.Held {
		return "0", "held"
	}
	return view.Digits(units*c.Value, units*c.Error), view.Digits(units*c.Error, units*c.Error)
}

func (d *Patterns) tested(of []verify.PatternRow, variants []int) view.Table {
	var rows []verify.Row
	for _, r := range of {
		rows = append(rows, r.Row)
	}
	t := besideModels(fmt.Sprintf("%v: at sizes that no line was fitted to", experimentOf(rows[0])), "a pattern", rows, variants, verify.PatternModels)
	notes := []string{"own line: T_s + m·τ_d of the pattern itself. permutation's: T_s and τ_d of the permutations, one-way messages at τ_d/2."}
	if slices.Max(variants) > 1 {
		notes = append(notes, "Of several variants these are the medians; the JSON has each.")
	}
	t.Notes = append(notes, t.Notes...)
	return t
}

// WriteJSON writes the document.
func (d *Patterns) WriteJSON(w io.Writer) error {
	return view.WriteJSON(w, d)
}
