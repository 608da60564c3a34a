package params

import (
	"io"
	"math"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
)

// WriteCSV writes a row for each cell, all times in ns: the cell's time, for
// transfers l(k,τ), and what follows from it for transfers, L(m,τ) of the whole
// message and L(S,τ) of its segment. Fields without a value are empty.
func (f *File) WriteCSV(w io.Writer) error {
	out := printable.NewTable(w, ',')
	header := []string{"kind", "setup", "placement", "off_cache", "tau", "m_bytes", "operator", "variant", "n", "delay_ns", "k", "transfers", "samples"}
	for _, name := range []string{"time", "L_m", "L_S"} {
		header = append(header, name+"_ns", name+"_lo_ns", name+"_hi_ns")
	}
	const last = 4
	header = append(header, "segments", "segment_bytes", "transport", "buffers")
	if err := out.Write(header); err != nil {
		return err
	}
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	for _, i := range f.sorted() {
		c := &f.Cells[i]
		row := []string{string(c.Kind), c.Setup, string(c.Placement), strconv.FormatBool(c.OffCache), count(c.Tau), strconv.Itoa(c.Bytes),
			c.Operator, c.Variant, count(c.N), count(c.Delay), count(c.K), count(c.Transfers), strconv.Itoa(len(c.Samples))}
		estimates := []fit.Estimate{c.Time}
		if c.Kind == TransferCell {
			estimates = append(estimates, c.Whole(), c.Segment())
		}
		for _, e := range estimates {
			for _, v := range []float64{e.Center, e.Lo, e.Hi} {
				row = append(row, csvNumber(v, c))
			}
		}
		for len(row) < len(header)-last {
			row = append(row, "")
		}
		row = append(row, count(c.Segments), count(c.SegmentBytes), string(c.Transport), string(c.Buffers))
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// csvNumber has the digits that the file has.
func csvNumber(v float64, c *Cell) string {
	if math.IsInf(v, 0) {
		return ""
	}
	return string(appendNumber(nil, v, c.digits()))
}
