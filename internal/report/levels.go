package report

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// WriteLevels writes c(m,τ) between levels of the memory, what each level adds, and
// Tam's three parameters. It writes nothing where a file has no such cells.
func WriteLevels(w io.Writer, f *params.File) {
	at := make(map[params.Key]params.Cell)
	var taus, sizes []int
	for _, c := range f.Cells {
		if c.Kind == params.LevelCell {
			at[c.Key] = c
			if !slices.Contains(taus, c.Tau) {
				taus = append(taus, c.Tau)
			}
			if !slices.Contains(sizes, c.Bytes) {
				sizes = append(sizes, c.Bytes)
			}
		}
	}
	if len(at) == 0 {
		return
	}
	slices.Sort(taus)
	slices.Sort(sizes)
	for _, tau := range taus {
		fmt.Fprintf(w, "c(m,%d) in ns, from where the data lie to where they go, and what all copies of the longest move together\n", tau)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(t, "from\tto\t")
		for _, m := range sizes {
			fmt.Fprintf(t, "%s\t", view.Bytes(m))
		}
		fmt.Fprintln(t, "GB/s\t")
		for _, from := range levels.Order {
			for _, to := range levels.Order {
				writeLevel(t, at, params.Key{Kind: params.LevelCell, Tau: tau, Variant: from + "-" + to}, from, to, sizes)
			}
		}
		t.Flush()
		fmt.Fprintln(w)
	}
	writeSteps(w, levels.Steps(f.Cells))
	writeTam(w, levels.Tam(f.Cells))
}

func writeLevel(w io.Writer, at map[params.Key]params.Cell, k params.Key, from, to string, sizes []int) {
	cell := func(m int) (params.Cell, bool) {
		for key, c := range at { // of whatever placement
			if k.Placement, k.Bytes = key.Placement, m; key == k {
				return c, true
			}
		}
		return params.Cell{}, false
	}
	row, rate, found := from+"\t"+to+"\t", "", false
	for _, m := range sizes {
		c, ok := cell(m)
		if !ok {
			row += "\t"
			continue
		}
		found = true
		row += view.Center(c.Time) + "\t"
		rate = view.Digits(float64(k.Tau*m)/c.Time.Center, 0.1)
	}
	if found {
		fmt.Fprintln(w, row+rate+"\t")
	}
}

func writeSteps(w io.Writer, steps []levels.Step) {
	if len(steps) == 0 {
		return
	}
	fmt.Fprintln(w, "What a level adds: times what a copy takes with that end at the level before, median of sizes and of other ends as near")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "τ\tend\tlevel\t× that of\t\tslower\t")
	for _, s := range steps {
		mark := ""
		if !s.Slower {
			mark = "?"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s%s\t%d of %d\t\n", s.Tau, s.End, s.Far, s.Near, view.Digits(s.Ratio.Center, 0.01), mark, s.SlowerOf, s.Compared)
	}
	t.Flush()
	if slices.ContainsFunc(steps, func(s levels.Step) bool { return !s.Slower }) {
		fmt.Fprintln(w, "? not told apart from the level before")
	}
	fmt.Fprintln(w)
}

func writeTam(w io.Writer, rows []levels.TamRow) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w, "Tam's parameters in ns: copies from cache to cache, cache to memory, memory to memory, of the smallest cache that holds the message")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "τ\tm\tcache\tM_ctc\tM_ctm\tM_mtm\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%d\t%s\t%s\t", r.Tau, view.Bytes(r.Bytes), r.Cache)
		for _, e := range []*fit.Estimate{r.CTC, r.CTM, &r.MTM} {
			if e != nil {
				fmt.Fprint(t, view.Center(*e))
			}
			fmt.Fprint(t, "\t")
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	fmt.Fprintln(w)
}

// WriteLevelSets says what copies at each level walk through.
func WriteLevelSets(w io.Writer, levels []levels.Level) {
	for _, l := range levels {
		switch {
		case l.Most == 0:
			fmt.Fprintf(w, "%-7s copies walk through %d MB at each end of each worker\n", l.Name, l.Least>>20)
		case l.Least == 0:
			fmt.Fprintf(w, "%-7s the same bytes again and again, up to %d KB of %d KB\n", l.Name, l.Most>>10, l.Cache>>10)
		default:
			fmt.Fprintf(w, "%-7s copies walk through %d to %d KB of %d KB\n", l.Name, l.Least>>10, l.Most>>10, l.Cache>>10)
		}
	}
	fmt.Fprintln(w)
}
