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

// WriteTrend writes a row for each session, in the order of time, as Apache Otava reads CSV: when it
// began, the version of taulop, and a column for each cell with the session's median over launches
// in ns, of transfers L(m,τ). Otava takes no empty values, so left cells that some session has no
// sample of are left out. It fails without sessions and where no cell is in all.
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
		name := c.metric()
		if c.State != nil && f.state == nil {
			name += "_state_" + c.Label()
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

// trend is the cell's median in each of the sessions, nil where one has none.
func (c *Cell) trend(f *File, sessions []int) (all []float64) {
	of := c.Replicates(f)
	for _, session := range sessions {
		if session >= len(of) || len(of[session]) == 0 {
			return nil
		}
		all = append(all, fit.Median(of[session]).Center/float64(max(1, c.Transfers)))
	}
	return all
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// metric is the cell's name in letters, digits, points and underscores.
func (c *Cell) metric() string {
	return strings.Trim(noWord.ReplaceAllString(strings.ToLower(c.benchmark()), "_"), "_")
}
