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
	"github.com/taulop/taulop/internal/printable"
)

// A State is a placement of some workers' CPUs by the host, as far as looks show it: the time of a flag
// between two workers, of a round of flags among more, of an instruction of one. Flags do not show that
// something slows the core of one of two workers; that is a state of its own.
type State struct {
	NS    float64 `json:"ns"`       // median look
	Above float64 `json:"above_ns"` // lower bound of its looks; the next state's is the upper one
	Share float64 `json:"share"`    // of the time
	// Lasts is the median duration, s, of a state with exponentially distributed durations: ln 2 times
	// the time observed in it over the number of times that it ended. 0: it never ended.
	Lasts float64 `json:"lasts_s,omitempty"`
	// Slow, if not 0, is the least Sample.Computed of the state. Flags and Above are as of the state
	// before it.
	Slow float64 `json:"slow_above_ns,omitempty"`

	percent float64 // see Percent
}

// Percent is the share of the time in whole per cent; the percentages of a file's states add up to 100.
func (s State) Percent() float64 { return cmp.Or(s.percent, math.Round(100*s.Share)) }

// A Watch has the states of a group of workers in a session: one state if their CPUs do not move.
type Watch struct {
	Session int     `json:"session"`
	CPUs    []int   `json:"cpus"`   // of the workers, a Cycle
	States  []State `json:"states"` // ascending
}

// Settled is the least share of the time of a state that needs samples.
const Settled = 0.10

// Cycle identifies a round of flags by the CPUs of its workers, whichever of them it begins at and in
// either direction.
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

// Watch is the number, from 1, of a session's watch of the workers on these CPUs. It adds one if there
// is none.
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

// Looks are the samples with looks, by the number of their watch.
func (f *File) Looks() map[int32][]Sample {
	all := make(map[int32][]Sample)
	for i := range f.Cells {
		for _, s := range f.Cells[i].Samples {
			if s.Watch > 0 {
				all[s.Watch] = append(all[s.Watch], s)
			}
		}
	}
	return all
}

// FindStates finds the states of a session's watches in samples with looks, by the watches' numbers. A
// look without a sample has the same time before and after.
func (f *File) FindStates(session int, looks map[int32][]Sample) {
	for i := range f.Watches {
		if w := &f.Watches[i]; w.Session == session {
			w.States = statesOf(looks[int32(i+1)], f.Provenance.SumsAlone)
		}
	}
}

// statesOf finds the states in looks; see fit.Modes.
func statesOf(looks []Sample, alone float64) (states []State) {
	var values []float64
	for _, l := range looks {
		values = append(values, float64(l.Before), float64(l.After))
	}
	modes := fit.Modes(values)
	states = lists.Map(modes, func(m fit.Mode) State { return State{NS: round(m.Center, 4), Above: round(m.Above, 4), Share: m.Share} })
	if len(states) == 1 {
		return split(states, modes, looks, alone)
	}
	looks = slices.SortedFunc(slices.Values(looks), func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Launch, b.Launch), cmp.Compare(a.At, b.At))
	})
	after := func(i int) int { return fit.ModeOf(modes, float64(looks[i].After)) }
	seconds, ends := make([]float64, len(states)), make([]float64, len(states))
	shares, launches := make([]float64, len(states)), 0.
	for i := 0; i < len(looks); {
		// All launches have the same weight.
		in, total, first := make([]float64, len(states)), 0., i
		for i++; i < len(looks) && looks[i].Launch == looks[first].Launch; i++ {
			before, now, gap := after(i-1), after(i), float64(looks[i].At)-float64(looks[i-1].At)
			// If the state changed, assume equal work in both states: the time is split in
			// proportion to their looks.
			since := gap * modes[now].Center / (modes[before].Center + modes[now].Center)
			in[before] += gap - since
			in[now] += since
			if total += gap; now != before {
				ends[before]++
			}
		}
		for j := range in {
			seconds[j] += in[j]
			shares[j] += in[j] / max(total, 1e-300)
		}
		if total == 0 {
			shares[after(first)]++
		}
		launches++
	}
	for i := range states {
		states[i].Share = round(shares[i]/launches, 4)
		if ends[i] > 0 {
			states[i].Lasts = round(math.Ln2*seconds[i]/ends[i], 3)
		}
	}
	return split(states, modes, looks, alone)
}

