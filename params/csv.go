package params

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
)

// WriteValues writes a row for each cell, times in ns: the cell's time, l(k,τ) of transfers, and for
// transfers L(m,τ) of the whole message and L(S,τ) of its segment, corrected by Alone. Fields without a
// value are empty. If the machine had several states, a cell has a row for each state of its workers, and
// three more columns: the time of a flag, the state's share of the time, and whether something slows a core.
func (f *File) WriteValues(w io.Writer, separator rune) error {
	out := printable.NewTable(w, separator)
	header := []string{"kind", "setup", "placement", "off_cache", "tau", "m_bytes", "operator", "variant", "n", "delay_ns", "k", "transfers", "samples"}
	for _, name := range []string{"time", "L_m", "L_S"} {
		header = append(header, name+"_ns", name+"_lo_ns", name+"_hi_ns")
	}
	times := len(header)
	header = append(header, "segments", "segment_bytes", "transport", "buffers")
	cells := f.byState()
	several := slices.ContainsFunc(cells, func(c cellIn) bool { return c.State != nil })
	if several {
		header = append(header, "state_ns", "state_share", "state_slowed")
	}
	if err := out.Write(header); err != nil {
		return err
	}
	count := func(n int) string {
		return printable.If(n != 0, strconv.Itoa(n))
	}
	for _, c := range cells {
		row := []string{string(c.Kind), c.Setup, string(c.Placement), strconv.FormatBool(c.OffCache), count(c.Tau), strconv.Itoa(c.Bytes),
			c.Operator, c.VariantName(), count(c.N), count(c.Delay), count(c.K), count(c.Transfers), strconv.Itoa(len(c.Samples))}
		estimates := []fit.Estimate{c.Time}
		if c.Kind == TransferCell {
			estimates = append(estimates, c.alone.Whole(), c.alone.Segment())
		}
		for _, e := range estimates {
			for _, v := range []float64{e.Center, e.Lo, e.Hi} {
				row = append(row, strings.TrimPrefix(string(appendNumber(nil, v, c.digits())), "null"))
			}
		}
		row = append(row, make([]string, times-len(row))...)
		row = append(row, count(c.Segments), count(c.SegmentBytes), string(c.Transport), string(c.Buffers))
		switch {
		case c.State != nil:
			row = append(row, strconv.FormatFloat(c.NS, 'f', 2, 64), strconv.FormatFloat(c.Share, 'f', 4, 64), strconv.FormatBool(c.Slow > 0))
		case several:
			row = append(row, "", "", "")
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}
