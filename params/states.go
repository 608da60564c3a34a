package params

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// A State is where the CPUs of some workers are, as far as it shows in what these take for
// nothing: a flag of two of them, a round of flags of more, an instruction of one. While something
// slows the core of one of two workers, which flags do not show, they are in a state of its own.
type State struct {
	NS    float64 `json:"ns"`       // median
	Above float64 `json:"above_ns"` // looks are of it from here on to the next state
	Share float64 `json:"share"`    // of the time
	// Lasts is how long it does, s, the median: ln 2 times the time that it was seen for over
	// how often it was seen to end, as where it ends by chance; 0: it never was.
	Lasts float64 `json:"lasts_s,omitempty"`
	// Slow, if not 0, makes it the state of looks with the flags of the one before it, and the same Above,
	// in which sums took a core that long or longer, see Sample.Computed.
	Slow float64 `json:"slow_above_ns,omitempty"`

	percent float64 // Share as text has it, see Percent
}

// Percent is the share of the time in whole per cent, which of a file's states add up to 100.
func (s State) Percent() float64 { return cmp.Or(s.percent, math.Round(100*s.Share)) }

// A Watch is the states of the same workers in a session. On a machine whose CPUs stay where
// they are there is one.
type Watch struct {
	Session int     `json:"session"`
	CPUs    []int   `json:"cpus"`   // of the workers, a Cycle
	States  []State `json:"states"` // rising
}

// A Look is what workers took for nothing at a moment.
type Look struct {
	Launch        int
	At            float64 // s since the launch began
	Before, After float64 // ns, before and after a sample; both the same where there was none
	Computed      float64 // as of a Sample
}

// Settled is the share of the time from which on a state is to have samples.
const Settled = 0.10

// Cycle names a round of flags by the CPUs of its workers: the same round from whichever of
// them it begins, and whichever way it goes.
func Cycle(cpus []int) []int {
	n := len(cpus)
	if n == 0 {
		return nil
	}
	first := slices.Index(cpus, slices.Min(cpus))
	cycle := slices.Concat(cpus[first:], cpus[:first])
	if n > 2 && cycle[n-1] < cycle[1] {
		slices.Reverse(cycle[1:])
	}
	return cycle
}

// Watch is the number, from 1, of a session's watch of the workers on these CPUs, which is
// new if there was none.
func (f *File) Watch(session int, cpus []int) int32 {
	cycle := Cycle(cpus)
	for i, w := range f.Watches {
		if w.Session == session && slices.Equal(w.CPUs, cycle) {
			return int32(i + 1)
		}
	}
	f.Watches = append(f.Watches, Watch{Session: session, CPUs: cycle})
	return int32(len(f.Watches))
}

// Look is what the workers of a sample took for nothing before and after it.
func (s Sample) Look() Look {
	return Look{int(s.Launch), float64(s.At), float64(s.Before), float64(s.After), float64(s.Computed)}
}

// Looks are the looks of each watch's samples.
func (f *File) Looks() map[int32][]Look {
	all := make(map[int32][]Look)
	for i := range f.Cells {
		for _, s := range f.Cells[i].Samples {
			if s.Watch > 0 {
				all[s.Watch] = append(all[s.Watch], s.Look())
			}
		}
	}
	return all
}

// FindStates finds the states of a session's watches in looks, by the watches' numbers.
func (f *File) FindStates(session int, looks map[int32][]Look) {
	for i := range f.Watches {
		if w := &f.Watches[i]; w.Session == session {
			w.States = statesOf(looks[int32(i+1)], f.Provenance.SumsAlone)
		}
	}
}

// statesOf finds the states in looks; see fit.Modes.
func statesOf(looks []Look, alone float64) (states []State) {
	var values []float64
	for _, l := range looks {
		values = append(values, l.Before, l.After)
	}
	modes := fit.Modes(values)
	for _, m := range modes {
		states = append(states, State{NS: round(m.Center, 4), Above: round(m.Above, 4), Share: m.Share})
	}
	if len(states) == 1 {
		return split(states, modes, looks, alone)
	}
	looks = slices.SortedFunc(slices.Values(looks), func(a, b Look) int {
		return cmp.Or(a.Launch-b.Launch, cmp.Compare(a.At, b.At))
	})
	seconds, ends := make([]float64, len(states)), make([]float64, len(states))
	shares, launches := make([]float64, len(states)), 0.
	for i := 0; i < len(looks); {
		// A launch is a moment of its own: each counts as much as another.
		in, total, first := make([]float64, len(states)), 0., i
		for i++; i < len(looks) && looks[i].Launch == looks[first].Launch; i++ {
			before, now, gap := fit.ModeOf(modes, looks[i-1].After), fit.ModeOf(modes, looks[i].After), looks[i].At-looks[i-1].At
			// Where the state changed, as much was done in either: in the slower one that took longer.
			after := gap * modes[now].Center / (modes[before].Center + modes[now].Center)
			in[before] += gap - after
			in[now] += after
			if total += gap; now != before {
				ends[before]++
			}
		}
		for j := range in {
			seconds[j] += in[j]
		}
		if total == 0 {
			total, in[fit.ModeOf(modes, looks[first].After)] = 1, 1
		}
		launches++
		for j := range in {
			shares[j] += in[j] / total
		}
	}
	for i := range states {
		states[i].Share = round(shares[i]/launches, 4)
		if ends[i] > 0 {
			states[i].Lasts = round(math.Ln2*seconds[i]/ends[i], 3)
		}
	}
	return split(states, modes, looks, alone)
}

