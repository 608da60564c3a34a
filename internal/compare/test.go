package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// DefaultLeast is the least difference that counts.
const DefaultLeast = 0.03

// A Drift is what a machine's sessions at different hours are taken to differ by, one relative standard
// deviation.
type Drift struct {
	InCache  float64 `json:"in_cache"`
	OffCache float64 `json:"off_cache"` // and of disks and networks
}

// Drifts where files do not show it, measured on virtual machines (docs/compare.md): within a state of the
// machine, and where states are not told apart.
var (
	DefaultDrift = Drift{0.05, 0.10}
	MixedDrift   = Drift{0.20, 0.20}
)

// AssumedDrift is MixedDrift if a file does not tell states apart, else DefaultDrift.
func AssumedDrift(files ...*params.File) Drift {
	if slices.ContainsFunc(files, func(f *params.File) bool { return !f.Looked() }) {
		return MixedDrift
	}
	return DefaultDrift
}

// Everywhere is the same drift of all times.
func Everywhere(share float64) *Drift { return &Drift{share, share} }

// Of is the drift of times in or off cache.
func (d Drift) Of(offCache bool) float64 {
	if offCache {
		return d.OffCache
	}
	return d.InCache
}

// anywhere are the kinds whose data may be in memory, or elsewhere, with no word of it in their keys.
var anywhere = []params.Kind{params.LevelCell, params.LoadedCell, params.AccessCell, params.DiskCell, params.NetCell, params.ChannelCell}

// String is the drift in percent.
func (d Drift) String() string {
	return printable.Either(d.InCache == d.OffCache,
		percent(d.InCache), percent(d.InCache)+" in cache and "+percent(d.OffCache)+" off cache")
}

// A Test tells machines apart.
type Test struct {
	Drift *Drift  // nil: AssumedDrift, of a baseline OwnDrift
	Least float64 // the least difference that counts
}

// assuming is the test of files, with AssumedDrift if it has none.
func (t Test) assuming(files []*params.File) Test {
	if t.Drift == nil {
		drift := AssumedDrift(files...)
		t.Drift = &drift
	}
	return t
}

// Between is the test of times in or off cache that come from files.
func (t Test) Between(files []*params.File, offCache bool) fit.Test {
	return fit.Test{Drift: t.assuming(files).Drift.Of(offCache), Least: t.Least}
}

// cell is the test of a cell.
func (t Test) cell(k params.Key) fit.Test {
	return fit.Test{Drift: t.Drift.Of(k.OffCache || slices.Contains(anywhere, k.Kind)), Least: t.Least}
}

// level is the accepted share of false differences among those found.
const level = 0.05

// test is the choice's test of machines.
func (choice Choice) test(machines []Machine) *Test {
	test := Test{Least: DefaultLeast}
	if choice.Test != nil {
		test = *choice.Test
	}
	test = test.assuming(lists.Map(machines, func(m Machine) *params.File { return m.File }))
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

	drift float64 // of its test
}

