// Package plan selects the settings of an MPI library that are worth timing, writes a job that times
// them, and concludes from its results what the library shall choose.
//
// Its opinion: predictions order settings that differ by more than their errors, and timings order
// the others. A timing tells the errors of predictions of similar settings. Nothing is timed twice,
// and incomplete results are useful.
package plan

import (
	"math"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mpi"
)

// An Option is a setting of a library, with its prediction.
type Option struct {
	Setting mpi.Setting `json:"setting"` // zero: the library's own choice
	Seconds float64     `json:"seconds"` // predicted; 0: not known
}

// A Cell is a collective of m bytes among P ranks.
type Cell struct {
	Collective string   `json:"collective"`
	Mapping    string   `json:"mapping,omitempty"`
	P          int      `json:"P"`
	Bytes      int      `json:"m"`
	Options    []Option `json:"options"` // the library's own choice first
}

// index is the index of a setting's option, -1 if there is none.
func (c *Cell) index(s mpi.Setting) int {
	return slices.IndexFunc(c.Options, func(o Option) bool { return o.Setting == s })
}

// The error of a prediction is the logarithm of measured over predicted time. A setting has nearly the
// same error at half the size, or with a few more ranks: errors are an Ornstein-Uhlenbeck process in
// the logarithms of m and P. docs/accuracy.md has the errors of predictions; doubling the size changes
// the error by 0.09, doubling the ranks by 0.2.
const (
	sigma    = 0.25 // standard deviation
	memory   = 14   // octaves of m after which e⁻¹ of an error is left
	ofRanks  = 7    // an octave of P counts as seven of m
	inCommon = 0.5  // share of the variance that settings of one algorithm have in common
	noise    = 0.04 // standard deviation of what is timed
	unsure   = 0.5  // standard deviation of an own choice that is not known
)

// The timings of plans that are evaluated with published times.
const (
	Most  = 2    // settings of a cell beside the library's own choice
	Share = 0.25 // of what timing all settings takes, at most
)

// shift is the variance of a setting's error, given the error at a distance.
func shift(octaves float64) float64 { return sigma*sigma*-math.Expm1(-2*octaves/memory) + noise*noise }

// rows has the neighbours of cells: those of the same collective, mapping and P, by size, and those
// of the same size, by P.
type rows struct {
	cells []Cell
	at    [][2]float64 // where each is, in octaves of m
	lines [][2][]int   // of each cell, the indices of the cells of its two lines
	place [][2]int     // where it stands in them
}

func newRows(cells []Cell) *rows {
	type key struct {
		collective, mapping string
		p, m                int
	}
	r := &rows{cells: cells, at: make([][2]float64, len(cells)), lines: make([][2][]int, len(cells)), place: make([][2]int, len(cells))}
	for i := range cells {
		r.at[i] = [2]float64{math.Log2(float64(max(1, cells[i].Bytes))), ofRanks * math.Log2(float64(cells[i].P))}
	}
	for dimension := range 2 {
		of := func(i int) key {
			c := &cells[i]
			if dimension == 0 {
				return key{c.Collective, c.Mapping, c.P, -1}
			}
			return key{c.Collective, c.Mapping, -1, c.Bytes}
		}
		for _, line := range lists.Groups(lists.Indices(len(cells)), of) {
			slices.SortFunc(line, func(a, b int) int {
				return cells[a].Bytes - cells[b].Bytes + cells[a].P - cells[b].P
			})
			for at, i := range line {
				r.lines[i][dimension], r.place[i][dimension] = line, at
			}
		}
	}
	return r
}

// distance is the distance of two cells of a line, in octaves of m.
func (r *rows) distance(a, b int) float64 {
	return math.Abs(r.at[a][0]-r.at[b][0]) + math.Abs(r.at[a][1]-r.at[b][1])
}

// nearest are the nearest cells on either side of both lines of a cell for which known holds.
func (r *rows) nearest(cell int, known func(cell int) bool) (found []int) {
	for dimension, line := range r.lines[cell] {
		for _, step := range []int{-1, 1} {
			for at := r.place[cell][dimension] + step; at >= 0 && at < len(line); at += step {
				if r.distance(cell, line[at]) > memory/2 {
					break
				}
				if known(line[at]) {
					found = append(found, line[at])
					break
				}
			}
		}
	}
	return found
}