// InState is the file as if the machine had been in one state all the time: the one of that many
// workers that is most nearly the given one, of which NS and Slow count; of more workers, the one at
// the same place by shares. Work of one worker keeps the mean over its states, which are its core's alone. Cells
// without samples are left out. It is an error if the file has met one state only, or none near.
func (f *File) InState(workers int, like State) (*File, error) {
	s := f.Sort()
	of := s.pools[workers]
	if len(of) == 0 {
		return nil, errors.New("the machine was in one state all the time: leave the state out")
	}
	taken := nearest(of, like)
	at := of[taken]
	if !at.Same(like) {
		return nil, fmt.Errorf("there is no state in which a flag takes %s; there are %s", like.Name(), StateList(of))
	}
	in := *f
	in.Watches, in.Cells, in.state = nil, nil, &at
	for _, c := range f.Cells {
		if n := s.Workers(&c); len(s.pools[n]) > 0 && min(n, workers) > 1 || n == workers {
			if c.Samples = s.In(&c, counterpart(of, taken, s.pools[n])); len(c.Samples) == 0 {
				continue
			}
			c.Time = c.Replicates(f).Estimate()
		}
		// Samples have no watches there: they are all of one state.
		c.Samples = lists.Map(c.Samples, func(x Sample) Sample {
			return Sample{NS: x.NS, Launch: x.Launch, At: x.At, Spread: x.Spread, Workers: x.Workers}
		})
		in.Cells = append(in.Cells, c)
	}
	return &in, nil
}

// Throughout is the file without the cells that were not visited in each Settled state of their workers,
// whose mean would be that of the other states, if two cells of the same kind were; else with them.
func (f *File) Throughout() *File {
	if f.throughout {
		return f
	}
	s := f.Sort()
	if len(s.pools) == 0 {
		return f
	}
	of := func(c *Cell) Key {
		return Key{Kind: c.Kind, Setup: c.Setup, Placement: c.Placement, OffCache: c.OffCache, Operator: c.Operator, Variant: c.Variant, Transport: c.Transport}
	}
	covered, visited := make([]bool, len(f.Cells)), make(map[Key]int)
	for i := range f.Cells {
		c := &f.Cells[i]
		covered[i] = true
		for state, its := range s.StatesOf(c) {
			covered[i] = covered[i] && (its.Share < Settled || len(s.In(c, state)) > 0)
		}
		if covered[i] {
			visited[of(c)]++
		}
	}
	in := *f
	in.Cells, in.throughout = nil, true
	for i, c := range f.Cells {
		if covered[i] || visited[of(&c)] < fewest {
			in.Cells = append(in.Cells, c)
		}
	}
	return &in
}

// counterpart is the state in which the middle of a state of other workers lies where both
// rise with the share of the time.
func counterpart(of []State, at int, states []State) int {
	middle := of[at].Share / 2
	for _, before := range of[:at] {
		middle += before.Share
	}
	for i, state := range states {
		if middle -= state.Share; middle < 0 {
			return i
		}
	}
	return len(states) - 1
}

// State is the one that InState took; nil: the file is of all that the machine was in.
func (f *File) State() *State { return f.state }

// A cellIn is a cell in a state of its workers, nil where they were in one, and that cell as Alone has it.
type cellIn struct {
	*Cell
	*State
	alone *Cell
}

// byState are the cells in the file's order, those whose workers were in several states once
// in each that they have samples in.
func (f *File) byState() (all []cellIn) {
	s := f.Sort()
	for _, i := range f.sorted() {
		c := &f.Cells[i]
		stays := s.ByState(c)
		alone, less := c, stays
		if c.Kind == TransferCell && c.Setup == Isolated {
			alone = s.alone(c)
			less = s.ByState(alone)
		}
		if len(stays) == 0 {
			all = append(all, cellIn{c, f.state, alone})
			continue
		}
		for at := range stays {
			in, lone := *c, *alone
			in.Samples, in.Time = stays[at].Samples, stays[at].Time
			lone.Samples, lone.Time = less[at].Samples, less[at].Time
			all = append(all, cellIn{&in, &stays[at].State, &lone})
		}
	}
	return all
}

