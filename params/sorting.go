package params

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/lists"
)

// Results of Sorting.Of for samples without a state of their own.
const (
	AnyState = -1 // the workers have one state, or there was no look
	Moved    = -2 // the state changed during the visit
)

// A Sorting classifies a file's samples by state. States of several sessions, and of equally many
// workers on other CPUs, are pooled if their looks agree within a factor of sameState and something
// slows a core in both or in neither.
type Sorting struct {
	f *File
	// watches are the file's, but a watch that found one state has the pool's if that has several.
	watches []Watch
	pools   map[int][]State // by number of workers, ascending
	pooled  [][]int         // by watch and its state: index in the pool, or AnyState
	lone    map[*Cell]*Cell // results of alone
}

const sameState = 1.25

// Sort pools the states of the file's watches.
func (f *File) Sort() *Sorting {
	s := &Sorting{f: f, watches: slices.Clone(f.Watches), pools: make(map[int][]State), pooled: make([][]int, len(f.Watches))}
	single := f.singleStates()
	moving := f.moving(single)
	members, doubtful := make(map[int][]State), make(map[int][]Sample)
	for i, w := range f.Watches {
		n := len(w.CPUs)
		switch looks := single[int32(i+1)]; {
		case !moving[i]:
		case w.misfit(looks):
			doubtful[n] = append(doubtful[n], looks...)
		default:
			members[n] = append(members[n], w.States...)
		}
	}
	for n, looks := range doubtful { // pooled there may be enough of them to find modes
		if states := statesOf(looks, f.Provenance.SumsAlone); len(states) > 1 || len(members[n]) == 0 {
			members[n] = append(members[n], states...)
		}
	}
	for n, all := range members {
		s.pools[n] = pool(all)
	}
	changed := make(map[int]bool) // by number of workers
	for number, looks := range single {
		i := number - 1
		if n := len(f.Watches[i].CPUs); moving[i] && len(s.pools[n]) > 1 {
			s.watches[i].States, changed[n] = classified(s.pools[n], looks), true
		}
	}
	for i, w := range s.watches {
		for _, state := range w.States {
			at := AnyState
			if moving[i] {
				at = nearest(s.pools[len(w.CPUs)], state)
			}
			s.pooled[i] = append(s.pooled[i], at)
		}
	}
	for n := range changed {
		s.reweigh(n)
	}
	for _, states := range s.pools {
		for i, share := range decimal.Shares(lists.Map(states, func(s State) float64 { return s.Share }), 100) {
			states[i].percent = math.Round(100 * share)
		}
	}
	return s
}

// FindPersistence sets the file's Persistence.
func (s *Sorting) FindPersistence() {
	s.f.Persistence = 0
	if s.f.Sessions() > 1 {
		return
	}
	var series [][]float64
	for i := range s.f.Cells {
		c := &s.f.Cells[i]
		stays := s.stays(c)
		if len(stays) == 0 {
			stays = []stay{{samples: c.Samples}}
		}
		for _, stay := range stays {
			series = append(series, stay.replicates(s.f)...)
		}
	}
	s.f.Persistence = fit.Persistence(series)
}

// reweigh sets the shares of a pool to the means over its watches.
func (s *Sorting) reweigh(workers int) {
	pool, total := s.pools[workers], 0.
	for i := range pool {
		pool[i].Share = 0
	}
	for i, w := range s.watches {
		for j, at := range s.pooled[i] {
			if len(w.CPUs) == workers && at >= 0 {
				pool[at].Share += w.States[j].Share
				total += w.States[j].Share
			}
		}
	}
	for i := range pool {
		pool[i].Share /= total
	}
}

// singleStates are the looks of watches with one state, by watch number; nil if no watch of two workers
// or more has several states.
func (f *File) singleStates() map[int32][]Sample {
	if !slices.ContainsFunc(f.Watches, func(w Watch) bool { return len(w.CPUs) > 1 && len(w.States) > 1 }) {
		return nil
	}
	single := f.Looks()
	maps.DeleteFunc(single, func(watch int32, _ []Sample) bool { return len(f.Watches[watch-1].States) != 1 })
	return single
}

