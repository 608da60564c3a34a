package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Fleet is the number of files from which on machines are compared with their median instead of the
// first.
const Fleet = 10

// An Overview is many machines that should be alike.
type Overview struct {
	Machines []Described  `json:"machines"`
	State    *InState     `json:"state,omitempty"` // in which machines are compared; nil: each had one, or see Means
	Means    string       `json:"means,omitempty"` // a sentence why means over states are compared
	Outliers []Outlier    `json:"outliers"`        // farthest off first
	Tables   []FleetTable `json:"tables"`
	Surveys  []FleetKind  `json:"surveys,omitempty"`
	Tested   int          `json:"tested"`          // cells of machines; 0: no cell has intervals of Fleet machines
	Notes    []string     `json:"notes,omitempty"` // sentences on what is shown
	Warnings []Warning    `json:"warnings"`
	Unshown  []int        `json:"-"` // as in Comparison
}

// An Outlier is a machine with its farthest cell.
type Outlier struct {
	Machine string       `json:"machine"`
	Path    string       `json:"file"`
	Key     params.Key   `json:"cell"`
	Time    fit.Estimate `json:"time_ns"`
	Median  float64      `json:"median_ns"` // of all machines
	Deviation
}

// A Deviation summarizes a machine's robust z-scores.
type Deviation struct {
	Score float64 `json:"score"`     // of the farthest cell: above 0 it is slow
	Off   int     `json:"cells_off"` // significant outliers
	Cells int     `json:"cells"`
}

// A FleetTable is a channel over machines.
type FleetTable struct {
	Channel
	Segment bool         `json:"segment"` // m is the segment's size S
	Cells   []*FleetCell `json:"cells"`   // τ rising
}

// A FleetKind is a kind of survey over machines.
type FleetKind struct {
	Kind     params.Kind  `json:"kind"`
	Machines int          `json:"machines"` // that have a cell of it
	Outliers []Outlier    `json:"outliers"` // farthest off first
	Cells    []*FleetCell `json:"cells"`    // of at least two machines, in the order of the first file
}

// A FleetCell is a cell over machines.
type FleetCell struct {
	params.Key
	Machines  int        `json:"machines"` // that have it
	Time      fit.Spread `json:"time_ns"`
	Bandwidth fit.Spread `json:"bandwidth_GBs,omitzero"` // of transfers, as A
	A         fit.Spread `json:"A,omitzero"`
	Scores    []Score    `json:"-"` // in the order of machines
}

// A Score is a machine's deviation in one cell.
type Score struct {
	Machine      string
	Time         fit.Estimate
	Bandwidth, A float64 // as in Point; NaN of surveys
	Z            float64
	Off          bool // an outlier, corrected for the number of cells and machines

	again bool // L(m,1) that counts in another table
}

func (o *Overview) transfers() []*FleetCell {
	return lists.Concat(o.Tables, func(t FleetTable) []*FleetCell { return t.Cells })
}

// Cells are all cells, of transfers and of surveys.
func (o *Overview) Cells() []*FleetCell {
	return append(o.transfers(), lists.Concat(o.Surveys, func(k FleetKind) []*FleetCell { return k.Cells })...)
}

func (o *Overview) inSurveys() []Outlier {
	return lists.Concat(o.Surveys, func(k FleetKind) []Outlier { return k.Outliers })
}

// Off are the names of the outliers, in transfers and then in surveys.
func (o *Overview) Off() []string { return named(slices.Concat(o.Outliers, o.inSurveys())) }

func named(outliers []Outlier) []string {
	return lists.Unique(lists.Map(outliers, func(out Outlier) string { return out.Machine }))
}

