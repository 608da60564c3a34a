package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A State is the exit status of a check as a monitoring plugin.
type State int

// The states.
const (
	OK State = iota
	Warned
	Critical
	Unknown
)

func (s State) String() string { return [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}[s] }

// Levels are the slowdowns of a cell from which on it matters: 0.1 is 10 %.
type Levels struct{ Warning, Critical float64 }

// A Baseline is a machine compared with an earlier file.
type Baseline struct {
	Machine  string          `json:"machine"`
	Of       string          `json:"baseline"` // the machine that the baseline is of
	State    State           `json:"state"`    // 0 to 3
	Sessions int             `json:"sessions"` // of the baseline, sessions less than an hour apart counted as one; of several states the least number
	Drift    Drift           `json:"drift"`
	Visible  float64         `json:"visible,omitempty"` // the change that would have been found, the median over cells; 0: nothing was tested
	States   []BaselineState `json:"states,omitempty"`  // that the machine was in, rising; none where it and its baseline stayed in one
	Cells    []BaselineCell  `json:"cells"`             // that were measured again, in the order in which they matter, cells without state first
	Memory   *doubt.Carried  `json:"memory,omitempty"`  // beside its peak; nil: that is unknown
	Text     string          `json:"answer"`

	close int    // sessions of the baseline, if some count as one; else 0
	few   string // the words of Text that have the hour and too few sessions for the cause; "": none
}

// A BaselineState is a state of the machine, see InState.
type BaselineState struct {
	params.State
	Was *params.State `json:"was,omitempty"` // nil: the baseline has not met it
}

// A BaselineCell is a cell now and then, times in ns.
type BaselineCell struct {
	params.Key
	Flag  float64      `json:"flag_ns,omitempty"` // of the baseline's state; 0: without states
	Slow  bool         `json:"slowed,omitempty"`  // something slows a core in that state
	Was   fit.Estimate `json:"was_ns"`
	Now   fit.Estimate `json:"now_ns"`
	Ratio *Ratio       `json:"to_baseline"` // above 1 it is slower
	state params.State // of the baseline
}

// OwnDrift is the standard deviation of a file's sessions that are an hour or more apart, and
// AssumedDrift with fewer than three.
func OwnDrift(f *params.File) Drift {
	const least = 3
	f = hourly(f)
	if _, _, sessions := f.Components(); f.Sessions() >= least && !math.IsNaN(sessions) {
		return *Everywhere(sessions)
	}
	return AssumedDrift(f)
}

// Hours is the number of a file's sessions, of which those that began less than an hour after another count as
// one.
func Hours(f *params.File) int { return hourly(f).Sessions() }

// hourly merges sessions that began less than an hour after another: within an hour they do not show how
// hours differ.
func hourly(f *params.File) *params.File {
	began := make(map[int]time.Time)
	for _, l := range f.Launches {
		at, err := time.Parse(time.RFC3339Nano, l.Began)
		if err != nil {
			return f // unknown
		}
		if first, known := began[l.Session]; !known || at.Before(first) {
			began[l.Session] = at
		}
	}
	order := slices.SortedFunc(maps.Keys(began), func(a, b int) int { return began[a].Compare(began[b]) })
	as, n := make(map[int]int), 0
	for i, session := range order {
		if i > 0 && began[session].Sub(began[order[i-1]]) >= time.Hour {
			n++
		}
		as[session] = n
	}
	if n+1 >= len(order) {
		return f
	}
	hours := *f
	hours.Launches, hours.Cells = slices.Clone(f.Launches), slices.Clone(f.Cells)
	for i := range hours.Launches {
		hours.Launches[i].Session = as[hours.Launches[i].Session]
	}
	sorting := hours.Sort()
	for i := range hours.Cells {
		if c := &hours.Cells[i]; len(c.Samples) > 0 {
			c.Time = sorting.Estimate(c)
		}
	}
	return &hours
}

