package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/taulop/taulop/internal/survey/strides"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// WritePacks writes messages at strides: what packing them takes, and o_mw and l_mw
// of each level. It writes nothing where a file has none.
func WritePacks(w io.Writer, f *params.File) {
	rows := strides.PackRows(f.Cells)
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Level == rows[0].Level && rows[n].OffCache == rows[0].OffCache {
			n++
		}
		cache := "in cache"
		if rows[0].OffCache {
			cache = "off cache"
		}
		if rows[0].Level == "" {
			writePacking(w, rows[:n], cache)
		} else {
			writeWays(w, rows[:n], cache)
		}
		rows = rows[n:]
	}
}

func writePacking(w io.Writer, rows []strides.PackRow, cache string) {
	fmt.Fprintf(w, "p(m,d) in ns, a message packed or unpacked, %s; × what a copy of as many contiguous bytes takes\n", cache)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "message\tp\t×\tMB/s\t")
	for _, r := range rows {
		times := ""
		if r.Contiguous != nil && !r.Message.Contiguous() {
			q := r.Time.Div(*r.Contiguous)
			times = view.Digits(q.Center, max(0.01, (q.Hi-q.Lo)/2))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.0f\t\n", r.Notation, view.Center(r.Time), times, 1e3*float64(r.Message.Bytes)/r.Time.Center)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func writeWays(w io.Writer, rows []strides.PackRow, cache string) {
	fmt.Fprintf(w, "One way between two CPUs, nearest in common: %s; %s. o_mw contiguous, l_mw what the stride adds, ns\n", rows[0].Level, cache)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "message\to_mw + l_mw\to_mw\tl_mw\t")
	for _, r := range rows {
		if r.Message.Contiguous() {
			fmt.Fprintf(t, "%s\t\t%s\t\t\n", r.Notation, view.Center(r.Time))
			continue
		}
		o, l := "", ""
		if r.Contiguous != nil {
			o = view.Center(*r.Contiguous)
		}
		if r.Latency != nil {
			l = view.Center(*r.Latency)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", r.Notation, view.Center(r.Time), o, l)
	}
	t.Flush()
	fmt.Fprintln(w)
}
