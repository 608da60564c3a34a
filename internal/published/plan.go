package published

import (
	"math"
	"slices"

	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/mpi"
)

// A Timing is what timing some settings of each case is worth.
type Timing struct {
	Of      string  `json:"timed"` // in words
	Cases   int     `json:"cases"`
	Penalty Penalty `json:"penalty"`
	Runs    float64 `json:"share_of_runs"` // of all that the table has in these cases
	Time    float64 `json:"share_of_time"`
}

// A Planned evaluation is what plans are worth over the cases of a collective and mapping that are predicted.
type Planned struct {
	Collective string   `json:"collective"`
	Mapping    string   `json:"mapping"`
	Timings    []Timing `json:"timings"`
}

// beside says which settings are timed, by how many.
var beside = [plan.Most + 1]string{"own alone", "own, cheapest", "own, two cheapest"}

// latency is what a call takes in a benchmark besides the collective, in seconds.
const latency = 20e-6

// Plans judges what timing is worth: of no setting but the library's own choice, of the cheapest
// predicted ones beside it in each case, and of what a plan says.
func (e *Evaluation) Plans() (all []Planned) {
	for _, g := range e.Groups {
		cells, cases := e.planned(g.Collective, g.Mapping)
		if len(cases) == 0 {
			continue
		}
		of := Planned{Collective: g.Collective, Mapping: g.Mapping}
		for most := range plan.Most + 1 {
			of.Timings = append(of.Timings, judge(beside[most], cells, cases, cheapest(cells, most)))
		}
		of.Timings = append(of.Timings, judge("a plan", cells, cases, pick(cells)))
		all = append(all, of)
	}
	return all
}

// planned are the predicted cases of a collective and mapping in which the library's own choice was measured.
func (e *Evaluation) planned(collective, mapping string) (cells []plan.Cell, cases []*Judged) {
	for i := range e.Cases {
		j := &e.Cases[i]
		if j.Collective == collective && j.Mapping == mapping && j.predicted && j.OwnNs > 0 {
			cells, cases = append(cells, j.cell()), append(cases, j)
		}
	}
	return cells, cases
}

// pick is what a plan has timed of each cell, in its share of the time of all settings.
func pick(cells []plan.Cell) (timed [][]int) {
	picker := plan.Picker{Most: plan.Most, Cost: func(_ *plan.Cell, o plan.Option) float64 { return o.Seconds + latency }}
	for i := range cells {
		for _, o := range cells[i].Options {
			picker.Budget += plan.Share * picker.Cost(&cells[i], o)
		}
	}
	return picker.Pick(cells).Timed
}

// cell is a case as plans see it.
func (j *Judged) cell() plan.Cell {
	c := plan.Cell{Collective: j.Collective, Mapping: j.Mapping, P: j.P, Bytes: j.Bytes, Options: []plan.Option{{}}}
	for _, cell := range j.cells {
		o := plan.Option{Setting: cell.Setting}
		if cell.Predicted != nil {
			_, slowest := cell.Time.Compared()
			o.Seconds = cell.Predicted.as(slowest) / 1e9
		}
		if cell.Setting.Own() {
			c.Options[0] = o
		} else if o.Seconds > 0 {
			c.Options = append(c.Options, o)
		}
	}
	return c
}

// took is what a setting was measured to take, in seconds; NaN where it was not.
func (j *Judged) took(s mpi.Setting) float64 {
	for _, c := range j.cells {
		if c.Setting == s {
			ns, _ := c.Time.Compared()
			return ns / 1e9
		}
	}
	return math.NaN()
}

// cheapest times the own choice and the cheapest predicted of all cells.
func cheapest(cells []plan.Cell, most int) (timed [][]int) {
	for i := range cells {
		of := []int{0}
		for len(of) <= most {
			best := 0
			for o := 1; o < len(cells[i].Options); o++ {
				if !slices.Contains(of, o) && (best == 0 || cells[i].Options[o].Seconds < cells[i].Options[best].Seconds) {
					best = o
				}
			}
			if best == 0 {
				break
			}
			of = append(of, best)
		}
		timed = append(timed, of)
	}
	return timed
}

// judge is what choices by timings cost, where cells have these options timed.
func judge(of string, cells []plan.Cell, cases []*Judged, timed [][]int) (t Timing) {
	times := make(plan.Times, len(cells))
	runs, all, seconds, total := 0, 0, 0.0, 0.0
	for i := range cells {
		times[i] = make([]plan.Time, len(cells[i].Options))
		for _, o := range timed[i] {
			times[i][o].Seconds = cases[i].took(cells[i].Options[o].Setting)
			runs++
			seconds += times[i][o].Seconds
		}
		for _, c := range cases[i].cells {
			ns, _ := c.Time.Compared()
			all++
			total += ns / 1e9
		}
	}
	var penalties []float64
	for i, d := range plan.Decide(cells, times) {
		penalties = append(penalties, cases[i].took(cells[i].Options[d.Option].Setting)/(cases[i].BestNs/1e9)-1)
	}
	return Timing{Of: of, Cases: len(cells), Penalty: penaltyOf(penalties), Runs: float64(runs) / float64(all), Time: seconds / total}
}