// NewOverview compares machines with their median. It fails if they have nothing in common.
func NewOverview(machines []*Reduced, choice Choice) (*Overview, error) {
	if len(machines) < 3 {
		return nil, errors.New("a fleet takes three machines, for a median of two shows no outlier: name more files")
	}
	o := &Overview{Outliers: []Outlier{}, Warnings: []Warning{}}
	if machines = o.inState(machines); len(machines) < 3 {
		return nil, fmt.Errorf("%d machines have been in the same state, with a flag of %s, and a fleet takes three: name more files", len(machines), o.State.Name())
	}
	contents := lists.Map(machines, func(m *Reduced) *content { return m.in(o.State) })
	o.Surveys = choice.fleetSurveys(machines, contents)
	var offered []offers
	var without error
	isolated := make(map[Channel]bool)
	for i, v := range contents {
		if without = cmp.Or(without, v.none); v.none == nil {
			offered = append(offered, offers{machines[i].Name, v.curves})
		}
		for _, c := range v.curves {
			isolated[c.Channel] = isolated[c.Channel] || c.Isolated
		}
	}
	channels, why, err := choice.common(offered, without, len(o.Surveys) > 0)
	if err != nil {
		return nil, err
	}
	if why != nil {
		o.Warnings = append(o.Warnings, Warning{What: why})
	}
	o.Unshown = choice.unshown(offered, channels)
	o.Notes = choice.unfiltered(lists.Map(o.Surveys, func(k FleetKind) params.Kind { return k.Kind }))
	o.Tables = lists.Map(channels, func(c Channel) FleetTable { return FleetTable{Channel: c} })
	unknown := make(map[string][]params.Key)
	for n, v := range contents {
		name := machines[n].Name
		o.Machines = append(o.Machines, machines[n].Described)
		for _, c := range v.curves {
			if i := slices.Index(channels, c.Channel); i >= 0 {
				unknown[name] = append(unknown[name], o.Tables[i].add(name, &c, isolated[c.Channel] && !c.Isolated)...)
			}
		}
	}
	o.Tables = slices.DeleteFunc(o.Tables, func(t FleetTable) bool { return len(t.Cells) == 0 }) // too few samples
	for _, c := range o.Cells() {
		c.score()
	}
	o.share(isolated)
	o.correct()
	o.Outliers, _ = outliers(machines, o.transfers())
	for i := range o.Surveys {
		k := &o.Surveys[i]
		k.Outliers, k.Machines = outliers(machines, k.Cells)
	}
	o.Warnings = append(o.Warnings, warningsOf(lists.Map(contents, func(v *content) *doubts { return v.doubts }), o.Machines, channels)...)
	o.warn(machines, unknown)
	return o, nil
}

// inState sets the state that most machines have, if any machine had several, and returns the
// machines that have it. A warning names the others.
func (o *Overview) inState(machines []*Reduced) []*Reduced {
	names := lists.Map(machines, func(m *Reduced) string { return m.Name })
	of := lists.Map(machines, func(m *Reduced) []params.State { return m.states })
	states, means, warning := meet(names, of, slices.ContainsFunc(machines, func(m *Reduced) bool { return m.guest }))
	if o.Means = means; warning != nil {
		o.Warnings = append(o.Warnings, Warning{What: warning})
	}
	if len(states) == 0 {
		return machines
	}
	share := func(s InState) float64 { return lists.Sum(s.Machines, func(m MachineState) float64 { return m.Share }) }
	most := slices.MaxFunc(states, func(a, b InState) int {
		return cmp.Or(len(a.Machines)-len(b.Machines), cmp.Compare(share(a), share(b)))
	})
	o.State = &most
	var absent []string
	var there []*Reduced
	for _, m := range machines {
		if _, met := most.Of(m.Name); met {
			there = append(there, m)
		} else {
			absent = append(absent, m.Name)
		}
	}
	if len(absent) > 0 {
		o.Warnings = append(o.Warnings, Warning{absent, fmt.Errorf("not compared, for there was no state with a flag of %s: add sessions at other times", most.Name())})
	}
	return there
}

// add adds a machine's curve, without L(m,1) and A if L(m,1) is the setup's own while other machines have
// the isolated transfer. It returns the cells with too few samples for an interval.
func (t *FleetTable) add(machine string, c *Curve, own bool) (unknown []params.Key) {
	t.Segment = t.Segment || c.Segment
	for _, p := range c.Points {
		switch {
		case own && p.Tau == 1:
			continue
		case p.L.N > 0 && !p.L.Known() || math.IsNaN(p.L.Center): // as of a time of 0
			unknown = append(unknown, t.test(p.Tau, c.Isolated))
			continue
		case own:
			p.A.Center = math.NaN()
		}
		at, found := slices.BinarySearchFunc(t.Cells, p.Tau, func(c *FleetCell, tau int) int { return c.Tau - tau })
		if !found {
			t.Cells = slices.Insert(t.Cells, at, &FleetCell{Key: t.Channel.Key(p.Tau)})
		}
		t.Cells[at].Scores = append(t.Cells[at].Scores, Score{Machine: machine, Time: p.L, Bandwidth: p.Bandwidth.Center, A: p.A.Center})
	}
	return unknown
}