// StateList names states in a sentence: 64 ns (56 % of the time) and 245 ns (41 %).
func StateList(states []State) (text string) {
	for i, state := range states {
		switch {
		case i > 0 && i == len(states)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += fmt.Sprintf("%s (%.0f %%", state.Name(), state.Percent())
		if i == 0 {
			text += " of the time"
		}
		text += ")"
	}
	return text
}

// Name is what a flag takes, and whether something slows a core.
func (s State) Name() string {
	if s.Slow > 0 {
		return fmt.Sprintf("%.3g ns slowed", s.NS)
	}
	return fmt.Sprintf("%.3g ns", s.NS)
}

// Label is Name without spaces.
func (s State) Label() string {
	return strings.ReplaceAll(strings.Replace(s.Name(), " slowed", "-slowed", 1), " ", "")
}

// Apart is how far apart the states of two machines or files are: the logarithm of the ratio of their
// flags, infinite where something slows a core in one of them alone.
func (s State) Apart(of State) float64 {
	if (s.Slow > 0) != (of.Slow > 0) {
		return math.Inf(1)
	}
	return math.Abs(math.Log(s.NS / of.NS))
}

// Same tells whether they are the same.
func (s State) Same(of State) bool { return s.Apart(of) < math.Log(fit.LeastApart) }

// States are the states of two workers that the file has met, none where they had one: where CPUs
// move, the file's numbers are means by the states' shares, see Sorting.Estimate.
func (f *File) States() []State { return f.Sort().pools[2] }

func (w *Watch) check() error {
	before := 0.
	for i, s := range w.States {
		switch {
		case !(s.NS > 0 && s.NS <= maxNs), !(s.Lasts >= 0 && s.Lasts <= longest):
			return fmt.Errorf("a state of %g ns that lasts %g s", s.NS, s.Lasts)
		case s.Slow > 0 && (i == 0 || w.States[i-1].Slow > 0 || s.Above != before):
			return fmt.Errorf("a state in which sums take %g ns or more is not beside one with the same flags", s.Slow)
		case i == 0 && s.Above != 0, i > 0 && s.Slow == 0 && !(s.Above > before && s.Above <= maxNs):
			return fmt.Errorf("states must rise, the first from 0; one begins at %g ns", s.Above)
		}
		if err := cmp.Or(limited("slow_above_ns", s.Slow, 0, maxNs), limited("share of a state", s.Share, 0, 1)); err != nil {
			return err
		}
		before = s.Above
	}
	return cmp.Or(limited("session", w.Session, 0, maxLaunches-1), limited("number of CPUs", len(w.CPUs), 1, maxWorkers), limited("number of states", len(w.States), 0, maxStates),
		each(w.CPUs, func(cpu int) error { return limited("CPU", cpu, 0, maxCPUs) }))
}

// What tells looks while something slows a core from others. Sums of undisturbed cores take the same
// within a few per cent; a thread of another guest on the same core makes them take 1.1 to 2 times as
// long.
const (
	slowFrom     = 1.15 // times what sums take undisturbed
	steadyWithin = 1.05 // times it are most of the undisturbed
)

// split puts a state of slowed cores behind each state in which sums took now and then longer than
// else. Its share of the state's time is that of samples.
func split(states []State, modes []fit.Mode, looks []Look, alone float64) (all []State) {
	for i, state := range states {
		var took []float64
		for _, l := range looks {
			if l.Computed > 0 && fit.ModeOf(modes, l.Before) == i && fit.ModeOf(modes, l.After) == i {
				took = append(took, l.Computed)
			}
		}
		slow, share := slowedFrom(took, alone)
		if all = append(all, state); share > 0 {
			slowed := State{NS: state.NS, Above: state.Above, Share: round(share*state.Share, 4), Slow: round(slow, 4)}
			all[len(all)-1].Share, all[len(all)-1].Lasts = round((1-share)*state.Share, 4), 0
			all = append(all, slowed)
		}
	}
	return all
}

// slowedFrom is the time of sums from which on something slowed a core, and the share of times at or
// above; 0 where nothing did for as long as a state has to last. What is undisturbed has a sharp edge, as
// have the sums of two workers on one core. Without one they are held against what they take a core alone,
// 0 if that is unknown.
func slowedFrom(took []float64, alone float64) (slow, share float64) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	fastest := lowest(took)
	slow = slowFrom * fastest
	if fastest == 0 || shareBelow(took, steadyWithin*fastest) < 0.8*shareBelow(took, slow) {
		switch {
		case alone == 0 || fastest > 0 && slow < alone: // unknown, or a wider core's
			return 0, 0
		case fastest == 0 || fastest > slowFrom*alone:
			slow = slowFrom * alone
		}
	}
	switch share = 1 - shareBelow(took, slow); {
	case share < fit.LeastShare:
		return 0, 0
	case share > 1-fit.LeastShare:
		return slow, 1
	}
	return slow, share
}

func shareBelow(rising []float64, v float64) float64 {
	n, _ := slices.BinarySearch(rising, v)
	return float64(n) / float64(len(rising))
}

// lowest is where the first of rising values gather: a share of fit.LeastShare of them, and five, within
// 3 %. 0: nowhere.
func lowest(rising []float64) float64 {
	n := max(5, int(math.Ceil(fit.LeastShare*float64(len(rising)))))
	for i := range len(rising) - n + 1 {
		if rising[i+n-1] <= 1.03*rising[i] {
			return rising[i]
		}
	}
	return 0
}
