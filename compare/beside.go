package compare

import (
	"math"
	"slices"

	"github.com/taulop/taulop/params"
)

// A Kindred is what machines measured beside transfers, of one kind: pairs, levels of
// the memory, accesses, packed messages, patterns or disks.
type Kindred struct {
	Kind params.Kind  `json:"kind"`
	Rows []KindredRow `json:"rows"` // a machine each, but the first
}

// A KindredRow is a machine's cells over those of the first machine that are of the
// same key: 2 is twice as slow.
type KindredRow struct {
	Machine  string  `json:"machine"`
	Cells    int     `json:"cells"`  // in common
	Mean     float64 `json:"ratio"`  // geometric
	Slower   int     `json:"slower"` // beyond the intervals, which both need
	Faster   int     `json:"faster"`
	Farthest Extreme `json:"farthest"`
}

// An Extreme is the cell whose ratio lies farthest from 1.
type Extreme struct {
	Key   params.Key `json:"cell"`
	Ratio float64    `json:"ratio"`
}

// beside compares what machines measured beside transfers with the first, kinds in
// the order of files.
func beside(machines []Machine) (all []Kindred) {
	first := make(map[params.Key]params.Cell)
	var kinds []params.Kind
	for _, c := range machines[0].File.Cells {
		if c.Variant == "" || !(c.Time.Center > 0) {
			continue
		}
		first[c.Key] = c
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
	}
	for _, kind := range kinds {
		k := Kindred{Kind: kind}
		for _, m := range machines[1:] {
			if row := kindred(m, kind, first); row.Cells > 0 {
				k.Rows = append(k.Rows, row)
			}
		}
		if len(k.Rows) > 0 {
			all = append(all, k)
		}
	}
	return all
}

func kindred(m Machine, kind params.Kind, first map[params.Key]params.Cell) KindredRow {
	row := KindredRow{Machine: m.Name}
	var sum, farthest float64
	for _, c := range m.File.Cells {
		one, found := first[c.Key]
		if c.Kind != kind || !found || !(c.Time.Center > 0) {
			continue
		}
		log := math.Log(c.Time.Center / one.Time.Center)
		if sum += log; row.Cells == 0 || math.Abs(log) > farthest {
			farthest, row.Farthest = math.Abs(log), Extreme{c.Key, c.Time.Center / one.Time.Center}
		}
		row.Cells++
		if above(c.Time, one.Time) {
			row.Slower++
		} else if above(one.Time, c.Time) {
			row.Faster++
		}
	}
	row.Mean = math.Exp(sum / float64(max(1, row.Cells)))
	return row
}
