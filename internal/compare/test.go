package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// Defaults of the test: the standard deviation of a machine's sessions from hour to hour, measured on
// virtual machines (docs/compare.md), within a state of the machine and where states are not told apart,
// and the least difference that counts.
const (
	DefaultDrift = 0.10
	MixedDrift   = 0.20
	DefaultLeast = 0.03
)

// AssumedDrift is what sessions of one machine at different hours are taken to differ by, one standard
// deviation, where files do not show it.
func AssumedDrift(files ...*params.File) float64 {
	if slices.ContainsFunc(files, func(f *params.File) bool { return !f.Looked() }) {
		return MixedDrift
	}
	return DefaultDrift
}

// level is the accepted share of false differences among those found.
const level = 0.05

// test is the choice's test of machines.
func (choice Choice) test(machines []Machine) *fit.Test {
	test := fit.Test{Drift: -1, Least: DefaultLeast}
	if choice.Test != nil {
		test = *choice.Test
	}
	if test.Drift < 0 {
		test.Drift = AssumedDrift(lists.Map(machines, func(m Machine) *params.File { return m.File })...)
	}
	return &test
}

// A Ratio is a time over the first machine's: 2 is twice as slow.
type Ratio struct {
	Value    float64 `json:"ratio"`
	Tested   bool    `json:"tested"` // both have enough launches
	Lo       float64 `json:"lo,omitempty"`
	Hi       float64 `json:"hi,omitempty"`
	P        float64 `json:"p,omitempty"`          // of one test by itself
	Adjusted float64 `json:"p_adjusted,omitempty"` // for the number of tests (Benjamini–Hochberg)
	Visible  float64 `json:"visible,omitempty"`    // the difference found with a probability of 90 %: 0.12 for 12 %
	Differs  bool    `json:"differs"`              // by more than the least effect, significantly
}

// ratio tests two times by their replicates.
func ratio(first fit.Estimate, a fit.Replicates, time fit.Estimate, b fit.Replicates, test fit.Test) *Ratio {
	r := &Ratio{Value: time.Center / first.Center}
	if !(first.Center > 0) || math.IsInf(r.Value, 0) || math.IsNaN(r.Value) {
		return nil
	}
	d := test.Compare(a, b)
	if !d.Tested {
		return r
	}
	r.Tested, r.Value, r.Lo, r.Hi, r.P, r.Adjusted, r.Visible = true, d.Ratio, d.Lo, d.Hi, d.P, d.P, d.Visible
	return r
}

// A Verdict is the result of a comparison.
type Verdict struct {
	Headline string   `json:"headline,omitempty"` // the largest significant difference, a sentence
	Cells    int      `json:"cells"`              // tested
	Differ   int      `json:"different"`          // significantly
	Visible  float64  `json:"visible"`            // the median of Ratio.Visible
	Sessions int      `json:"sessions"`           // the least number of a machine
	Text     string   `json:"text"`
	Notes    []string `json:"notes,omitempty"` // sentences on the test
}

// adjust corrects the tested ratios for their number. It returns the number of tested and of different
// ratios, and the median of Visible.
func adjust(all []*Ratio) (tested, differ int, visible float64) {
	all = lists.Filter(all, func(r *Ratio) bool { return r != nil && r.Tested })
	for i, p := range fit.Adjust(lists.Map(all, func(r *Ratio) float64 { return r.P })) {
		if all[i].Adjusted, all[i].Differs = p, p < level; p < level {
			differ++
		}
	}
	return len(all), differ, middle(lists.Map(all, func(r *Ratio) float64 { return r.Visible }))
}

// Ratios are all points' ratios to the first machine, nil for a point without one.
func (t Table) Ratios() []*Ratio {
	points := lists.Concat(t.Rows, func(r Row) []Point { return r.Points })
	return lists.Map(points, func(p Point) *Ratio { return p.Ratio })
}