// test is the cell's key, or that of L(m,1) which stands in the tables of several setups: it is one test.
func (t *FleetTable) test(tau int, isolated bool) params.Key {
	key := t.Channel.Key(tau)
	if isolated && tau == 1 {
		key.Setup = params.Isolated
	}
	return key
}

// share leaves each machine one isolated L(m,1), in the table of most machines.
func (o *Overview) share(isolated map[Channel]bool) {
	type test struct {
		machine string
		key     params.Key
	}
	most := slices.SortedStableFunc(slices.Values(o.Tables), func(a, b FleetTable) int { return b.Cells[0].Machines - a.Cells[0].Machines })
	counted := make(map[test]bool)
	for _, t := range most {
		for i := range t.Cells[0].Scores {
			s := &t.Cells[0].Scores[i]
			of := test{s.Machine, t.test(t.Cells[0].Tau, isolated[t.Channel])}
			s.again, counted[of] = counted[of], true
		}
	}
}

// score sets the spreads and each machine's robust z.
func (c *FleetCell) score() {
	c.Machines, c.Time = len(c.Scores), c.spread(func(s Score) float64 { return s.Time.Center })
	c.Bandwidth, c.A = c.spread(func(s Score) float64 { return s.Bandwidth }), c.spread(func(s Score) float64 { return s.A })
	for i := range c.Scores {
		c.Scores[i].Z = c.Time.Z(c.Scores[i].Time.Center)
	}
}

func (c *FleetCell) spread(value func(Score) float64) fit.Spread {
	return fit.NewSpread(lists.Filter(lists.Map(c.Scores, value), func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }))
}

// correct finds the significant outliers. A cell is tested if Fleet machines have an interval; a machine without
// one, such as a published table, is not. The least p of a machine, corrected for its cells (Simes), is corrected
// for the machines by Benjamini–Hochberg; over all cells together, the many of one slow machine would let others
// pass that are not. Off are the cells of these machines, corrected for that choice (Y. Benjamini and M. Bogomolov,
// "Selective inference on multiple families of hypotheses", 2014).
func (o *Overview) correct() {
	type tested struct {
		*Score
		p float64
	}
	var all []tested
	for _, c := range o.Cells() {
		known := len(lists.Filter(c.Scores, func(s Score) bool { return s.Time.Known() }))
		for i := range c.Scores {
			s := &c.Scores[i]
			if s.again {
				continue
			}
			p := 1.0
			if known >= Fleet && s.Time.Known() {
				o.Tested++
				if math.Abs(s.Z) > fit.OutlierScore {
					p = fit.OutlierP(s.Z, len(c.Scores))
				}
			}
			all = append(all, tested{s, p})
		}
	}
	machines := lists.Groups(all, func(t tested) string { return t.Machine })
	cells := lists.Map(machines, func(of []tested) []float64 {
		return fit.Adjust(lists.Map(of, func(t tested) float64 { return t.p }))
	})
	off := lists.Filter(fit.Adjust(lists.Map(cells, slices.Min)), func(p float64) bool { return p < level })
	for i, of := range machines {
		for j, t := range of {
			t.Off = cells[i][j]*float64(len(machines)) < level*float64(len(off))
		}
	}
}

