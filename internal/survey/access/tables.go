package access

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Document is the JSON output: measured passes and fitted costs. Times are in ns.
type Document struct {
	Provenance provenance.Provenance `json:"provenance"`
	Placement  numa.Placement        `json:"placement"`
	ArenaBytes int                   `json:"arena_bytes,omitempty"` // memory of off-cache passes
	LineBytes  int                   `json:"line_bytes"`
	Loops      string                `json:"loops"` // description of vector loops
	Confidence float64               `json:"confidence"`
	Rows       []Row                 `json:"rows"`
	Fits       []Fit                 `json:"fits"`
	Warnings   []string              `json:"warnings"`
}

// A Row is a measured pass.
type Row struct {
	Operation string       `json:"operation"`
	Type      string       `json:"type"`
	OffCache  bool         `json:"off_cache"`
	N         int          `json:"n"`      // elements
	Stride    int          `json:"stride"` // in elements
	Bytes     int          `json:"bytes"`  // of the array
	Lines     int          `json:"lines"`  // N_c, cache lines that a pass touches
	Pass      fit.Estimate `json:"pass_ns"`
	Element   fit.Estimate `json:"element_ns"`
	GBs       fit.Estimate `json:"elements_gb_s"` // bytes of the elements alone
	Samples   []float64    `json:"samples_ns"`

	length string // of the array, in titles
}

// A Fit is T = T_n·N + T_c·N_c + T_e·S, eq. (4) of usc-hpc-benchmarks-1999, for an operation on a
// type.
type Fit struct {
	Operation string          `json:"operation"`
	Type      string          `json:"type"`
	OffCache  bool            `json:"off_cache"`
	Tn        fit.Coefficient `json:"T_n_ns"` // an element
	Tc        fit.Coefficient `json:"T_c_ns"` // a cache line
	Te        fit.Coefficient `json:"T_e_ns"` // of the stride
	Residual  float64         `json:"residual"`
	N         int             `json:"n"` // fitted passes
}

func newDocument(f *params.File, arenaBytes, lineBytes int) *Document {
	return &Document{Provenance: f.Provenance, Placement: f.Placements[0], ArenaBytes: arenaBytes, LineBytes: lineBytes, Loops: loopsName(),
		Confidence: fit.Confidence, Rows: rows(f.Cells, lineBytes), Fits: Fits(f.Cells, lineBytes), Warnings: append([]string{}, f.Warnings...)}
}

// rows are the passes among cells, in the order of tables.
func rows(cells []params.Cell, lineBytes int) []Row {
	rows, sizes := []Row{}, sizesOf(cells)
	for _, c := range cells {
		if p, ok := PassOf(c.Key); ok {
			length, _ := sizes.length(p)
			rows = append(rows, Row{length: length, Operation: p.Operation, Type: p.Type, OffCache: c.OffCache, N: p.N, Stride: p.Stride,
				Bytes: c.Bytes, Lines: p.Lines(lineBytes), Pass: c.Time, Element: c.Time.Scale(1 / float64(p.N)),
				GBs: c.Time.Rate(float64(p.N * ElementBytes[p.Type])), Samples: c.Values()})
		}
	}
	off := func(r Row) int { return lists.FalseFirst(r.OffCache) }
	slices.SortStableFunc(rows, func(x, y Row) int {
		return cmp.Or(off(x)-off(y), cmp.Compare(sizes.order(x.N, x.Bytes), sizes.order(y.N, y.Bytes)),
			cmp.Compare(slices.Index(AllOperations, x.Operation), slices.Index(AllOperations, y.Operation)),
			cmp.Compare(slices.Index(Types, x.Type), slices.Index(Types, y.Type)), cmp.Compare(x.Stride, y.Stride))
	})
	return rows
}

// Fits are the fits of cells, in cache first, then by operation and type. Groups with too few cells
// are left out.
func Fits(cells []params.Cell, lineBytes int) []Fit {
	fits := []Fit{}
	type table struct {
		operation, typ string
		off            bool
	}
	for _, group := range lists.Groups(rows(cells, lineBytes), func(r Row) table { return table{r.Operation, r.Type, r.OffCache} }) {
		terms := lists.Map(group, func(r Row) []float64 { return []float64{float64(r.N), float64(r.Lines), float64(r.Stride)} })
		times := lists.Map(group, func(r Row) float64 { return r.Pass.Center })
		if s, err := fit.SumOf(terms, times); err == nil {
			fits = append(fits, Fit{group[0].Operation, group[0].Type, group[0].OffCache, s.Costs[0], s.Costs[1], s.Costs[2], s.Residual, s.N})
		}
	}
	return fits
}

// sizes are the sizes of arrays in bytes, by the bytes of passes over them. An array of a given size holds
// whole strides, so passes at different strides have not quite the same bytes. Nil: passes have few
// numbers of elements rather than few sizes, and go by these.
type sizes map[int]int