// misfit reports whether more than a fifth of the looks of a watch with one state are far from it, so
// that there were too few looks to tell its states.
func (w *Watch) misfit(looks []Sample) bool {
	far := lists.Filter(looks, func(l Sample) bool { return !within(float64(l.Before), w.States[0].NS, fit.LeastApart) })
	return 5*len(far) > len(looks)
}

// classified are the pool's states with the shares of a watch's looks.
func classified(pool []State, looks []Sample) (states []State) {
	states = slices.Clone(pool)
	for i := range states {
		states[i].Share, states[i].Lasts = 0, 0
	}
	w := Watch{States: states}
	for _, l := range looks {
		states[w.At(float64(l.Before), float64(l.Computed))].Share += 1 / float64(len(looks))
	}
	return states
}

// moving tells for each watch whether its workers had several states, in one session or over sessions.
// single has the looks of watches with one state. A watch that shares a cell with such a watch counts,
// too: samples of CPUs that stayed are of one of the states in the cell's mean.
func (f *File) moving(single map[int32][]Sample) []bool {
	first := make(map[string]float64)
	several := make(map[string]bool) // by CPUs
	for i, w := range f.Watches {
		cpus := fmt.Sprint(w.CPUs)
		several[cpus] = several[cpus] || w.misfit(single[int32(i+1)])
		for _, state := range w.States {
			if first[cpus] == 0 {
				first[cpus] = state.NS
			}
			several[cpus] = several[cpus] || len(w.States) > 1 || !within(state.NS, first[cpus], fit.LeastApart)
		}
	}
	moving := make([]bool, len(f.Watches))
	for i, w := range f.Watches {
		moving[i] = several[fmt.Sprint(w.CPUs)]
	}
	if len(several) < 2 || !slices.Contains(moving, true) {
		return moving
	}
	for changed := true; changed; {
		changed = false
		for i := range f.Cells {
			watches := watchesOf(&f.Cells[i], len(f.Watches))
			if !slices.ContainsFunc(watches, func(w int32) bool { return moving[w-1] }) {
				continue
			}
			for _, w := range watches {
				changed = changed || !moving[w-1]
				moving[w-1] = true
			}
		}
	}
	return moving
}

// watchesOf are the numbers of the watches of a cell's samples, each once, up to most.
func watchesOf(c *Cell, most int) (watches []int32) {
	last := int32(0) // saves searches: most neighbouring samples have the same watch
	for _, x := range c.Samples {
		if x.Watch != last && x.Watch > 0 && int(x.Watch) <= most && !slices.Contains(watches, x.Watch) {
			watches = append(watches, x.Watch)
		}
		last = x.Watch
	}
	return watches
}

func within(a, b, factor float64) bool { return math.Abs(math.Log(a/b)) < math.Log(factor) }

// pool merges states within sameState of each other. Their shares are means over watches.
func pool(all []State) (states []State) {
	all = slices.SortedFunc(slices.Values(all), func(a, b State) int { return cmp.Compare(a.NS, b.NS) })
	var groups [][]State
	for _, state := range all {
		if n := len(groups); n > 0 && within(state.NS, groups[n-1][0].NS, sameState) {
			groups[n-1] = append(groups[n-1], state)
			continue
		}
		groups = append(groups, []State{state})
	}
	total := 0.
	for _, same := range groups {
		m := mean(same)
		total += m.Share
		steady, slowed := State{NS: cmp.Or(m.NS, same[0].NS), Lasts: m.Lasts}, State{}
		for _, state := range same {
			if state.Slow > 0 {
				slowed.Slow, slowed.Share = max(slowed.Slow, state.Slow), slowed.Share+state.Share
			} else {
				steady.Share += state.Share
			}
		}
		if len(states) > 0 {
			steady.Above = math.Sqrt(states[len(states)-1].NS * steady.NS)
		}
		if steady.Share > 0 || slowed.Slow == 0 {
			states = append(states, steady)
		}
		if slowed.Slow > 0 {
			slowed.NS, slowed.Above = steady.NS, steady.Above
			states = append(states, slowed)
		}
	}
	for i := range states {
		states[i].Share /= max(total, 1e-300)
	}
	return states
}