// outliers are the outlying machines with their farthest cells, farthest first, and the number of
// machines with a cell.
func outliers(machines []*Reduced, cells []*FleetCell) (off []Outlier, having int) {
	off = []Outlier{}
	worst := make(map[string]*Outlier)
	for _, c := range cells {
		for _, s := range c.Scores {
			if s.again {
				continue
			}
			w := worst[s.Machine]
			if w == nil {
				w = &Outlier{Machine: s.Machine}
				worst[s.Machine] = w
			}
			if w.Cells++; s.Off {
				w.Off++
			}
			if math.Abs(s.Z) > math.Abs(w.Score) {
				w.Score, w.Key, w.Time, w.Median = s.Z, c.Key, s.Time, c.Time.Median
			}
		}
	}
	for _, m := range machines {
		if w := worst[m.Name]; w != nil && w.Off > 0 {
			w.Path = m.Path
			off = append(off, *w)
		}
	}
	slices.SortStableFunc(off, func(a, b Outlier) int { return cmp.Compare(math.Abs(b.Score), math.Abs(a.Score)) })
	return off, len(worst)
}

// Conclusion counts outliers, in a sentence on transfers and one on surveys.
func (o *Overview) Conclusion() string {
	if o.Tested == 0 {
		none := printable.If(slices.ContainsFunc(o.Machines, unsampled), "; published tables have none")
		return fmt.Sprintf("Nothing could be tested: that takes a cell of which %d machines have enough samples for an interval%s.", Fleet, none)
	}
	if len(o.Surveys) == 0 {
		return o.ofTransfers()
	} else if len(o.Tables) == 0 {
		return o.ofSurveys()
	}
	return o.ofTransfers() + " " + o.ofSurveys()
}

// ofSurveys names the farthest machine of all kinds.
func (o *Overview) ofSurveys() string {
	all := o.inSurveys()
	if len(all) == 0 {
		return "No outlier in surveys."
	}
	first := slices.MaxFunc(all, func(a, b Outlier) int { return cmp.Compare(math.Abs(a.Score), math.Abs(b.Score)) })
	return fmt.Sprintf("Outliers in surveys: %d of %d machines; farthest %s: %v takes %s.",
		len(named(all)), len(o.Machines), first.Machine, first.Key, first.times())
}

// times are the times of the farthest cell with the digits that tables have.
func (out *Outlier) times() string {
	return fmt.Sprintf("%s ns where the median is %s ns", view.Center(out.Time), view.Digits(out.Median, 0))
}

func (o *Overview) ofTransfers() string {
	if len(o.Outliers) == 0 {
		return fmt.Sprintf("No outlier among %d machines: no robust z-score is larger than chance makes it in this number of cells.", len(o.Machines))
	}
	slow := len(lists.Filter(o.Outliers, func(out Outlier) bool { return out.Score > 0 }))
	first := o.Outliers[0]
	return fmt.Sprintf("Outliers: %d of %d machines, %d slow and %d fast; farthest %s: L(%s,%d) is %s (%s).",
		len(o.Outliers), len(o.Machines), slow, len(o.Outliers)-slow, first.Machine, view.Bytes(first.Key.Bytes), first.Key.Tau, first.times(), Channel{first.Key.Setup, first.Key.Placement, first.Key.OffCache, first.Key.Bytes})
}

// Untested tells whether measured machines have too few samples for any test. Published tables do not
// count.
func (o *Overview) Untested() bool {
	return o.Tested == 0 && !slices.ContainsFunc(o.Machines, unsampled)
}

// warn names the machines that lack cells or intervals.
func (o *Overview) warn(machines []*Reduced, unknown map[string][]params.Key) {
	cells := make(map[string]int)
	most := 0
	for _, c := range o.transfers() {
		for _, s := range c.Scores {
			cells[s.Machine] += lists.FalseFirst(!s.again)
			most = max(most, cells[s.Machine])
		}
	}
	var names []string
	var said [][]error
	for _, m := range machines {
		n, few := cells[m.Name], len(lists.Unique(unknown[m.Name]))
		var about []error
		if few > 0 {
			about = append(about, fmt.Errorf("%d of %d cells have too few samples for an interval and are not tested: it may be an outlier there", few, n+few))
		}
		if n+few == 0 && most > 0 {
			about = append(about, errors.New("no transfer of it is compared: it has none of the others' setup, placement, cache and message size"))
		} else if n+few < most {
			about = append(about, fmt.Errorf("%d of %d cells are there: it was swept with another plan or has fewer CPUs", n+few, most))
		}
		names, said = append(names, m.Name), append(said, about)
	}
	o.Warnings = append(o.Warnings, together(names, said)...)
}
