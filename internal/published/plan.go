package published

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/mpi"
)

// A Timing is the penalty of choices after timing some settings of each case.
type Timing struct {
	Of      string  `json:"timed"` // the settings, in words
	Cases   int     `json:"cases"`
	Penalty Penalty `json:"penalty"`
	Runs    float64 `json:"share_of_runs"` // of the table's runs in these cases
	Time    float64 `json:"share_of_time"`
}

// A Planned evaluation has the timings over the predicted cases of a collective and mapping.
type Planned struct {
	Collective string   `json:"collective"`
	Mapping    string   `json:"mapping"`
	Timings    []Timing `json:"timings"`
}

// timedSettings describes the timed settings, by the number beside the library's own choice.
var timedSettings = [plan.Most + 1]string{"own alone", "own, cheapest", "own, two cheapest"}

// latency is the overhead of a call in a benchmark, in seconds.
const latency = 20e-6

// Plans judges timing: of the library's own choice alone, of the predicted cheapest settings beside it in
// each case, and of the settings that a plan picks.
func (e *Evaluation) Plans() (all []Planned) {
	for _, g := range e.Groups {
		cells, cases := e.planned(g.Collective, g.Mapping)
		if len(cases) == 0 {
			continue
		}
		planned := Planned{Collective: g.Collective, Mapping: g.Mapping}
		for most := range plan.Most + 1 {
			planned.Timings = append(planned.Timings, judge(timedSettings[most], cells, cases, cheapest(cells, most)))
		}
		planned.Timings = append(planned.Timings, judge("a plan", cells, cases, pick(cells)))
		all = append(all, planned)
	}
	return all
}

// planned are the predicted cases of a collective and mapping with the library's own choice measured.
func (e *Evaluation) planned(collective, mapping string) (cells []plan.Cell, cases []*Judged) {
	for i := range e.Cases {
		j := &e.Cases[i]
		if j.Collective == collective && j.Mapping == mapping && j.predicted && j.OwnNs > 0 {
			cells, cases = append(cells, j.cell()), append(cases, j)
		}
	}
	return cells, cases
}

// pick are the settings that a plan times for each cell, within plan.Share of the time of all settings.
func pick(cells []plan.Cell) (timed [][]int) {
	picker := plan.Picker{Most: plan.Most, Cost: func(_ *plan.Cell, o plan.Option) float64 { return o.Seconds + latency }}
	for i := range cells {
		for _, o := range cells[i].Options {
			picker.Budget += plan.Share * picker.Cost(&cells[i], o)
		}
	}
	return picker.Pick(cells).Timed
}

// cell is the case for a plan.
func (j *Judged) cell() plan.Cell {
	c := plan.Cell{Collective: j.Collective, Mapping: j.Mapping, P: j.P, Bytes: j.Bytes, Options: []plan.Option{{}}}
	for _, cell := range j.cells {
		o := plan.Option{Setting: cell.Setting}
		if cell.Predicted != nil {
			_, slowest := cell.Time.Compared()
			o.Seconds = cell.predicted(slowest) / 1e9
		}
		if cell.Setting.Own() {
			c.Options[0] = o
		} else if o.Seconds > 0 {
			c.Options = append(c.Options, o)
		}
	}
	return c
}

// took is the measured time of a setting in seconds; NaN: not measured.
func (j *Judged) took(s mpi.Setting) float64 {
	for _, c := range j.cells {
		if c.Setting == s {
			ns, _ := c.Time.Compared()
			return ns / 1e9
		}
	}
	return math.NaN()
}

// cheapest are the indices of the library's own choice, 0, and of up to most cheapest predicted options.
func cheapest(cells []plan.Cell, most int) (timed [][]int) {
	for i := range cells {
		options := cells[i].Options
		chosen := lists.Indices(len(options))
		slices.SortStableFunc(chosen[1:], func(a, b int) int { return cmp.Compare(options[a].Seconds, options[b].Seconds) })
		timed = append(timed, chosen[:min(len(chosen), most+1)])
	}
	return timed
}

// judge is the penalty of choices after timing these options of each cell.
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
