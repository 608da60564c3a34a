package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Accesses are measured passes over arrays, and the costs that they are made of.
// All times are in ns.
type Accesses struct {
	Provenance provenance.Provenance `json:"provenance"`
	Placement  numa.Placement        `json:"placement"`
	ArenaBytes int                   `json:"arena_bytes,omitempty"` // off cache, what passes walk through
	LineBytes  int                   `json:"line_bytes"`
	Loops      string                `json:"loops"` // which take elements side by side
	Confidence float64               `json:"confidence"`
	Rows       []Access              `json:"rows"`
	Fits       []AccessFit           `json:"fits"`
	Warnings   []string              `json:"warnings"`
}

// An Access is a measured pass.
type Access struct {
	Operation string       `json:"operation"`
	Type      string       `json:"type"`
	OffCache  bool         `json:"off_cache"`
	N         int          `json:"n"`      // elements
	Stride    int          `json:"stride"` // in elements
	Bytes     int          `json:"bytes"`  // of the array
	Lines     int          `json:"lines"`  // N_c, of the cache, that a pass touches
	Pass      fit.Estimate `json:"pass_ns"`
	Element   fit.Estimate `json:"element_ns"`
	GBs       fit.Estimate `json:"elements_gb_s"` // bytes of the elements alone
	Samples   []float64    `json:"samples_ns"`
}

// An AccessFit is T = T_n·N + T_c·N_c + T_e·S, usc-hpc-benchmarks-1999, eq. (4).
type AccessFit struct {
	Operation string          `json:"operation"`
	Type      string          `json:"type"`
	OffCache  bool            `json:"off_cache"`
	Tn        fit.Coefficient `json:"T_n_ns"` // an element
	Tc        fit.Coefficient `json:"T_c_ns"` // a cache line
	Te        fit.Coefficient `json:"T_e_ns"` // of the stride
	Residual  float64         `json:"residual"`
	N         int             `json:"n"` // passes that went in
}

// NewAccesses takes the passes from a file's cells.
func NewAccesses(f *params.File, lineBytes int) *Accesses {
	a := &Accesses{Provenance: f.Provenance, LineBytes: lineBytes, Loops: access.LoopsName(), Confidence: fit.Confidence, Rows: accessRows(f.Cells, lineBytes), Fits: []AccessFit{},
		Warnings: append([]string{}, f.Warnings...)}
	if len(f.Placements) > 0 {
		a.Placement = f.Placements[0]
	}
	for _, f := range access.Fits(f.Cells, lineBytes) {
		a.Fits = append(a.Fits, AccessFit{f.Operation, f.Type, f.OffCache, f.Costs[0], f.Costs[1], f.Costs[2], f.Residual, f.Sum.N})
	}
	return a
}