// ratio tests two times by their replicates.
func ratio(first fit.Estimate, a fit.Replicates, time fit.Estimate, b fit.Replicates, test fit.Test) *Ratio {
	r := &Ratio{Value: time.Center / first.Center, drift: test.Drift}
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

// adjust corrects the tested ratios for their number, each counted once. It returns the number of tested and of
// different ratios, and the median of Visible.
func adjust(all []*Ratio) (tested, differ int, visible float64) {
	all = lists.Unique(lists.Filter(all, func(r *Ratio) bool { return r != nil && r.Tested }))
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

// share gives the tables of several setups one ratio of the isolated transfer that stands in all of them: it is one test.
func (c *Comparison) share() {
	type isolated struct {
		state          *InState
		first, machine string
		key            params.Key
	}
	ratios := make(map[isolated]*Ratio)
	for _, t := range c.Tables {
		key := t.Channel.Key(1)
		key.Setup = params.Isolated
		for _, r := range t.Rows[1:] {
			if !r.Isolated || r.Points[0].Tau != 1 {
				continue
			}
			of := isolated{t.State, t.Rows[0].Machine, r.Machine, key}
			ratios[of] = cmp.Or(ratios[of], r.Points[0].Ratio)
			r.Points[0].Ratio = ratios[of]
		}
	}
}

// conclude corrects all tests for their number, and sets the verdict.
func (c *Comparison) conclude(machines []Machine, test Test) {
	v := &c.Verdict
	c.share()
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
	v.Text = v.text(c.Machines, once, len(lists.Filter(c.States, common)), test, unseen(all, *test.Drift))
}

// unseen is the median of Visible, in and off cache where hours are taken to differ by other shares there.
func unseen(all []*Ratio, drift Drift) string {
	var in, off []float64
	for _, r := range all {
		switch {
		case r == nil || !r.Tested:
		case r.drift == drift.InCache:
			in = append(in, r.Visible)
		default:
			off = append(off, r.Visible)
		}
	}
	if len(in) == 0 || len(off) == 0 {
		return percent(middle(slices.Concat(in, off)))
	}
	return percent(middle(in)) + " in cache and " + percent(middle(off)) + " off cache"
}

// Untested tells whether measured machines have too few samples for any test. Published tables do not
// count.
func (c *Comparison) Untested() bool {
	return c.Verdict.Cells == 0 && !slices.ContainsFunc(c.Machines, func(m Described) bool { return !m.Samples || m.published })
}

func unsampled(m Described) bool { return !m.Samples }

func (v *Verdict) text(machines []Described, once []string, states int, test Test, unseen string) string {
	var tables []string // published
	for _, m := range machines {
		if m.published && (m.Samples || v.Cells == 0) {
			tables = append(tables, m.Name)
		}
	}
	in := printable.If(states > 0, " in each state")
	switch {
	case v.Cells == 0 && slices.ContainsFunc(machines, unsampled):
		return "Nothing could be tested: published tables have no samples, so that the ratios may be noise."
	case v.Cells == 0 && tables != nil:
		return "Nothing could be tested: published tables have few times of each cell, or one, so that the ratios may be noise."
	case v.Cells == 0:
		return "Nothing could be tested: a test takes samples of six launches or more of each machine" + in + ", and no cell of these files has them. The ratios may be noise."
	}
	seen := "differences below " + unseen + " may go unseen"
	cells := printable.Count(v.Cells, "cell") + printable.If(states > 0, " of "+printable.Count(states, "state"))
	what := printable.Either(len(machines) == 2, "the two machines", "the machines")
	var text string
	if v.Differ == 0 {
		text = fmt.Sprintf("No difference between %s was found in %s; %s.", what, cells, seen)
	} else {
		differ := printable.Either(v.Differ == 1, "differs", "differ")
		text = fmt.Sprintf("%s of %s %s by more than %s, corrected for their number; %s.", printable.Count(v.Differ, "ratio"), cells, differ, percent(test.Least), seen)
	}
	if tables != nil {
		v.note("Intervals of %s are over pairs of cores, and published tables say nothing of other hours, which are taken to differ by %s (one standard deviation): a difference beyond the intervals may come from the hour.", printable.List(tables), test.Drift)
	}
	if v.Sessions == 1 && len(once) > 0 && *test.Drift != (Drift{}) {
		of := printable.Either(len(once) < len(machines), "of "+printable.List(once), "each")
		v.note("One session %s cannot tell a machine from its hour: hours are taken to differ by %s (one standard deviation).", of, test.Drift)
	}
	if v.Visible > 2*test.Least && tables == nil {
		if n := fit.SessionsFor(v.Sessions, v.Visible, test.Least); n > 0 {
			v.note("%s more of each machine, at other times, would see differences half as large.", printable.Count(n, "session"))
		}
	}
	return text
}

func (v *Verdict) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

func percent(share float64) string {
	return strconv.FormatFloat(100*share, 'f', lists.FalseFirst(share < 0.1), 64) + " %"
}
