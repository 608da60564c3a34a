// Package plan says which settings of an MPI library are worth timing, has a job time them, and
// concludes from what the job took what the library shall choose.
//
// Its opinion: a prediction orders settings that differ by more than it is wrong, and a clock the
// others. What was timed says how wrong predictions are of settings nearby. Nothing is timed twice,
// and what was timed is of use however much is missing.
package plan

import (
	"math"
	"slices"

	"github.com/taulop/taulop/mpi"
)

// An Option is a setting that a library can be told, and what is predicted of it.
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

// index is the option of a setting, -1 where there is none.
func (c *Cell) index(s mpi.Setting) int {
	return slices.IndexFunc(c.Options, func(o Option) bool { return o.Setting == s })
}

// The error of a prediction, as the logarithm of the measured time by the predicted one. The same
// setting of half the size, or of a few ranks more, is wrong by nearly the same factor: errors are a
// process in the logarithms of m and P that forgets. docs/accuracy.md and docs/levels.md have how far
// predictions are off; twice the size shifts the error by 0.09, twice the ranks by 0.2.
const (
	sigma    = 0.25 // standard deviation
	memory   = 14   // octaves of m after which e⁻¹ of an error is left
	ofRanks  = 7    // an octave of P counts as seven of m
	inCommon = 0.5  // share of the variance that settings of one algorithm have in common
	noise    = 0.04 // standard deviation of what is timed
	unsure   = 0.5  // standard deviation of an own choice that is not known
)

// What plans that are judged by published times have timed.
const (
	Most  = 2    // settings of a cell beside the library's own choice
	Share = 0.25 // of what timing all settings takes, at most
)

// shift is the variance of the error of a setting where it is known at a distance.
func shift(octaves float64) float64 { return sigma*sigma*-math.Expm1(-2*octaves/memory) + noise*noise }

// rows are neighbours of cells: those of one collective, mapping and P, by size, and those of one
// size, by P.
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
		lines := make(map[key][]int)
		of := func(c *Cell) key {
			if dimension == 0 {
				return key{c.Collective, c.Mapping, c.P, -1}
			}
			return key{c.Collective, c.Mapping, -1, c.Bytes}
		}
		for i := range cells {
			k := of(&cells[i])
			lines[k] = append(lines[k], i)
		}
		for _, line := range lines {
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

// distance is how far cells of a line are apart, in octaves of m.
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
