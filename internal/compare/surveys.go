package compare

import (
	"math"
	"slices"
	"unique"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A SurveyTable is one kind of survey, or of a sweep beside transfers, on several machines. The first one is the
// first that has cells of the kind in common with another one.
type SurveyTable struct {
	Kind    params.Kind  `json:"kind"`
	State   *InState     `json:"state,omitempty"` // as in Table
	Machine string       `json:"machine"`         // the first one
	First   []SurveyCell `json:"first"`           // its cells in common with another one
	Rows    []SurveyRow  `json:"rows"`            // of the machines after it
}

// A SurveyRow is the ratios of a machine's cells to the first machine's: 2 is twice as slow.
type SurveyRow struct {
	Machine  string       `json:"machine"`
	Cells    int          `json:"cells"`  // in common
	Mean     float64      `json:"ratio"`  // geometric
	Tested   int          `json:"tested"` // cells with enough samples
	Slower   int          `json:"slower"` // tested cells that differ, see Ratio
	Faster   int          `json:"faster"`
	Farthest Extreme      `json:"farthest"`
	Compared []SurveyCell `json:"compared"` // in the order of the file
}

// An Extreme is the cell whose ratio lies farthest from 1.
type Extreme struct {
	Key   params.Key `json:"cell"`
	Ratio float64    `json:"ratio"`
}

// A SurveyCell is a cell beside the first machine's.
type SurveyCell struct {
	params.Key
	Time    fit.Estimate `json:"time_ns"`
	Samples int          `json:"samples"`
	Ratio   *Ratio       `json:"to_first,omitempty"` // nil for the first itself
}

// surveys compares the chosen cells of surveys of machines in a state, kinds in the order of files.
func (choice Choice) surveys(state *InState, machines []Machine) (all []SurveyTable) {
	return choice.kinds(state, machines, func(c params.Cell) bool { return ofSurvey(c) && choice.surveyed(c.Key) })
}

// swept are the kinds of a sweep beside transfers: y, copies and reductions.
var swept = []params.Kind{params.NullCell, params.CopyCell, params.OwnCell, params.GammaCell}

// Swept tells whether a kind is one of a sweep beside transfers, and of no survey.
func Swept(k params.Kind) bool { return slices.Contains(swept, k) }

// beside compares what sweeps have beside transfers of channels.
func (choice Choice) beside(state *InState, machines []Machine, channels []Channel) []SurveyTable {
	return choice.kinds(state, machines, func(c params.Cell) bool {
		return Swept(c.Kind) && c.Time.Center > 0 && slices.ContainsFunc(channels, func(of Channel) bool {
			if c.Kind == params.NullCell {
				return c.Placement == of.Placement && c.Setup == of.Setup
			}
			return c.Placement == of.Placement && c.OffCache == of.OffCache && c.Bytes == of.Bytes
		})
	})
}

// kinds compares cells of machines in a state, kinds in the order of files.
func (choice Choice) kinds(state *InState, machines []Machine, chosen func(params.Cell) bool) (all []SurveyTable) {
	compared := make(map[params.Kind]bool)
	for i, one := range machines {
		cells := lists.Filter(one.File.Cells, func(c params.Cell) bool { return chosen(c) && !compared[c.Kind] })
		for _, first := range lists.Groups(cells, func(c params.Cell) params.Kind { return c.Kind }) {
			k := SurveyTable{Kind: first[0].Kind, State: state, Machine: one.Name}
			for _, m := range machines[i+1:] {
				if row := surveyRow(one.File, m, first, *choice.Test); row.Cells > 0 {
					k.Rows = append(k.Rows, row)
				}
			}
			if len(k.Rows) > 0 {
				k.First, compared[k.Kind] = k.common(first), true
				all = append(all, k)
			}
		}
	}
	return all
}

// ofSurvey tells cells of surveys with a time.
func ofSurvey(c params.Cell) bool { return c.Variant != nil && c.Time.Center > 0 }

// surveyRow compares a machine's cells with the cells of the first file.
func surveyRow(firstFile *params.File, m Machine, first []params.Cell, test Test) SurveyRow {
	row := SurveyRow{Machine: m.Name}
	ones := lists.ToMap(first, func(c params.Cell) (params.Key, params.Cell) { return c.Key, c })
	var sum, farthest float64
	for _, c := range m.File.Cells {
		one, found := ones[c.Key]
		if !found || !(c.Time.Center > 0) {
			continue
		}
		log := math.Log(c.Time.Center / one.Time.Center)
		if sum += log; row.Cells == 0 || math.Abs(log) > farthest {
			farthest, row.Farthest = math.Abs(log), Extreme{c.Key, c.Time.Center / one.Time.Center}
		}
		row.Cells++
		row.Compared = append(row.Compared, SurveyCell{c.Key, c.Time, len(c.Samples),
			ratio(one.Time, one.Replicates(firstFile), c.Time, c.Replicates(m.File), test.cell(c.Key))})
	}
	row.Mean = math.Exp(sum / float64(max(1, row.Cells)))
	return row
}

// count counts tested and differing cells, after all ratios were corrected for their number.
func (r *SurveyRow) count() {
	for _, c := range r.Compared {
		switch q := c.Ratio; {
		case q == nil || !q.Tested:
			continue
		case q.Differs && q.Value > 1:
			r.Slower++
		case q.Differs:
			r.Faster++
		}
		r.Tested++
	}
}

// compared are the cells of the machines after the first.
func (k SurveyTable) compared() []SurveyCell {
	return lists.Concat(k.Rows, func(r SurveyRow) []SurveyCell { return r.Compared })
}

// common are the cells of the first machine that another machine has.
func (k *SurveyTable) common(first []params.Cell) []SurveyCell {
	others := lists.Counts(k.compared(), func(c SurveyCell) params.Key { return c.Key })
	first = lists.Filter(first, func(c params.Cell) bool { return others[c.Key] > 0 })
	return lists.Map(first, func(c params.Cell) SurveyCell {
		return SurveyCell{Key: c.Key, Time: c.Time, Samples: len(c.Samples)}
	})
}

// fleetSurveys are the chosen survey cells of at least two machines, kinds in the order of files.
func (choice Choice) fleetSurveys(machines []*Reduced, contents []*content) (kinds []FleetKind) {
	at := make(map[unique.Handle[params.Key]]*FleetCell)
	var cells []*FleetCell
	for n, v := range contents {
		for _, c := range v.surveys {
			cell := at[c.key]
			if cell == nil {
				cell = &FleetCell{Key: c.key.Value()}
				at[c.key], cells = cell, append(cells, cell)
			}
			cell.Scores = append(cell.Scores, Score{Machine: machines[n].Name, Time: c.time, Bandwidth: math.NaN(), A: math.NaN()})
		}
	}
	several := lists.Filter(cells, func(c *FleetCell) bool { return len(c.Scores) > 1 && choice.surveyed(c.Key) })
	for _, cells := range lists.Groups(several, func(c *FleetCell) params.Kind { return c.Kind }) {
		kinds = append(kinds, FleetKind{Kind: cells[0].Kind, Cells: cells})
	}
	return kinds
}
