package params

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
)

// WriteTrend writes CSV for Apache Otava, a row for each session in the order of time: when it began, the
// version of taulop, and for each cell the session's median over launches in ns, L(m,τ) of transfers.
// Otava accepts no empty values, so cells without samples in some session are omitted; left is their
// number. It fails without sessions, and if no cell is in all of them.
func (f *File) WriteTrend(w io.Writer) (left int, err error) {
	began := make([]time.Time, f.Sessions())
	for _, l := range f.Launches {
		at, err := time.Parse(time.RFC3339Nano, l.Began)
		if first := began[l.Session]; err == nil && (first.IsZero() || at.Before(first)) {
			began[l.Session] = at
		}
	}
	var order []int
	for session, at := range began {
		if !at.IsZero() {
			order = append(order, session)
		}
	}
	if len(order) == 0 {
		return 0, fmt.Errorf("there are no sessions: a trend is of a file that was measured several times")
	}
	slices.SortFunc(order, func(a, b int) int { return began[a].Compare(began[b]) })
	header, columns := []string{"time", "taulop"}, [][]float64(nil)
	for _, c := range f.byState() {
		column := c.alone.trend(f, order)
		if column == nil {
			left++
			continue
		}
		name := strings.Trim(noWord.ReplaceAllString(strings.ToLower(c.benchmark()), "_"), "_")
		if c.State != nil && f.state == nil {
			name += "_state_" + c.label()
		}
		header, columns = append(header, name), append(columns, column)
	}
	if len(columns) == 0 {
		return left, fmt.Errorf("no cell was measured in each of %s", printable.Count(len(order), "session"))
	}
	out := printable.NewTable(w, ',')
	if err := out.Write(header); err != nil {
		return left, err
	}
	for row, session := range order {
		cells := []string{began[session].UTC().Format(time.RFC3339), f.Provenance.Taulop}
		for _, column := range columns {
			cells = append(cells, strconv.FormatFloat(column[row], 'g', 6, 64))
		}
		if err := out.Write(cells); err != nil {
			return left, err
		}
	}
	return left, out.Flush()
}

// trend is the cell's median in each of the sessions; nil if one has no samples.
func (c *Cell) trend(f *File, sessions []int) (medians []float64) {
	r := c.Replicates(f)
	for _, session := range sessions {
		if session >= len(r) || len(r[session]) == 0 {
			return nil
		}
		medians = append(medians, fit.Median(r[session]).Center/float64(max(1, c.Transfers)))
	}
	return medians
}

// noWord is what names of metrics do not have.
var noWord = regexp.MustCompile(`[^A-Za-z0-9.]+`)
