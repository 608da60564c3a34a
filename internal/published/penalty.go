package published

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mpi"
)

// An Evaluation compares choices of algorithms with the best measured ones.
type Evaluation struct {
	Margin float64   `json:"margin"` // the least predicted gain, a share, for replacing the library's own choice
	Groups []Choices `json:"choices"`
	Cases  []Judged  `json:"cases"`
}

// Choices are penalties of choices over the cases of a collective and mapping.
type Choices struct {
	Collective string   `json:"collective"` // or all
	Mapping    string   `json:"mapping"`
	Cases      int      `json:"cases"`
	Predicted  int      `json:"predicted_cases"` // in the others ours is the library's own
	Own        *Penalty `json:"own"`             // the library's own choice; nil: not measured
	Ours       *Penalty `json:"ours"`            // the algorithm that is predicted to be the cheapest; nil without predictions
	Always     *Always  `json:"always"`          // the best of Every that is measured in all cases
	Every      []Always `json:"algorithms"`
	// Mixed counts the cases in which some algorithms have the slowest rank's time and others only the
	// mean over ranks. Alike leaves out the latter algorithms of these cases.
	Mixed int      `json:"mixed_cases"`
	Alike *Choices `json:"alike,omitempty"`
}

// A Penalty is the excess time of choices over the best ones, as a share of these.
type Penalty struct {
	Geometric float64 `json:"geometric_mean"` // of the times over the best ones, less 1: few outliers weigh little
	Mean      float64 `json:"mean"`           // arithmetic
	Worst     float64 `json:"worst"`
	Best      float64 `json:"share_best"` // share of cases in which the choice is the best
}

// Always is an algorithm chosen in all cases in which it was measured.
type Always struct {
	Setting mpi.Setting `json:"setting"`
	Cases   int         `json:"cases"`
	Penalty
}

// A Judged case has the times of choices, ns.
type Judged struct {
	Case
	Best     mpi.Setting  `json:"best"`
	BestNs   float64      `json:"best_ns"`
	OwnNs    float64      `json:"own_ns,omitempty"` // 0: not measured
	Ours     *mpi.Setting `json:"ours"`             // zero: the library's own choice; nil: neither predicted, nor that measured
	OursNs   float64      `json:"ours_ns,omitempty"`
	Measured int          `json:"algorithms"`

	cells     []*Cell
	mixed     bool // see Choices
	predicted bool
}

// penalty is the penalty of a choice that takes ns.
func (j *Judged) penalty(ns float64) float64 { return ns/j.BestNs - 1 }

// Evaluate judges choices in all cases with at least two measured algorithms; if the library's own choice of a
// collective was measured, only in cases that have it. Ours is the measured algorithm with the least
// predicted time. It is the library's own choice if the predicted gain is less than margin, a share, or less
// than the spread of predictions. The gain is over the library's own choice, or over the second cheapest
// algorithm if the library's rules are unknown.
func (c *Comparison) Evaluate(margin float64) *Evaluation {
	e := &Evaluation{Margin: margin}
	var measured []*Cell
	hasOwn := make(map[string]bool) // by collective: the library's own choice was measured
	for i := range c.Cells {
		cell := &c.Cells[i]
		if ns, _ := cell.Time.Compared(); !cell.unknown && ns > 0 {
			measured = append(measured, cell)
			hasOwn[cell.Collective] = hasOwn[cell.Collective] || cell.Setting.Own()
		}
	}
	counts := func(j Judged) bool { return len(j.cells) > 1 && (j.OwnNs > 0 || !hasOwn[j.Collective]) }
	for _, cells := range lists.Groups(measured, func(c *Cell) Case { return c.Case }) {
		if j := judged(cells, margin); counts(j) {
			e.Cases = append(e.Cases, j)
		}
	}
	add := func(collective, mapping string, cases []Judged) {
		choices := func(cases []Judged) Choices {
			c := choicesOf(cases)
			if c.Collective, c.Mapping = collective, mapping; mapping == "" {
				c.Always, c.Every = nil, nil // algorithms of several collectives
			}
			return c
		}
		c := choices(cases)
		if c.Mixed > 0 {
			c.Alike = new(choices(lists.Filter(lists.Map(cases, func(j Judged) Judged { return j.alike(margin) }), counts)))
		}
		e.Groups = append(e.Groups, c)
	}
	groups := lists.Groups(e.Cases, func(j Judged) [2]string { return [2]string{j.Collective, j.Mapping} })
	slices.SortStableFunc(groups, func(a, b []Judged) int { return strings.Compare(a[0].Collective, b[0].Collective) })
	for _, cases := range groups {
		add(cases[0].Collective, cases[0].Mapping, cases)
	}
	if len(groups) > 1 {
		add("all", "", e.Cases)
	}
	return e
}

