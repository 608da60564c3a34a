package disk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Document is the JSON output. Times are in ns.
type Document struct {
	Provenance provenance.Provenance `json:"provenance"`
	Placement  numa.Placement        `json:"placement"`
	Dir        string                `json:"dir"`
	FileBytes  int                   `json:"file_bytes"`
	Confidence float64               `json:"confidence"`
	Rows       []Row                 `json:"rows"`
	Fits       []Fit                 `json:"fits"`
	Warnings   []string              `json:"warnings"`
}

// A Row is a measured transfer.
type Row struct {
	Operation string       `json:"operation"`
	PageCache bool         `json:"page_cache"` // through the page cache
	Bytes     int          `json:"bytes"`
	Time      fit.Estimate `json:"time_ns"`
	MBs       fit.Estimate `json:"mb_s"` // 10⁶ bytes
	Samples   []float64    `json:"samples_ns"`
}

// A Fit is T = T_s + m·τ for an operation, usc-hpc-benchmarks-1999, section 5.2.3.
type Fit struct {
	Operation string          `json:"operation"`
	PageCache bool            `json:"page_cache"`
	Start     fit.Coefficient `json:"T_s_ns"`
	Byte      fit.Coefficient `json:"tau_ns"`
	MBs       *float64        `json:"mb_s"` // 1/τ; nil: τ is 0
	Residual  float64         `json:"residual"`
}

func newDocument(f *params.File, dir string, fileBytes int) *Document {
	return &Document{Provenance: f.Provenance, Placement: f.Placements[0], Dir: dir, FileBytes: fileBytes, Confidence: fit.Confidence,
		Rows: rows(f.Cells), Fits: Fits(f.Cells), Warnings: append([]string{}, f.Warnings...)}
}

// rows are the transfers among cells, in the order of tables.
func rows(cells []params.Cell) []Row {
	rows := []Row{}
	for _, c := range cells {
		if t, ok := c.Variant.(Transfer); ok {
			rows = append(rows, Row{t.Operation, t.Mode == Cached, c.Bytes, c.Time, c.Time.Rate(1e3 * float64(c.Bytes)), c.Values()})
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(pageCache(b.PageCache), pageCache(a.PageCache)), cmp.Compare(a.Operation, b.Operation), a.Bytes-b.Bytes)
	})
	return rows
}

// kind is an operation and the state of the page cache.
func (r Row) kind() string {
	return fmt.Sprintf("%s, page cache %s", r.Operation, pageCache(r.PageCache))
}

// Fits are the fits of cells, by kind. Kinds with too few cells are left out.
func Fits(cells []params.Cell) []Fit {
	fits := []Fit{}
	for _, group := range lists.Groups(rows(cells), Row.kind) {
		terms := lists.Map(group, func(r Row) []float64 { return []float64{1, float64(r.Bytes)} })
		times := lists.Map(group, func(r Row) float64 { return r.Time.Center })
		if s, err := fit.SumOf(terms, times); err == nil {
			f := Fit{Operation: group[0].Operation, PageCache: group[0].PageCache, Start: s.Costs[0], Byte: s.Costs[1], Residual: s.Residual}
			if f.Byte.Value > 0 {
				f.MBs = new(1e3 / f.Byte.Value)
			}
			fits = append(fits, f)
		}
	}
	return fits
}

// Answer is the bandwidth of the longest transfers.
func Answer(f *params.File) string {
	type transfers struct {
		pageCache bool
		bytes     int
	}
	longest := lists.Map(lists.Groups(rows(f.Cells), Row.kind), func(group []Row) Row { return group[len(group)-1] })
	lines := lists.Map(lists.Groups(longest, func(r Row) transfers { return transfers{r.PageCache, r.Bytes} }), func(group []Row) string {
		speeds := lists.Map(group, func(r Row) string { return r.Operation + " " + view.Known(r.MBs, " MB/s") })
		return fmt.Sprintf("Page cache %s, m = %s: %s.", pageCache(group[0].PageCache), view.Bytes(group[0].Bytes), strings.Join(speeds, ", "))
	})
	return strings.Join(lines, "\n")
}

// Tables are one for each operation and mode, and the fits as in Table 6 of usc-hpc-benchmarks-1999.
func Tables(f *params.File) (tables []view.Table) {
	for _, group := range lists.Groups(rows(f.Cells), Row.kind) {
		t := view.Table{Title: group[0].kind(), Columns: view.Numbers("m", "µs", "95 % interval", "MB/s", "samples")}
		for _, r := range group {
			us := r.Time.Scale(1e-3)
			t.Add(view.Bytes(r.Bytes), view.Rough(us), view.Interval(us), view.Rough(r.MBs), us.N)
		}
		tables = append(tables, t)
	}
	t := view.Table{Title: "T = T_s + m·τ", Columns: view.Words("operation", "page cache", "start T_s, µs", "bandwidth 1/τ, MB/s", "residual")}
	for _, f := range Fits(f.Cells) {
		start := f.Start
		start.Value, start.Error = start.Value/1e3, start.Error/1e3
		speed := fit.Coefficient{Held: true}
		if f.MBs != nil {
			speed = fit.Coefficient{Value: *f.MBs, Error: *f.MBs * f.Byte.Error / f.Byte.Value}
		}
		t.Add(f.Operation, pageCache(f.PageCache), view.Coefficient(start), view.Coefficient(speed), fmt.Sprintf("%.1f %%", 100*f.Residual))
	}
	return append(tables, view.Filled(t)...)
}

func pageCache(in bool) string { return printable.Either(in, "in", "out") }

// profiled gives the time of a transfer over its size, in a panel for each mode.
func profiled(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
	t, ok := c.Variant.(Transfer)
	at.Panel, at.Line, at.Where = "page cache "+pageCache(t.Mode == Cached), t.Operation, view.Where{}
	return c.Bytes, c.Time, ok
}