// InState is the file restricted to one state: for that many workers the state nearest to the given one
// by NS and Slow, for more workers the state at the same quantile of the time. Cells of one worker keep
// the mean over its states, which are its core's alone. Cells without samples in the state are left out.
// It fails if the workers had one state, or none near the given one.
func (f *File) InState(workers int, like State) (*File, error) {
	s := f.Sort()
	states := s.pools[workers]
	if len(states) == 0 {
		return nil, errors.New("the machine was in one state all the time: leave the state out")
	}
	i := nearest(states, like)
	taken := states[i]
	if !taken.Same(like) {
		return nil, fmt.Errorf("there is no state in which a flag takes %s; there are %s", like.Name(), StateList(states))
	}
	restricted := *f
	restricted.Watches, restricted.Cells, restricted.state = nil, nil, &taken
	for _, c := range f.Cells {
		if n := s.Workers(&c); len(s.pools[n]) > 0 && min(n, workers) > 1 || n == workers {
			if c.Samples = s.In(&c, counterpart(states, i, s.pools[n])); len(c.Samples) == 0 {
				continue
			}
			c.Time = c.overall(f)
		}
		c.Samples = slices.Clone(c.Samples)
		for i := range c.Samples { // one state needs no looks
			x := &c.Samples[i]
			x.Watch, x.Before, x.After, x.Computed = 0, 0, 0, 0
		}
		restricted.Cells = append(restricted.Cells, c)
	}
	return &restricted, nil
}

// Throughout is the file without cells that lack samples in a Settled state of their workers: their mean
// would leave that state out. It keeps them where fewer than two cells of their kind have all states.
func (f *File) Throughout() *File {
	if f.throughout {
		return f
	}
	s := f.Sort()
	if len(s.pools) == 0 {
		return f
	}
	curve := func(c *Cell) Key {
		return Key{Kind: c.Kind, Setup: c.Setup, Placement: c.Placement, OffCache: c.OffCache, Operator: c.Operator, Variant: c.Variant, Transport: c.Transport}
	}
	covered, count := make([]bool, len(f.Cells)), make(map[Key]int)
	for i := range f.Cells {
		c := &f.Cells[i]
		covered[i] = true
		for at, state := range s.StatesOf(c) {
			covered[i] = covered[i] && (state.Share < Settled || len(s.In(c, at)) > 0)
		}
		if covered[i] {
			count[curve(c)]++
		}
	}
	kept := *f
	kept.Cells, kept.throughout = nil, true
	for i, c := range f.Cells {
		if covered[i] || count[curve(&c)] < fewest {
			kept.Cells = append(kept.Cells, c)
		}
	}
	return &kept
}

// counterpart is the index in states of the state at the same quantile of the time as the middle of the
// i-th of other workers' states.
func counterpart(others []State, i int, states []State) int {
	middle := others[i].Share / 2
	for _, before := range others[:i] {
		middle += before.Share
	}
	for i, state := range states {
		if middle -= state.Share; middle < 0 {
			return i
		}
	}
	return len(states) - 1
}

// Looked tells whether there were looks, which tell the machine's states apart.
func (f *File) Looked() bool { return len(f.Watches) > 0 || f.state != nil }

// State is the state that InState selected; nil: the file has all states.
func (f *File) State() *State { return f.state }

// A cellIn is a cell in a state of its workers, nil if they had one state, and the result of Alone for it.
type cellIn struct {
	*Cell
	*State
	alone *Cell
}

// byState are the cells in the file's order, once for each state with samples.
func (f *File) byState() (all []cellIn) {
	s := f.Sort()
	for _, i := range f.sorted() {
		c := &f.Cells[i]
		stays := s.stays(c)
		alone, aloneStays := c, stays
		if c.Kind == TransferCell && c.Setup == Isolated {
			alone = s.alone(c)
			aloneStays = s.stays(alone)
		}
		if len(stays) == 0 {
			all = append(all, cellIn{c, f.state, alone})
			continue
		}
		for at := range stays {
			in, lone := *c, *alone
			in.Samples, in.Time = stays[at].samples, stays[at].time(f)
			lone.Samples, lone.Time = aloneStays[at].samples, aloneStays[at].time(f)
			all = append(all, cellIn{&in, &stays[at].State, &lone})
		}
	}
	return all
}

