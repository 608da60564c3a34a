package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// A comparison's defaults: the difference between sessions of one machine from hour to hour, as
// seen on virtual machines, and the least difference that counts. docs/method.md has the
// measurement.
const (
	DefaultDrift = 0.20
	DefaultLeast = 0.03
)

// level is how many of the differences found may be none.
const level = 0.05

// test is the test of a choice.
func (choice Choice) test() fit.Test {
	if choice.Test != nil {
		return *choice.Test
	}
	return fit.Test{Drift: DefaultDrift, Least: DefaultLeast}
}

// A Ratio is a time over the first machine's: 2 is twice as slow.
type Ratio struct {
	Value    float64 `json:"ratio"`
	Tested   bool    `json:"tested"` // both have launches enough
	Lo       float64 `json:"lo,omitempty"`
	Hi       float64 `json:"hi,omitempty"`
	P        float64 `json:"p,omitempty"`          // of one test by itself
	Adjusted float64 `json:"p_adjusted,omitempty"` // for the number of tests (Benjamini–Hochberg)
	Visible  float64 `json:"visible,omitempty"`    // the difference that would have been found in 9 of 10 cases: 0.12 for 12 %
	// Differs is false if replicates such as these are seen by chance where nothing
	// differs by more than the least effect, and where there are none.
	Differs bool `json:"differs"`
}

// ratio tests two times, the replicates of which are sessions.
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

// A Verdict is what a comparison comes to.
type Verdict struct {
	Headline string  `json:"headline,omitempty"` // the largest difference that is certain, a sentence
	Cells    int     `json:"cells"`              // that were tested
	Differ   int     `json:"different"`          // of them
	Visible  float64 `json:"visible"`            // the median difference that would have been found
	Sessions int     `json:"sessions"`           // the fewest of a machine
	Text     string  `json:"text"`
	// Notes say what else the reader must know of it, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

// adjust corrects those that were tested for their number. Differ are those of them that do, and
// visible is the median of the differences that would have been found.
func adjust(all []*Ratio) (tested, differ int, visible float64) {
	all = lists.Filter(all, func(r *Ratio) bool { return r != nil && r.Tested })
	seen := lists.Map(all, func(r *Ratio) float64 { return r.Visible })
	for i, p := range fit.Adjust(lists.Map(all, func(r *Ratio) float64 { return r.P })) {
		if all[i].Adjusted, all[i].Differs = p, p < level; p < level {
			differ++
		}
	}
	if len(all) > 0 {
		slices.Sort(seen)
		visible = seen[len(seen)/2]
	}
	return len(all), differ, visible
}

// Ratios are all that there are to the first machine, nil where there is none.
func (t *Table) Ratios() (all []*Ratio) {
	for _, row := range t.Rows {
		all = append(all, lists.Map(row.Points, func(p Point) *Ratio { return p.Ratio })...)
	}
	return all
}

// conclude corrects all tests for their number, and says what they come to.
func (c *Comparison) conclude(machines []Machine, test fit.Test) {
	var all []*Ratio
	for i := range c.Tables {
		all = append(all, c.Tables[i].Ratios()...)
	}
	for _, k := range c.Surveys {
		for _, row := range k.Rows {
			all = append(all, lists.Map(row.Compared, func(c SurveyCell) *Ratio { return c.Ratio })...)
		}
	}
	v := &c.Verdict
	v.Cells, v.Differ, v.Visible = adjust(all)
	for _, k := range c.Surveys {
		for i := range k.Rows {
			k.Rows[i].count()
		}
	}
	v.Sessions = math.MaxInt
	var once []string // of one session
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

// Untested tells whether there is no answer although machines were measured, for want of
// samples. Published tables have none to test.
func (c *Comparison) Untested() bool {
	return c.Verdict.Cells == 0 && !slices.ContainsFunc(c.Machines, func(m Described) bool { return !m.Samples || m.published })
}

func unsampled(m Described) bool { return !m.Samples }

func (v *Verdict) text(machines []Described, once []string, states int, test fit.Test) string {
	var tables []string // machines that others measured
	for _, m := range machines {
		if m.published && (m.Samples || v.Cells == 0) {
			tables = append(tables, m.Name)
		}
	}
	switch {
	case v.Cells == 0 && slices.ContainsFunc(machines, unsampled):
		return "Nothing could be tested: published tables have no samples, so that the ratios may be noise."
	case v.Cells == 0 && tables != nil:
		return "Nothing could be tested: published tables have few times of each cell, or one, so that the ratios may be noise."
	case v.Cells == 0:
		return "Nothing could be tested: a test takes six launches of each machine or more, and these files have fewer. The ratios may be noise."
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
		v.note("Intervals of %s are over pairs of cores, and published tables say nothing of other hours, which are taken to differ by %s (one standard deviation): what is beyond the intervals may be the hour's.", printable.List(tables), percent(test.Drift))
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
