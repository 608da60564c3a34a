package view

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// A Matrix is times between every two of some things, the same both ways, in ns; or bytes.
type Matrix struct {
	Volume  bool   // bytes, not ns
	Heading string // of text, above a survey's matrices
	Title   string // of charts: what they are all about
	How     string // they were measured: "one pair at a time"
	Name    string // of this one: "null transfer, one way"; where room is short, what stands before the comma
	Bytes   int    // that are moved, for a bandwidth; 0: nothing is
	Axis    string // what rows and columns are: CPU
	Names   []string
	Groups  []Group // of pairs that should be alike, the closest first
	Cells   []Cell  // see At
}

// A Group is the pairs that have something in common.
type Group struct {
	Name   string  `json:"name"`
	Pairs  int     `json:"pairs"`
	Median float64 `json:"median_ns"` // over its pairs; 0 where none is known
}

// A Cell is a pair of things.
type Cell struct {
	Group int          // index in Groups; −1: this pair was not measured
	Time  fit.Estimate // ns, or bytes; its Center is NaN where it is not known
}

// NewMatrix is of things of these names, none of which was measured.
func NewMatrix(axis string, names []string) Matrix {
	return Matrix{Axis: axis, Names: names, Cells: slices.Repeat([]Cell{{Group: -1, Time: fit.Median(nil)}}, len(names)*(len(names)-1)/2)}
}

// At is the cell of two things that are not the same, whichever comes first. Cells are
// the upper half of the matrix, row by row.
func (m *Matrix) At(i, j int) *Cell {
	i, j = min(i, j), max(i, j)
	return &m.Cells[i*len(m.Names)-i*(i+1)/2+j-i-1]
}

// Ends are those of a survey's matrices that have the first size or the last: the least
// and the most.
func Ends(all []Matrix) (ends []Matrix) {
	return lists.Filter(all, func(m Matrix) bool { return m.Bytes == all[0].Bytes || m.Bytes == all[len(all)-1].Bytes })
}

// MatrixNames is how many things a matrix of text has at most, so that it is read.
const MatrixNames = 16

// WriteMatrices writes a survey's matrices under their heading, each with its
// bandwidths, and an empty line after each. Of too many things it says what draws
// them.
func WriteMatrices(w io.Writer, all []Matrix, plot string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "%s\n\n", all[0].Heading)
	if n := len(all[0].Names); n > MatrixNames {
		pairs := 0
		for _, g := range all[0].Groups {
			pairs += g.Pairs
		}
		fmt.Fprintf(w, "%d pairs of %d %ss are too many for a matrix here: a parameter file holds them, and %s draws them\n\n", pairs, n, all[0].Axis, plot)
		return
	}
	for _, m := range all {
		m.writeText(w, m.Name+", ns", func(t fit.Estimate) string { return Center(t) })
		if m.Bytes > 0 {
			m.writeText(w, "bandwidth of transfers"+strings.TrimPrefix(m.Name, "transfer")+", GB/s", func(t fit.Estimate) string { return Digits(float64(m.Bytes)/t.Center, 0) })
		}
	}
}

// writeText writes the first of a pair down and the second across.
func (m *Matrix) writeText(w io.Writer, title string, text func(fit.Estimate) string) {
	rows := [][]string{append([]string{m.Axis}, m.Names[1:]...)}
	width := 3
	for i, name := range m.Names[:len(m.Names)-1] {
		row := append([]string{name}, make([]string, len(m.Names)-1)...)
		for j := i + 1; j < len(m.Names); j++ {
			if c := m.At(i, j); c.Group >= 0 {
				row[j] = text(c.Time)
			}
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		for _, cell := range row {
			width = max(width, len(cell))
		}
	}
	fmt.Fprintln(w, title)
	for _, row := range rows {
		line := fmt.Sprintf("%5s", row[0])
		for _, cell := range row[1:] {
			line += fmt.Sprintf("%*s", width+1, cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(w)
}

// Span is the least and the most of times that are known; +Inf and −Inf where none is.
func (m *Matrix) Span() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, c := range m.Cells {
		if t := c.Time.Center; t > 0 {
			least, most = min(least, t), max(most, t)
		}
	}
	return least, most
}