// accessRows are the passes among cells, in the order of tables.
func accessRows(cells []params.Cell, lineBytes int) []Access {
	rows := []Access{}
	for _, c := range cells {
		p, ok := access.PassOf(c.Key)
		if !ok {
			continue
		}
		bytes := float64(p.N * access.ElementBytes(p.Type))
		rows = append(rows, Access{Operation: p.Operation, Type: p.Type, OffCache: c.OffCache, N: p.N, Stride: p.Stride,
			Bytes: c.Bytes, Lines: p.Lines(lineBytes), Pass: c.Time, Element: c.Time.Scale(1 / float64(p.N)),
			GBs: fit.Estimate{Center: bytes, Lo: bytes, Hi: bytes, N: c.Time.N}.Div(c.Time), Samples: c.Values()})
	}
	slices.SortStableFunc(rows, func(x, y Access) int {
		return cmp.Or(cmp.Compare(b2i(x.OffCache), b2i(y.OffCache)), cmp.Compare(x.N, y.N),
			cmp.Compare(slices.Index(access.Operations, x.Operation), slices.Index(access.Operations, y.Operation)),
			cmp.Compare(slices.Index(access.Types, x.Type), slices.Index(access.Types, y.Type)), cmp.Compare(x.Stride, y.Stride))
	})
	return rows
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// WriteText writes a table for each state of the cache and number of elements,
// what an element costs with strides across, then the fits.
func (a *Accesses) WriteText(w io.Writer) {
	fmt.Fprintln(w, machine(a.Provenance))
	for _, worker := range a.Placement.Workers {
		fmt.Fprintf(w, "one worker on CPU %d, its arrays on node %d", worker.CPU.ID, worker.UserNode)
	}
	if a.ArenaBytes > 0 {
		fmt.Fprintf(w, "; off cache each pass takes the next array of %d MB", a.ArenaBytes>>20)
	}
	fmt.Fprintf(w, "\n%s\n", a.Loops)
	a.writeTables(w)
	if len(a.Fits) == 0 {
		return
	}
	fmt.Fprintf(w, "\nT = T_n·N + T_c·N_c + T_e·S in ns ± standard error; N_c lines of %d bytes\n", a.LineBytes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "operation\ttype\tarray\tT_n\tT_c\tT_e\tresidual")
	for _, f := range a.Fits {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.1f %%\n", f.Operation, f.Type, view.Cache(f.OffCache), view.Coefficient(f.Tn), view.Coefficient(f.Tc), view.Coefficient(f.Te), 100*f.Residual)
	}
	t.Flush()
	if n := len(slices.DeleteFunc(slices.Clone(a.Fits), func(f AccessFit) bool { return f.Residual <= fit.PoorResidual })); n > 0 {
		fmt.Fprintf(w, "%d of %d fits are off by more than %.0f %%: lines do not all cost the same, since they come from several levels, ahead of time or not\n", n, len(a.Fits), 100*fit.PoorResidual)
	}
}

// writeTables writes a table for each state of the cache and number of elements.
func (a *Accesses) writeTables(w io.Writer) {
	for rows := a.Rows; len(rows) > 0; {
		n := 0
		for n < len(rows) && rows[n].N == rows[0].N && rows[n].OffCache == rows[0].OffCache {
			n++
		}
		writeAccesses(w, rows[:n])
		rows = rows[n:]
	}
}

// writeAllAccesses writes the tables of a file that has accesses; nothing where it has
// none. They show no lines, whose size a file does not hold, and so no fits.
func writeAllAccesses(w io.Writer, f *params.File) {
	const noLines = 1
	a := &Accesses{Rows: accessRows(f.Cells, noLines)}
	if len(a.Rows) == 0 {
		return
	}
	fmt.Fprint(w, "accesses: passes of one worker over an array")
	a.writeTables(w)
	fmt.Fprintln(w)
}

func writeAccesses(w io.Writer, rows []Access) {
	var strides []int
	for _, r := range rows {
		strides = append(strides, r.Stride)
	}
	slices.Sort(strides)
	strides = slices.Compact(strides)
	fmt.Fprintf(w, "\n%d elements, %s: ns an element, by stride in elements; GB/s at stride %d\n", rows[0].N, view.Cache(rows[0].OffCache), strides[0])
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "operation\ttype\t")
	for _, s := range strides {
		fmt.Fprintf(t, "%d\t", s)
	}
	fmt.Fprint(t, "GB/s\t\n")
	for len(rows) > 0 {
		first := rows[0]
		fmt.Fprintf(t, "%s\t%s\t", first.Operation, first.Type)
		speed := ""
		for _, s := range strides {
			if len(rows) == 0 || rows[0].Operation != first.Operation || rows[0].Type != first.Type || rows[0].Stride != s {
				fmt.Fprint(t, "\t")
				continue
			}
			e := rows[0].Element
			fmt.Fprintf(t, "%s\t", view.Digits(e.Center, min(e.Center/10, (e.Hi-e.Lo)/2)))
			if s == strides[0] {
				g := rows[0].GBs
				speed = view.Digits(g.Center, min(g.Center/10, (g.Hi-g.Lo)/2))
			}
			rows = rows[1:]
		}
		fmt.Fprintf(t, "%s\t\n", speed)
	}
	t.Flush()
}

// WriteJSON writes the document.
func (a *Accesses) WriteJSON(w io.Writer) error { return view.WriteJSON(w, a) }
