// Package coretocore reads matrices of core-to-core-latency --csv, the format of most published ones of
// large machines: n lines of n comma-separated values; value j of line i is the time in ns one way
// between CPUs i and j, empty on the diagonal and above it.
package coretocore

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Limits of a matrix, which is not trusted.
const (
	maxLine = 1 << 18 // bytes
	maxCPUs = 1 << 12
	maxTime = 1e9 // ns
)

// A Matrix is the times in ns between CPUs, symmetric; NaN on the diagonal and for pairs that were not
// measured.
type Matrix [][]float64

// Looks reports whether a file begins like a matrix: two lines of as many values, without a time on the
// diagonal.
func Looks(head string) bool {
	lines := append(strings.SplitN(strings.TrimPrefix(head, "\ufeff"), "\n", 3), "")
	first, second := strings.Split(lines[0], ","), strings.Split(lines[1], ",")
	for i, cell := range slices.Concat(first, second) {
		ns, err := time(cell)
		if err != nil || !math.IsNaN(ns) && (i == 0 || i == len(first)+1) {
			return false
		}
	}
	return len(first) > 1 && len(first) == len(second)
}

// Read reads a matrix. Of a full one, with both directions, it takes the mean. Errors begin with name
// and line.
func Read(r io.Reader, name string) (Matrix, error) {
	lines := infile.NewLines(r, name, maxLine)
	var rows [][]float64
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" && (len(rows) > 0 || lines.Number > 1) {
			continue // the first row has commas, unless it is the only one
		}
		cells := strings.Split(text, ",")
		switch n := len(cells); {
		case n > maxCPUs:
			return nil, lines.Errorf("%d values; the most is %d CPUs", n, maxCPUs)
		case len(rows) > 0 && n != len(rows[0]):
			return nil, lines.Errorf("%d values where the first line has %d: give the matrix as core-to-core-latency --csv prints it", n, len(rows[0]))
		case len(rows) == len(cells):
			return nil, lines.Errorf("more lines than the %d values that each has", n)
		}
		row := make([]float64, len(cells))
		for i, cell := range cells {
			var err error
			if row[i], err = time(cell); err != nil {
				return nil, lines.Errorf("value %d: %w", i+1, err)
			}
		}
		rows = append(rows, row)
	}
	if err := lines.Failed("this is no matrix of CPUs"); err != nil {
		return nil, err
	}
	switch {
	case len(rows) < 2 || len(rows) < len(rows[0]):
		return nil, fmt.Errorf("%s: %s of a matrix, which has two lines or more and as many values in each: it was cut off, or its lines have more values than there are CPUs", name, printable.Count(len(rows), "line"))
	case numbered(rows):
		return nil, fmt.Errorf("%s: the first line and the first column number the CPUs: leave them out", name)
	}
	return symmetric(rows, name)
}

// numbered reports whether the first row and the first column count from 0 or 1.
func numbered(rows [][]float64) bool {
	for _, first := range []int{0, 1} {
		counts := len(rows) > 2
		for i := 2; i < len(rows); i++ { // 0 is no time
			n := float64(first + i - 1)
			counts = counts && rows[0][i] == n && rows[i][0] == n
		}
		if counts {
			return true
		}
	}
	return false
}

// time is a value in ns; NaN: none.
func time(cell string) (float64, error) {
	if cell = strings.TrimSpace(cell); cell == "" || strings.EqualFold(cell, "nan") {
		return math.NaN(), nil
	}
	ns, err := decimal.Parse(cell)
	if err != nil || !(ns >= 0 && ns <= maxTime) {
		return 0, fmt.Errorf("%.40q is no time in ns", cell)
	}
	if ns == 0 { // on some diagonals
		return math.NaN(), nil
	}
	return ns, nil
}

// symmetric averages both directions.
func symmetric(rows [][]float64, name string) (Matrix, error) {
	found := false
	for i := range rows {
		rows[i][i] = math.NaN()
		for j := range i {
			low, high := rows[i][j], rows[j][i]
			switch {
			case math.IsNaN(low):
				low = high
			case !math.IsNaN(high):
				low = (low + high) / 2
			}
			rows[i][j], rows[j][i] = low, low
			found = found || !math.IsNaN(low)
		}
	}
	if !found {
		return nil, fmt.Errorf("%s: a matrix without a time", name)
	}
	return rows, nil
}

// Whole is the level of CPUs of one machine with unknown topology.
const Whole = "same machine"

// File is a parameter file of a matrix: null transfers between pairs of CPUs, without samples and
// intervals. cpus are the rows' CPUs; nil counts from 0. levels are the machine's; nil is one level of
// all CPUs. It fails if CPUs and rows differ in number.
func (m Matrix) File(cpus []int, levels numa.Levels) (*params.File, error) {
	if cpus == nil {
		cpus = lists.Indices(len(m))
	}
	if len(cpus) != len(m) {
		return nil, fmt.Errorf("the matrix is of %d CPUs, not of %d", len(m), len(cpus))
	}
	if levels == nil {
		levels = numa.Levels{{Name: Whole, Groups: []numa.CPUSet{numa.SetOf(cpus...)}}}
	}
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Plan: params.Plan{
		Policies: []numa.Policy{numa.List}, Taus: []int{1}, Caches: []bool{false}}}
	f.Provenance.Levels = levels
	f.Provenance.Online = numa.SetOf(cpus...)
	f.Provenance.Allowed = f.Provenance.Online
	for i := range m {
		for j := range i {
			if ns := m[i][j]; !math.IsNaN(ns) {
				f.Cells = append(f.Cells, params.Cell{
					Key:  params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: params.PairOf(cpus[i], cpus[j], params.UnknownHome)},
					Time: fit.Unbounded(ns),
				})
			}
		}
	}
	return f, nil
}
