package view

import (
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// A Matrix is a symmetric matrix of times in ns between pairs, for example of CPUs, or of bytes.
type Matrix struct {
	Volume  bool   // bytes, not ns
	Heading string // of text, above all matrices of a survey
	Title   string // of charts, above all matrices of a survey
	How     string // they were measured: "one pair at a time"
	Name    string // of this one: "null transfer, one way"; the part before the comma is its short name
	Bytes   int    // that a pair moves, for its bandwidth; 0: none
	Axis    string // what rows and columns are: CPU
	Names   []string
	Groups  []Group // of pairs that should be alike, the closest first
	Cells   []Cell  // the upper half row by row, see At
}

// A Group is pairs that share a level of the machine.
type Group struct {
	Name   string  `json:"name"`
	Pairs  int     `json:"pairs"`
	Median float64 `json:"median_ns"` // over its pairs; 0 where none is known
}

// A Cell is a pair.
type Cell struct {
	Group int          // index in Groups; −1: this pair was not measured
	Time  fit.Estimate // ns, or bytes; its Center is NaN if unknown
}

// NewMatrix has no measured pair.
func NewMatrix(axis string, names []string) Matrix {
	return Matrix{Axis: axis, Names: names, Cells: slices.Repeat([]Cell{{Group: -1, Time: fit.Median(nil)}}, len(names)*(len(names)-1)/2)}
}

// At is the cell of a pair, i ≠ j, in either order.
func (m *Matrix) At(i, j int) *Cell {
	i, j = min(i, j), max(i, j)
	return &m.Cells[i*len(m.Names)-i*(i+1)/2+j-i-1]
}

// Ends are a survey's matrices of the first and the last size, the smallest and the largest.
func Ends(all []Matrix) (ends []Matrix) {
	return lists.Filter(all, func(m Matrix) bool { return m.Bytes == all[0].Bytes || m.Bytes == all[len(all)-1].Bytes })
}

// MatrixNames is the largest side of a matrix in text.
const MatrixNames = 16

// MatrixTables are a survey's matrices under their heading, each with its bandwidths. For matrices that are
// too large a sentence names the command plot instead.
func MatrixTables(all []Matrix, plot string) []Table {
	if len(all) == 0 {
		return nil
	}
	first := &all[0]
	tables := []Table{{Title: first.Heading}}
	if n := len(first.Names); n > MatrixNames {
		pairs, note := lists.Sum(first.Groups, func(g Group) int { return g.Pairs }), Table{}
		note.Note("%d pairs of %d %ss are too many for a matrix here: a parameter file holds them, and %s draws them", pairs, n, first.Axis, plot)
		return append(tables, note)
	}
	for _, m := range all {
		tables = append(tables, m.table(m.Name+", ns", Center))
		if m.Bytes > 0 {
			tables = append(tables, m.table("bandwidth of transfers"+strings.TrimPrefix(m.Name, "transfer")+", GB/s",
				func(t fit.Estimate) string { return Digits(float64(m.Bytes)/t.Center, 0) }))
		}
	}
	return tables
}

func (m *Matrix) table(title string, text func(fit.Estimate) string) Table {
	t := Table{Title: title, Columns: Numbers(append([]string{m.Axis}, m.Names[1:]...)...)}
	for i, name := range m.Names[:len(m.Names)-1] {
		row := make([]string, len(m.Names)-1)
		for j := i + 1; j < len(m.Names); j++ {
			if c := m.At(i, j); c.Group >= 0 {
				row[j-1] = text(c.Time)
			}
		}
		t.Add(name, row)
	}
	return t
}

// Span is the least and the most of known times; +Inf and −Inf if none is known.
func (m *Matrix) Span() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, c := range m.Cells {
		if t := c.Time.Center; t > 0 {
			least, most = min(least, t), max(most, t)
		}
	}
	return least, most
}