// mean has the sum of states' shares, the geometric mean of their flags by shares, and the median of their
// durations; zeros without shares.
func mean(states []State) (m State) {
	var logs float64
	var lasts []float64
	for _, state := range states {
		logs += state.Share * math.Log(state.NS)
		m.Share += state.Share
		if state.Lasts > 0 {
			lasts = append(lasts, state.Lasts)
		}
	}
	if m.Share > 0 {
		m.NS = math.Exp(logs / m.Share)
	}
	if len(lasts) > 0 {
		m.Lasts = fit.Median(lasts).Center
	}
	return m
}

// nearest is the index of the state nearest to the given one; 0 if they all differ in Slow.
func nearest(states []State, to State) (best int) {
	for i := range states {
		if states[i].Apart(to) < states[best].Apart(to) {
			best = i
		}
	}
	return best
}

// States are the file's states of that many workers, ascending; none if they had one.
func (s *Sorting) States(workers int) []State { return s.pools[workers] }

// Of is a sample's state, an index of States of its workers, or AnyState or Moved.
func (s *Sorting) Of(x Sample) int {
	if x.Watch < 1 || int(x.Watch) > len(s.pooled) {
		return AnyState
	}
	w := &s.watches[x.Watch-1]
	if len(w.States) == 0 {
		return AnyState
	}
	at := w.Of(x)
	if at == Moved {
		return Moved
	}
	return s.pooled[x.Watch-1][at]
}

// Of is the state of one of the watch's samples, an index of its States, or Moved.
func (w *Watch) Of(x Sample) int {
	before := w.At(float64(x.Before), float64(x.Computed))
	if before != w.At(float64(x.After), float64(x.Computed)) {
		return Moved
	}
	return before
}

// At is the state of a look of ns in which sums took computed ns; 0: there were none.
func (w *Watch) At(ns, computed float64) (at int) {
	for i, s := range w.States {
		if s.Slow == 0 && ns >= s.Above {
			at = i
		}
	}
	if next := at + 1; next < len(w.States) && w.States[next].Slow > 0 && computed >= w.States[next].Slow {
		return next
	}
	return at
}

// together tells whether two samples of equally many workers have the same launch and state.
func (s *Sorting) together(a, b Sample) bool {
	if a.Launch != b.Launch {
		return false
	}
	stateA, stateB := s.Of(a), s.Of(b)
	return stateA == stateB || stateA == AnyState || stateB == AnyState
}

// Workers is the number of workers of a cell's samples; 0: there was no look.
func (s *Sorting) Workers(c *Cell) int {
	if x := lists.Find(c.Samples, func(x Sample) bool { return x.Watch > 0 && int(x.Watch) <= len(s.f.Watches) }); x != nil {
		return len(s.f.Watches[x.Watch-1].CPUs)
	}
	return 0
}

// In are the samples of a cell in a state, an index of States of its workers.
func (s *Sorting) In(c *Cell, state int) []Sample {
	return lists.Filter(c.Samples, func(x Sample) bool {
		at := s.Of(x)
		return at == state || at == AnyState
	})
}

