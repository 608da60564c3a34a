package strides

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/strided"
)

// Tables are packing, and o_mw and l_mw of each level, in cache and off cache.
func Tables(f *params.File) (tables []view.Table) {
	type part struct {
		level string
		off   bool
	}
	for _, rows := range lists.Groups(PackRows(f.Cells), func(r PackRow) part { return part{r.Level, r.OffCache} }) {
		if rows[0].Level == "" {
			tables = append(tables, packing(rows))
		} else {
			tables = append(tables, ways(rows))
		}
	}
	return tables
}

// Answer is the largest factor by which a stride lengthens packing, and one way at each level, in cache
// if that was measured.
func Answer(f *params.File) string {
	var parts []string
	rows := PackRows(f.Cells)
	for _, level := range lists.Unique(lists.Map(rows, func(r PackRow) string { return r.Level })) {
		strided := lists.Filter(rows, func(r PackRow) bool {
			return r.Level == level && r.OffCache == rows[0].OffCache && r.Contiguous != nil && !r.Message.Contiguous()
		})
		if len(strided) == 0 {
			continue
		}
		most := slices.MaxFunc(strided, func(a, b PackRow) int { return cmp.Compare(a.times().Center, b.times().Center) })
		what := printable.Either(level != "", "one way at "+level, "packing")
		parts = append(parts, fmt.Sprintf("%s takes up to %s times as long as contiguous bytes (%v)", what, view.Known(most.times(), ""), most.Message))
	}
	if len(parts) == 0 {
		return ""
	}
	return view.Capital(strings.Join(parts, ", ") + ", " + view.Cache(rows[0].OffCache) + ".")
}

// times is the ratio to the same bytes contiguous.
func (r *PackRow) times() fit.Estimate { return r.Time.Div(*r.Contiguous) }

func packing(rows []PackRow) view.Table {
	t := view.Table{
		Title:   fmt.Sprintf("p(m,d) in ns, a message packed or unpacked, %s; × what a copy of as many contiguous bytes takes", view.Cache(rows[0].OffCache)),
		Columns: slices.Concat(view.Words("message"), view.Numbers("p", "×", "MB/s")),
	}
	for _, r := range rows {
		times := ""
		if r.Contiguous != nil && !r.Message.Contiguous() {
			q := r.times()
			times = view.Digits(q.Center, max(0.01, (q.Hi-q.Lo)/2))
		}
		t.Add(r.Message.String(), view.Few(r.Time)+view.Center(r.Time), times, fmt.Sprintf("%.0f", 1e3*float64(r.Message.Bytes)/r.Time.Center))
	}
	return t
}

func ways(rows []PackRow) view.Table {
	t := view.Table{
		Title:   fmt.Sprintf("One way between two CPUs, nearest in common: %s; %s. o_mw contiguous, l_mw what the stride adds, ns", rows[0].Level, view.Cache(rows[0].OffCache)),
		Columns: slices.Concat(view.Words("message"), view.Numbers("o_mw + l_mw", "o_mw", "l_mw")),
	}
	for _, r := range rows {
		if r.Message.Contiguous() {
			t.Add(r.Message.String(), "", view.Few(r.Time)+view.Center(r.Time), "")
			continue
		}
		o, l := "", ""
		if r.Contiguous != nil { // then Latency is known, too
			o, l = view.Center(*r.Contiguous), view.Center(*r.Latency)
		}
		t.Add(r.Message.String(), view.Few(r.Time)+view.Center(r.Time), o, l)
	}
	return t
}

// A PackRow is the times of one message, ns.
type PackRow struct {
	params.Packed
	OffCache bool
	// Time without a Level is p(m,d) of one end, or the copy of a contiguous message; with a Level
	// it is one way between two CPUs, o_mw + l_mw.
	Time fit.Estimate
	// Contiguous is the time of the same size contiguous; with a Level, o_mw.
	Contiguous *fit.Estimate
	// Latency, with a Level, is l_mw = f(s,d) of both ends, the time that the stride adds.
	Latency *fit.Estimate
}

// PackRows are the messages of a file, packing first, then level by level.
func PackRows(cells []params.Cell) (rows []PackRow) {
	type message struct {
		params.Packed
		off bool
	}
	times := make(map[message]fit.Estimate)
	for _, c := range cells {
		if m, ok := c.Packed(); ok {
			times[message{m, c.OffCache}] = c.Time
			rows = append(rows, PackRow{Packed: m, OffCache: c.OffCache, Time: c.Time})
		}
	}
	for i := range rows {
		r := &rows[i]
		whole := r.Packed
		whole.Stride = whole.Element
		if o, ok := times[message{whole, r.OffCache}]; ok {
			r.Contiguous = &o
			if l := r.Time.Sub(o); r.Level != "" && !r.Message.Contiguous() {
				r.Latency = &l
			}
		}
	}
	off := func(r PackRow) int { return lists.FalseFirst(r.OffCache) }
	slices.SortStableFunc(rows, func(a, b PackRow) int {
		return cmp.Or(off(a)-off(b), cmp.Compare(a.Level, b.Level), a.Message.Element-b.Message.Element, a.Message.Bytes-b.Message.Bytes, a.Message.Stride-b.Message.Stride)
	})
	return rows
}

// profiled gives the time of a message over its stride, in a panel for packing and for each level, and
// a line for each size.
func profiled(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
	m, ok := c.Packed()
	at.Line, at.Size, at.Over, at.Placement = view.Bytes(m.Bytes), m.Bytes, view.ByteStride, ""
	at.Panel = printable.Either(m.Level != "", "one way, "+m.Level, "packing") +
		printable.If(m.Element != strided.Element, fmt.Sprintf(", elements of %d bytes", m.Element))
	return m.Stride, c.Time, ok
}