// NewBaseline compares a machine's cells with the same keys of its baseline, state by state. A cell is
// slower if the test says so, corrected for the number of cells, and its ratio is above a level. The
// result is Unknown if a critical change would have gone unseen, unless a visible one was found, and if
// the baseline has none of the machine's states.
func NewBaseline(was, now *params.File, test Test, levels Levels) *Baseline {
	if test.Drift == nil {
		drift := OwnDrift(was)
		test.Drift = &drift
	}
	b := &Baseline{Machine: now.Provenance.Machine(), Of: was.Provenance.Machine(), Drift: *test.Drift}
	began := was.Sessions()
	was = hourly(was)
	if b.Sessions = was.Sessions(); b.Sessions < began {
		b.close = began
	}
	b.meet(was, now)
	moves := make(map[params.Key]bool)
	if len(b.States) > 0 {
		moves = moving([]Machine{{File: was}, {File: now}})
	}
	if !b.Unmet() {
		b.add(params.State{}, was, now, test, func(k params.Key) bool { return !moves[k] })
	}
	for _, s := range b.States {
		if s.Was != nil {
			b.add(*s.Was, FileIn(was, *s.Was), FileIn(now, s.State), test, func(k params.Key) bool { return moves[k] })
		}
	}
	b.conclude(levels)
	b.carried(doubt.BestCarried(now, was))
	return b
}

// carried adds the bandwidth of memory; a low one is a warning at least.
func (b *Baseline) carried(c *doubt.Carried) {
	if b.Memory = c; c == nil {
		return
	}
	if low := c.Low(); low == nil {
		b.Text += fmt.Sprintf("; memory carried %v", c)
	} else {
		if b.State == OK || b.State == Unknown {
			b.State = Warned
		}
		b.Text = fmt.Sprintf("%v; %s", low, b.Text)
	}
}

// meet finds the machine's states in the baseline. A virtual machine with another flag time was moved by
// its host; on a physical machine that is a change like any other.
func (b *Baseline) meet(was, now *params.File) {
	before, after := statesOf(was), statesOf(now)
	all := match([]string{"", "now"}, [][]params.State{before, after})
	moves := len(before) > 1 || len(after) > 1 || len(all) > 1 && (guest(Machine{File: was}) || guest(Machine{File: now}))
	if len(after) == 0 || !moves {
		return
	}
	for _, s := range all {
		if of, is := s.Of("now"); is {
			met := BaselineState{State: of}
			if of, was := s.Of(""); was {
				met.Was = &of
			}
			b.States = append(b.States, met)
		}
	}
}

// add compares the cells that both files have and that are taken by some.
func (b *Baseline) add(state params.State, was, now *params.File, test Test, some func(params.Key) bool) {
	at := lists.Index(was.Cells, func(c params.Cell) params.Key { return c.Key })
	for i := range now.Cells {
		c := &now.Cells[i]
		first, both := at[c.Key]
		if !both || !some(c.Key) {
			continue
		}
		old := &was.Cells[first]
		before := old.Replicates(was)
		if r := ratio(old.Time, before, c.Time, c.Replicates(now), test.cell(c.Key)); r != nil {
			if state.NS > 0 {
				met := lists.Filter(before, func(session []float64) bool { return len(session) > 0 })
				b.Sessions = min(b.Sessions, len(met))
			}
			b.Cells = append(b.Cells, BaselineCell{c.Key, state.NS, state.Slow > 0, old.Time, c.Time, r, state})
		}
	}
}

