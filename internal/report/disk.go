package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/disk"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Transfers are measured transfers between memory and a disk. All times are in ns.
type Transfers struct {
	Provenance provenance.Provenance `json:"provenance"`
	Placement  numa.Placement        `json:"placement"`
	Dir        string                `json:"dir"`
	FileBytes  int                   `json:"file_bytes"`
	Confidence float64               `json:"confidence"`
	Rows       []DiskRow             `json:"rows"`
	Fits       []DiskFit             `json:"fits"`
	Warnings   []string              `json:"warnings"`
}

// A DiskRow is a measured transfer.
type DiskRow struct {
	Operation string       `json:"operation"`
	PageCache bool         `json:"page_cache"` // it took part
	Bytes     int          `json:"bytes"`
	Time      fit.Estimate `json:"time_ns"`
	MBs       fit.Estimate `json:"mb_s"` // 10⁶ bytes
	Samples   []float64    `json:"samples_ns"`
}

// A DiskFit is T_s + m·τ, usc-hpc-benchmarks-1999, section 5.2.3.
type DiskFit struct {
	Operation string          `json:"operation"`
	PageCache bool            `json:"page_cache"`
	Start     fit.Coefficient `json:"T_s_ns"`
	Byte      fit.Coefficient `json:"tau_ns"`
	MBs       float64         `json:"mb_s"` // 1/τ
	Residual  float64         `json:"residual"`
}

// NewTransfers takes the transfers from a file's cells.
func NewTransfers(f *params.File, dir string, fileBytes int) *Transfers {
	d := &Transfers{Provenance: f.Provenance, Dir: dir, FileBytes: fileBytes, Confidence: fit.Confidence,
		Rows: []DiskRow{}, Fits: []DiskFit{}, Warnings: append([]string{}, f.Warnings...)}
	if len(f.Placements) > 0 {
		d.Placement = f.Placements[0]
	}
	for _, c := range f.Cells {
		operation, mode, ok := disk.VariantOf(c.Key)
		if !ok {
			continue
		}
		mb := 1e3 * float64(c.Bytes)
		d.Rows = append(d.Rows, DiskRow{operation, mode == disk.Cached, c.Bytes, c.Time, fit.Estimate{Center: mb, Lo: mb, Hi: mb, N: c.Time.N}.Div(c.Time), c.Values()})
	}
	slices.SortStableFunc(d.Rows, func(a, b DiskRow) int {
		return cmp.Or(cmp.Compare(b2i(a.PageCache), b2i(b.PageCache)), cmp.Compare(a.Operation, b.Operation), a.Bytes-b.Bytes)
	})
	for _, f := range disk.Fits(f.Cells) {
		d.Fits = append(d.Fits, DiskFit{f.Operation, f.Mode == disk.Cached, f.Costs[0], f.Costs[1], 1e3 / f.Costs[1].Value, f.Residual})
	}
	return d
}

// WriteText writes a table for each state of the page cache, and the fits as the
// report's Table 6 has them.
func (d *Transfers) WriteText(w io.Writer) {
	fmt.Fprintln(w, machine(d.Provenance))
	for _, worker := range d.Placement.Workers {
		fmt.Fprintf(w, "%s, a file of %s without a name, one worker on CPU %d\n", d.Dir, view.Bytes(d.FileBytes), worker.CPU.ID)
	}
	for rows := d.Rows; len(rows) > 0; {
		n := 0
		for n < len(rows) && rows[n].PageCache == rows[0].PageCache && rows[n].Operation == rows[0].Operation {
			n++
		}
		fmt.Fprintf(w, "\n%s, page cache %s\n", rows[0].Operation, pageCache(rows[0].PageCache))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "m\tµs\t95 % interval\tMB/s\tsamples\t")
		for _, r := range rows[:n] {
			us := r.Time.Scale(1e-3)
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t\n", view.Bytes(r.Bytes), view.Digits(us.Center, min(us.Center/10, (us.Hi-us.Lo)/2)), view.Interval(us),
				view.Digits(r.MBs.Center, min(r.MBs.Center/10, (r.MBs.Hi-r.MBs.Lo)/2)), r.Time.N)
		}
		t.Flush()
		rows = rows[n:]
	}
	if len(d.Fits) == 0 {
		return
	}
	fmt.Fprintf(w, "\nT = T_s + m·τ\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "operation\tpage cache\tstart T_s, µs\tbandwidth 1/τ, MB/s\tresidual")
	for _, f := range d.Fits {
		start := f.Start
		start.Value, start.Error = start.Value/1e3, start.Error/1e3
		speed := fit.Coefficient{Value: f.MBs, Error: f.MBs * f.Byte.Error / f.Byte.Value, Held: f.Byte.Held}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1f %%\n", f.Operation, pageCache(f.PageCache), view.Coefficient(start), view.Coefficient(speed), 100*f.Residual)
	}
	t.Flush()
}

func pageCache(in bool) string {
	if in {
		return "in"
	}
	return "out"
}

// WriteJSON writes the document.
func (d *Transfers) WriteJSON(w io.Writer) error { return view.WriteJSON(w, d) }