// ratios are all cells' ratios to the first machine.
func (k SurveyTable) ratios() []*Ratio {
	return lists.Map(k.compared(), func(c SurveyCell) *Ratio { return c.Ratio })
}

// conclude corrects all tests for their number, and sets the verdict.
func (c *Comparison) conclude(machines []Machine, test fit.Test) {
	v := &c.Verdict
	all := append(lists.Concat(c.Tables, Table.Ratios), lists.Concat(c.Surveys, SurveyTable.ratios)...)
	v.Cells, v.Differ, v.Visible = adjust(all)
	for _, k := range c.Surveys {
		for i := range k.Rows {
			k.Rows[i].count()
		}
	}
	v.Sessions = math.MaxInt
	var once []string // machines with one session
	for i, m := range machines {
		if !c.Machines[i].Samples && v.Cells > 0 {
			continue // nothing of it is tested
		}
		n := max(1, m.File.Sessions())
		if v.Sessions = min(v.Sessions, n); n == 1 && !m.Published() {
			once = append(once, m.Name)
		}
	}
	v.Headline = c.headline(machines)
	v.Text = v.text(c.Machines, once, len(lists.Filter(c.States, common)), test)
}

// Untested tells whether measured machines have too few samples for any test. Published tables do not
// count.
func (c *Comparison) Untested() bool {
	return c.Verdict.Cells == 0 && !slices.ContainsFunc(c.Machines, func(m Described) bool { return !m.Samples || m.published })
}

func unsampled(m Described) bool { return !m.Samples }

func (v *Verdict) text(machines []Described, once []string, states int, test fit.Test) string {
	var tables []string // published
	for _, m := range machines {
		if m.published && (m.Samples || v.Cells == 0) {
			tables = append(tables, m.Name)
		}
	}
	in := ""
	if states > 0 {
		in = " in each state"
	}
	switch {
	case v.Cells == 0 && slices.ContainsFunc(machines, unsampled):
		return "Nothing could be tested: published tables have no samples, so that the ratios may be noise."
	case v.Cells == 0 && tables != nil:
		return "Nothing could be tested: published tables have few times of each cell, or one, so that the ratios may be noise."
	case v.Cells == 0:
		return "Nothing could be tested: a test takes samples of six launches or more of each machine" + in + ", and no cell of these files has them. The ratios may be noise."
	}
	seen := "differences below " + percent(v.Visible) + " may go unseen"
	cells := printable.Count(v.Cells, "cell")
	if states > 0 {
		cells += " of " + printable.Count(states, "state")
	}
	what := "the machines"
	if len(machines) == 2 {
		what = "the two machines"
	}
	var text string
	if v.Differ == 0 {
		text = fmt.Sprintf("No difference between %s was found in %s; %s.", what, cells, seen)
	} else {
		differ := " differ"
		if v.Differ == 1 {
			differ += "s"
		}
		text = fmt.Sprintf("%s of %s%s by more than %s, corrected for their number; %s.", printable.Count(v.Differ, "ratio"), cells, differ, percent(test.Least), seen)
	}
	if tables != nil {
		v.note("Intervals of %s are over pairs of cores, and published tables say nothing of other hours, which are taken to differ by %s (one standard deviation): a difference beyond the intervals may come from the hour.", printable.List(tables), percent(test.Drift))
	}
	if v.Sessions == 1 && len(once) > 0 {
		of := "each"
		if len(once) < len(machines) {
			of = "of " + printable.List(once)
		}
		v.note("One session %s cannot tell a machine from its hour: hours are taken to differ by %s (one standard deviation).", of, percent(test.Drift))
	}
	if v.Visible > 2*test.Least && tables == nil {
		if n := test.SessionsFor(v.Sessions, v.Visible); n > 0 {
			v.note("%s more of each machine, at other times, would see differences half as large.", printable.Count(n, "session"))
		}
	}
	return text
}

func (v *Verdict) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

func percent(share float64) string {
	if share < 0.1 {
		return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(100*share, 'f', 0, 64) + " %"
}