// StateList lists states in a sentence: 64 ns (56 % of the time) and 245 ns (41 %).
func StateList(states []State) string {
	all := lists.Map(states, func(s State) string { return fmt.Sprintf("%s (%.0f %%)", s.Name(), s.Percent()) })
	if len(all) > 0 {
		all[0] = strings.TrimSuffix(all[0], ")") + " of the time)"
	}
	return printable.And(all)
}

// Name is the time of a flag, and "slowed" if something slows a core.
func (s State) Name() string {
	return printable.Either(s.Slow > 0, fmt.Sprintf("%.3g ns slowed", s.NS), fmt.Sprintf("%.3g ns", s.NS))
}

// label is Name without spaces.
func (s State) label() string {
	return strings.ReplaceAll(strings.Replace(s.Name(), " slowed", "-slowed", 1), " ", "")
}

// Apart is the distance between states of two machines or files: the absolute logarithm of the ratio of
// their flags, infinite if something slows a core in one of them alone.
func (s State) Apart(o State) float64 {
	if (s.Slow > 0) != (o.Slow > 0) {
		return math.Inf(1)
	}
	return math.Abs(math.Log(s.NS / o.NS))
}

// Same reports whether states of two machines or files count as the same.
func (s State) Same(o State) bool { return s.Apart(o) < math.Log(fit.LeastApart) }

// States are the file's states of two workers; none if they had one. With several, the file's times are
// means weighted by the states' shares, see Sorting.Estimate.
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

// Thresholds for slowed cores, relative to the time of undisturbed sums. Sums on undisturbed cores
// differ by a few per cent; a thread of another guest on the same core makes them 1.1 to 2 times as long.
const (
	slowFrom     = 1.1  // from here on a core counts as slowed
	steadyWithin = 1.05 // most undisturbed sums are below
)

// split adds a state of slowed cores after each state in which some sums took longer than the others.
// Its share of the state's time is its share of the samples.
func split(states []State, modes []fit.Mode, looks []Sample, alone float64) (all []State) {
	for i, state := range states {
		var took []float64
		for _, l := range looks {
			if l.Computed > 0 && fit.ModeOf(modes, float64(l.Before)) == i && fit.ModeOf(modes, float64(l.After)) == i {
				took = append(took, float64(l.Computed))
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

// slowedFrom is the time of sums from which on a core counts as slowed, and the share of times at or
// above it; zeros if that share is too small for a state. Times of undisturbed sums have a sharp lower
// edge, and so have those of two workers on one core. Without such an edge times are compared with
// alone, the longest on a core that nothing else uses, or with the fastest if these show a core that computes
// more at once; 0: unknown.
func slowedFrom(took []float64, alone float64) (slow, share float64) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	fastest := lowest(took)
	slow = slowFrom * fastest
	if fastest == 0 || shareBelow(took, steadyWithin*fastest) < 0.8*shareBelow(took, slow) {
		switch {
		case alone == 0:
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

func shareBelow(ascending []float64, v float64) float64 {
	n, _ := slices.BinarySearch(ascending, v)
	return float64(n) / float64(len(ascending))
}

// edgeShare is the least share of the values at a lower edge. It is below fit.LeastShare: where cores are
// seldom undisturbed, the edge still tells which times are.
const edgeShare = 0.01

// lowest is the lower edge of ascending values: the first that edgeShare of all values, but five at
// least, follow within 3 %. 0: there is none.
func lowest(ascending []float64) float64 {
	n := max(5, int(math.Ceil(edgeShare*float64(len(ascending)))))
	for i := range len(ascending) - n + 1 {
		if ascending[i+n-1] <= 1.03*ascending[i] {
			return ascending[i]
		}
	}
	return 0
}