// conclude corrects the tests for their number, and sets State and Text.
func (b *Baseline) conclude(levels Levels) {
	tested, _, visible := adjust(lists.Map(b.Cells, func(c BaselineCell) *Ratio { return c.Ratio }))
	switch {
	case b.Unmet():
		b.State, b.Text = Unknown, b.where()
		return
	case tested == 0:
		b.State, b.Text = Unknown, "nothing could be tested: a test takes six launches now and in the baseline, in the same state of the machine"
		return
	}
	b.Visible = visible
	slower, faster := b.off(levels)
	switch {
	case len(slower) > 0:
		worst := slices.MaxFunc(slower, func(x, y *BaselineCell) int { return cmp.Compare(x.Ratio.Value, y.Ratio.Value) })
		switch b.State = Warned; {
		case b.Visible > levels.Critical && worst.Ratio.Value < 1+b.Visible: // too small to be found reliably
			b.State = Unknown
		case worst.Ratio.Value >= 1+levels.Critical:
			b.State = Critical
		}
		b.Text = fmt.Sprintf("%d of %s %s slower%s by %s or more, most of all the %s, × %.2f [%.2f, %.2f]", len(slower), printable.Count(tested, "cell"),
			are(len(slower)), b.than(), percent(levels.Warning), worst.name(), worst.Ratio.Value, worst.Ratio.Lo, worst.Ratio.Hi)
	case b.Visible > levels.Critical:
		b.State, b.few = Unknown, " from the hour: the baseline has "+b.sessions()
		b.Text = fmt.Sprintf("a change of less than %s cannot be told", percent(b.Visible)) + b.few
	default:
		b.Text = fmt.Sprintf("none of %s is slower%s by %s or more", printable.Count(tested, "cell"), b.than(), percent(levels.Warning))
		if faster > 0 {
			b.Text += fmt.Sprintf(", %d %s faster", faster, are(faster))
		}
	}
	if b.State != Unknown || len(slower) > 0 {
		b.Text += fmt.Sprintf("; a change of %s would have been seen in 9 of 10 cases", percent(b.Visible))
	}
	if b.State == Unknown && len(slower) > 0 {
		b.few = ": the baseline has " + b.sessions()
		b.Text += ", and not less" + b.few
	}
	if states := b.where(); states != "" {
		b.Text += "; " + states
	}
}

// Blame names another cause for what went unseen than the hour and too few sessions; false: Text has neither.
func (b *Baseline) Blame(cause string) bool {
	if b.few == "" {
		return false
	}
	b.Text = strings.Replace(b.Text, b.few, ", for "+cause, 1)
	return true
}

// Unmet tells whether the baseline has none of the machine's states.
func (b *Baseline) Unmet() bool {
	return len(b.States) > 0 && !slices.ContainsFunc(b.States, func(s BaselineState) bool { return s.Was != nil })
}

// where lists the machine's states, in the baseline and not; "" without states.
func (b *Baseline) where() string {
	states := func(met bool) []params.State {
		of := lists.Filter(b.States, func(s BaselineState) bool { return (s.Was != nil) == met })
		return lists.Map(of, func(s BaselineState) params.State { return s.State })
	}
	met, unmet := states(true), states(false)
	flags := func(states []params.State) string {
		switch {
		case len(b.States) == 1:
			return "a state with a flag of " + states[0].Name()
		case len(states) == 1:
			return "a state with a flag of " + params.StateList(states)
		}
		return "states with flags of " + params.StateList(states)
	}
	text := ""
	if len(met) > 0 {
		text = "the machine was in " + flags(met)
	}
	switch {
	case len(unmet) > 0 && text == "":
		text = "the machine is in " + flags(unmet) + ", which the baseline has not met"
	case len(unmet) > 0:
		text += ", and in " + flags(unmet) + ", which the baseline has not met and nothing is said of"
	}
	return text
}

func (b *Baseline) sessions() string {
	return printable.Count(b.Sessions, "session") +
		printable.If(len(b.States) > 0, " in this state") +
		printable.If(b.close > 0, fmt.Sprintf(" (%d, but sessions that began less than an hour apart count as one)", b.close))
}

func (c *BaselineCell) name() string {
	return c.Key.String() + printable.If(c.Flag != 0, ", with a flag of "+c.state.Name())
}

func are(n int) string { return printable.Either(n == 1, "is", "are") }

// than names the baseline's machine if it is another one.
func (b *Baseline) than() string {
	return printable.If(b.Of != b.Machine, " than on "+printable.Name(b.Of))
}

// off are the cells that are slower by the warning level or more, and the number of faster ones.
func (b *Baseline) off(levels Levels) (slower []*BaselineCell, faster int) {
	for i := range b.Cells {
		switch r := b.Cells[i].Ratio; {
		case !r.Differs:
		case r.Value >= 1+levels.Warning:
			slower = append(slower, &b.Cells[i])
		case 1/r.Value >= 1+levels.Warning:
			faster++
		}
	}
	return slower, faster
}