// judged finds the best algorithm and ours among the cells of a case.
func judged(cells []*Cell, margin float64) Judged {
	slices.SortFunc(cells, func(a, b *Cell) int { return before(a.Setting, b.Setting) }) // what is equal does not depend on the table's order
	j := Judged{Case: cells[0].Case, BestNs: math.Inf(1), Measured: len(cells), cells: cells}
	some, all := false, true
	var own *Cell
	var predicted []*Cell
	for _, cell := range j.cells {
		ns, slowest := cell.Time.Compared()
		some, all = some || slowest, all && slowest
		if ns < j.BestNs {
			j.BestNs, j.Best = ns, cell.Setting
		}
		switch {
		case cell.Setting.Own():
			own, j.OwnNs = cell, ns
		case cell.Predicted != nil:
			predicted = append(predicted, cell)
		}
	}
	j.mixed = some && !all
	if len(predicted) == 0 {
		if own != nil {
			j.Ours, j.OursNs = &own.Setting, j.OwnNs
		}
		return j
	}
	j.predicted = true
	slices.SortStableFunc(predicted, func(a, b *Cell) int { return cmp.Compare(a.predicted(some), b.predicted(some)) })
	taken := predicted[0]
	if own != nil {
		against := own
		if own.Predicted == nil && len(predicted) > 1 {
			against = predicted[1]
		}
		least := max(margin, taken.Spread, against.Spread)
		if against.Predicted != nil && taken.predicted(some) >= (1-least)*against.predicted(some) {
			taken = own
		}
	}
	j.Ours = &taken.Setting
	j.OursNs, _ = taken.Time.Compared()
	return j
}

// alike is a mixed case without the algorithms that have only a mean over ranks.
func (j Judged) alike(margin float64) Judged {
	if !j.mixed {
		return j
	}
	return judged(lists.Filter(j.cells, func(c *Cell) bool { return c.Time.Slowest > 0 }), margin)
}

// choicesOf are the penalties over cases.
func choicesOf(cases []Judged) Choices {
	c := Choices{Cases: len(cases)}
	var own, ours []float64
	every := make(map[mpi.Setting][]float64)
	for i := range cases {
		j := &cases[i]
		if j.mixed {
			c.Mixed++
		}
		if j.predicted {
			c.Predicted++
		}
		if j.OwnNs > 0 {
			own = append(own, j.penalty(j.OwnNs))
		}
		if j.Ours != nil {
			ours = append(ours, j.penalty(j.OursNs))
		}
		for _, cell := range j.cells {
			if ns, _ := cell.Time.Compared(); !cell.Setting.Own() {
				every[cell.Setting] = append(every[cell.Setting], j.penalty(ns))
			}
		}
	}
	if len(own) > 0 {
		c.Own = new(penaltyOf(own))
	}
	if c.Predicted > 0 && len(ours) == len(cases) {
		c.Ours = new(penaltyOf(ours))
	}
	for setting, penalties := range every {
		c.Every = append(c.Every, Always{setting, len(penalties), penaltyOf(penalties)})
	}
	slices.SortFunc(c.Every, func(a, b Always) int { return before(a.Setting, b.Setting) })
	for i, a := range c.Every {
		if a.Cases == len(cases) && (c.Always == nil || a.Geometric < c.Always.Geometric) {
			c.Always = &c.Every[i]
		}
	}
	return c
}

// before orders settings by their algorithms.
func before(a, b mpi.Setting) int {
	return cmp.Or(a.ID-b.ID, cmp.Compare(a.Name, b.Name), a.Fan-b.Fan, a.Segment-b.Segment)
}

// penaltyOf summarises the penalties of cases.
func penaltyOf(penalties []float64) (p Penalty) {
	for _, v := range penalties {
		p.Geometric += math.Log1p(v)
		p.Mean += v
		p.Worst = max(p.Worst, v)
		if v == 0 {
			p.Best++
		}
	}
	n := float64(len(penalties))
	p.Geometric, p.Mean, p.Best = math.Expm1(p.Geometric/n), p.Mean/n, p.Best/n
	return p
}