func sizesOf(cells []params.Cell) sizes {
	var passes []Pass
	numbers := make(map[int]bool)
	for _, c := range cells {
		if p, ok := PassOf(c.Key); ok {
			passes, numbers[p.N] = append(passes, p), true
		}
	}
	slices.SortFunc(passes, func(a, b Pass) int { return b.Bytes() - a.Bytes() })
	of, size, different := make(sizes), 0, 0
	for _, p := range passes { // the largest of a size first
		if p.Bytes()+p.Stride*ElementBytes[p.Type] <= size || size == 0 {
			size = p.Bytes()
			different++
		}
		of[p.Bytes()] = size
	}
	if different >= len(numbers) {
		return nil
	}
	return of
}

// length is the length of a pass's array.
func (s sizes) length(p Pass) (title, panel string) {
	if s == nil {
		return printable.Count(p.N, "element"), "N = " + view.Bytes(p.N)
	}
	size := view.Bytes(s[p.Bytes()])
	return "arrays of " + size, size
}

// order sorts lengths.
func (s sizes) order(n, bytes int) int {
	if s == nil {
		return n
	}
	return s[bytes]
}

// noLines stands for a line's bytes where lines do not matter: a file does not have them.
const noLines = 1

// Tables have the time of an element by stride, one for each length of arrays in cache and off cache.
func Tables(f *params.File) []view.Table {
	type array struct {
		length string
		off    bool
	}
	return lists.Map(lists.Groups(rows(f.Cells, noLines), func(r Row) array { return array{r.length, r.OffCache} }), table)
}

// Answer is the time of an element of the longest array by the first operation, at the smallest and
// largest stride, in cache and off cache.
func Answer(f *params.File) string {
	parts := lists.Map(lists.Groups(rows(f.Cells, noLines), func(r Row) bool { return r.OffCache }), func(group []Row) string {
		longest := group[len(group)-1].length
		first := group[slices.IndexFunc(group, func(r Row) bool { return r.length == longest })]
		times := lists.Map(lists.Filter(group, func(r Row) bool { return r.length == longest && r.Operation == first.Operation && r.Type == first.Type }), func(r Row) string {
			return fmt.Sprintf("%s at stride %d", view.Known(r.Element, " ns"), r.Stride)
		})
		if len(times) > 1 {
			times = []string{times[0], times[len(times)-1]}
		}
		return fmt.Sprintf("%s %s takes %s, %s", first.Operation, first.Type, strings.Join(times, " and "), view.Cache(first.OffCache))
	})
	return printable.If(len(parts) != 0, "An element: "+strings.Join(parts, "; ")+".")
}

// table has the rows of one length, in cache or off cache.
func table(rows []Row) view.Table {
	strides := lists.Rising(lists.Map(rows, func(r Row) int { return r.Stride }))
	t := view.Table{
		Title: fmt.Sprintf("Passes over %s, %s: ns an element, by stride in elements; GB/s at stride %d", rows[0].length, view.Cache(rows[0].OffCache), strides[0]),
		Columns: slices.Concat(view.Words("operation", "type"), view.Numbers(lists.Map(strides, strconv.Itoa)...),
			view.Numbers("GB/s")),
	}
	for _, group := range lists.Groups(rows, func(r Row) [2]string { return [2]string{r.Operation, r.Type} }) {
		cells, speed := make([]string, len(strides)), ""
		for _, r := range group {
			cells[slices.Index(strides, r.Stride)] = view.Few(r.Element) + view.Rough(r.Element)
			if r.Stride == strides[0] {
				speed = view.Rough(r.GBs)
			}
		}
		t.Add(group[0].Operation, group[0].Type, cells, speed)
	}
	return t
}

// fitTables has the fits, if there are any.
func fitTables(cells []params.Cell, lineBytes int) []view.Table {
	fits := Fits(cells, lineBytes)
	if len(fits) == 0 {
		return nil
	}
	t := view.Table{
		Title:   fmt.Sprintf("T = T_n·N + T_c·N_c + T_e·S in ns ± standard error; N_c lines of %d bytes", lineBytes),
		Columns: view.Words("operation", "type", "array", "T_n", "T_c", "T_e", "residual"),
	}
	poor := 0
	for _, f := range fits {
		t.Add(f.Operation, f.Type, view.Cache(f.OffCache), view.Coefficient(f.Tn), view.Coefficient(f.Tc), view.Coefficient(f.Te), fmt.Sprintf("%.1f %%", 100*f.Residual))
		if f.Residual > fit.PoorResidual {
			poor++
		}
	}
	t.NoteIf(poor > 0,
		"%d of %d fits are off by more than %.0f %%: lines do not cost the same at all N and strides, so take the times above", poor, len(fits), 100*fit.PoorResidual)
	return []view.Table{t}
}

// profiles are the times of an element over the stride, in a panel for each type and length of arrays.
func profiles(cells []params.Cell) []view.Profile {
	sizes := sizesOf(cells)
	return view.ByCell(func(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
		p, ok := PassOf(c.Key)
		if !ok {
			return 0, y, false
		}
		_, length := sizes.length(p)
		at.Panel, at.Line = p.Type+", "+length, p.Operation
		at.Number, at.Over, at.Time = sizes.order(p.N, p.Bytes()), view.ElementStride, view.TimeOfElement
		return p.Stride, c.Time.Scale(1 / float64(p.N)), true
	})(cells)
}