// StatesOf are the States of a cell's workers with the shares and durations on the cell's own CPUs: 0
// for states that did not occur there. None if the workers had one state.
func (s *Sorting) StatesOf(c *Cell) (states []State) {
	if len(s.pools) == 0 {
		return nil
	}
	var own [][]State // by state
	total := 0.
	for _, number := range watchesOf(c, len(s.pooled)) {
		w := &s.watches[number-1]
		for i, at := range s.pooled[number-1] {
			if at == AnyState {
				break
			}
			if states == nil {
				states = slices.Clone(s.pools[len(w.CPUs)])
				own = make([][]State, len(states))
			}
			own[at] = append(own[at], w.States[i])
			total += w.States[i].Share
		}
	}
	for i := range states {
		m := mean(own[i])
		states[i].NS, states[i].Share, states[i].Lasts = m.NS, m.Share/max(total, 1e-300), m.Lasts
	}
	return states
}

// Launches counts the launches of a session with samples of a cell in a Settled state: in the state that
// has the fewest.
func (s *Sorting) Launches(c *Cell, session int) int {
	fewest := math.MaxInt
	for i, state := range s.StatesOf(c) {
		if state.Share >= Settled {
			part := Cell{Samples: s.In(c, i)}
			fewest = min(fewest, part.InSession(s.f, session))
		}
	}
	if fewest == math.MaxInt {
		return c.InSession(s.f, session)
	}
	return fewest
}

// A stay is a cell's samples in a state of its workers.
type stay struct {
	State
	at      int // index of Sorting.States of its workers
	samples []Sample
}

// stays are the states that a cell has samples in; none if its workers had one state.
func (s *Sorting) stays(c *Cell) (all []stay) {
	for i, state := range s.StatesOf(c) {
		if samples := s.In(c, i); len(samples) > 0 && state.Share > 0 {
			all = append(all, stay{state, i, samples})
		}
	}
	return all
}

func (s *stay) replicates(f *File) fit.Replicates { return (&Cell{Samples: s.samples}).Replicates(f) }

// time is the cell's time in the state.
func (s *stay) time(f *File) fit.Estimate {
	return s.replicates(f).Estimate().Persistent(f.Persistence)
}

// overall is the time of all samples of a cell, as if they were in one state.
func (c *Cell) overall(f *File) fit.Estimate { return (&stay{samples: c.Samples}).time(f) }

// Estimate is a cell's time. If its workers had several states, it is the mean of the states' times and
// bounds, weighted by their shares; states without samples are left out. The interval of a state that is
// not Settled and has too few launches is the range of its samples. If a Settled state has too few, the
// interval is that of all samples together.
func (s *Sorting) Estimate(c *Cell) fit.Estimate {
	mixed, total := fit.Estimate{N: math.MaxInt, Sessions: math.MaxInt}, 0.
	for _, stay := range s.stays(c) {
		part := stay.time(s.f)
		if !part.Known() && stay.Share < Settled {
			part.Lo, part.Hi = extremes(stay.samples)
		}
		part = part.Scale(stay.Share)
		mixed = fit.Estimate{Center: mixed.Center + part.Center, Lo: mixed.Lo + part.Lo, Hi: mixed.Hi + part.Hi,
			N: min(mixed.N, part.N), Sessions: min(mixed.Sessions, part.Sessions)}
		total += stay.Share
	}
	if total == 0 { // one state, or the state changed during every sample
		return c.overall(s.f)
	}
	mixed = mixed.Scale(1 / total)
	if all := c.overall(s.f); !mixed.Known() && all.Known() {
		mixed.Lo, mixed.Hi = min(all.Lo, mixed.Center), max(all.Hi, mixed.Center)
		mixed.N, mixed.Sessions = all.N, all.Sessions
	}
	return mixed
}

// center is the centre of Estimate, at less cost.
func (s *Sorting) center(c *Cell) float64 {
	sum, total := 0., 0.
	for _, stay := range s.stays(c) {
		sum += stay.Share * stay.replicates(s.f).Center()
		total += stay.Share
	}
	if total == 0 {
		return c.Replicates(s.f).Center()
	}
	return sum / total
}

// extremes are the shortest and the longest of samples, ns.
func extremes(samples []Sample) (least, most float64) {
	least = math.Inf(1)
	for _, x := range samples {
		least, most = min(least, x.NS), max(most, x.NS)
	}
	return least, most
}
