package params

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/lists"
)

// What a sample is of that is of no state of its own.
const (
	AnyState = -1 // workers with one state, or not looked at
	Moved    = -2 // the machine changed its state meanwhile
)

// A Sorting sorts a file's samples by state. States of several sessions, and of as many
// workers on other CPUs, are the same where flags take the same, within a factor of 1.25, and
// something slows a core in both or in none.
type Sorting struct {
	f *File
	// watches are the file's; what told one state where others of as many workers have several has theirs.
	watches []Watch
	pools   map[int][]State // by number of workers, rising
	to      [][]int         // by watch and its state: which of the pool
	lone    map[*Cell]*Cell // isolated transfers as alone has them
}

const sameState = 1.25

// Sort takes the states of the file's watches together.
func (f *File) Sort() *Sorting {
	s := &Sorting{f: f, watches: slices.Clone(f.Watches), pools: make(map[int][]State), to: make([][]int, len(f.Watches))}
	one := f.oneState()
	move := f.move(one)
	members, doubtful := make(map[int][]State), make(map[int][]Look)
	for i, w := range f.Watches {
		n := len(w.CPUs)
		switch looks := one[int32(i+1)]; {
		case !move[i]:
		case w.astray(looks):
			doubtful[n] = append(doubtful[n], looks...)
		default:
			members[n] = append(members[n], w.States...)
		}
	}
	for n, looks := range doubtful { // together they may be enough
		if states := statesOf(looks, f.Provenance.SumsAlone); len(states) > 1 || len(members[n]) == 0 {
			members[n] = append(members[n], states...)
		}
	}
	for n, all := range members {
		s.pools[n] = pool(all)
	}
	anew := make(map[int]bool) // by number of workers
	for number, looks := range one {
		i := number - 1
		if n := len(f.Watches[i].CPUs); move[i] && len(s.pools[n]) > 1 && len(looks) > 0 {
			s.watches[i].States, anew[n] = told(s.pools[n], looks), true
		}
	}
	for i, w := range s.watches {
		for _, state := range w.States {
			at := AnyState
			if move[i] {
				at = nearest(s.pools[len(w.CPUs)], state)
			}
			s.to[i] = append(s.to[i], at)
		}
	}
	for n := range anew {
		s.reweigh(n)
	}
	for _, states := range s.pools {
		for i, share := range decimal.Shares(lists.Map(states, func(s State) float64 { return s.Share }), 100) {
			states[i].percent = math.Round(100 * share)
		}
	}
	return s
}

// reweigh has the shares of a pool be means over its watches again.
func (s *Sorting) reweigh(workers int) {
	pool, total := s.pools[workers], 0.
	for i := range pool {
		pool[i].Share = 0
	}
	for i, w := range s.watches {
		for j, at := range s.to[i] {
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

// oneState are the looks of the watches that told one state, by number; none where all watches of two
// workers or more did.
func (f *File) oneState() map[int32][]Look {
	one, several := make(map[int32][]Look), false
	for i, w := range f.Watches {
		if len(w.States) == 1 {
			one[int32(i+1)] = nil
		}
		several = several || len(w.CPUs) > 1 && len(w.States) > 1
	}
	if !several {
		return nil
	}
	for i := range f.Cells {
		for _, x := range f.Cells[i].Samples {
			if looks, is := one[x.Watch]; is {
				one[x.Watch] = append(looks, x.Look())
			}
		}
	}
	return one
}

// astray reports whether more than a fifth of the looks of a watch with one state are of no such state:
// there were too few of them to tell states.
func (w *Watch) astray(looks []Look) bool {
	out := 0
	for _, l := range looks {
		if !within(l.Before, w.States[0].NS, fit.LeastApart) {
			out++
		}
	}
	return 5*out > len(looks)
}

// told are the states of a watch as others tell them, with its own shares of looks.
func told(pool []State, looks []Look) (states []State) {
	states = slices.Clone(pool)
	for i := range states {
		states[i].Share, states[i].Lasts = 0, 0
	}
	w := Watch{States: states}
	for _, l := range looks {
		states[w.At(l.Before, l.Computed)].Share += 1 / float64(len(looks))
	}
	return states
}

// move tells which watches are of workers with several states, in one session or from one to the
// next, whose looks by watch are given where these told one state. All watches that share a cell with one are included: the samples of CPUs that stayed are of
// one of the states in the cell's mean.
func (f *File) move(one map[int32][]Look) []bool {
	first := make(map[string]float64)
	several := make(map[string]bool) // by CPUs
	for i, w := range f.Watches {
		of := fmt.Sprint(w.CPUs)
		several[of] = several[of] || w.astray(one[int32(i+1)])
		for _, state := range w.States {
			if first[of] == 0 {
				first[of] = state.NS
			}
			several[of] = several[of] || len(w.States) > 1 || !within(state.NS, first[of], fit.LeastApart)
		}
	}
	move := make([]bool, len(f.Watches))
	for i, w := range f.Watches {
		move[i] = several[fmt.Sprint(w.CPUs)]
	}
	if len(several) < 2 || !slices.Contains(move, true) {
		return move
	}
	for changed := true; changed; {
		changed = false
		for i := range f.Cells {
			watches := f.watchesOf(&f.Cells[i])
			if !slices.ContainsFunc(watches, func(w int32) bool { return move[w-1] }) {
				continue
			}
			for _, w := range watches {
				changed = changed || !move[w-1]
				move[w-1] = true
			}
		}
	}
	return move
}

// watchesOf are the numbers of the watches of a cell's samples, each once.
func (f *File) watchesOf(c *Cell) (watches []int32) {
	last := int32(0) // of a session's launches most samples have the same
	for _, x := range c.Samples {
		if x.Watch != last && x.Watch > 0 && int(x.Watch) <= len(f.Watches) && !slices.Contains(watches, x.Watch) {
			watches = append(watches, x.Watch)
		}
		last = x.Watch
	}
	return watches
}

func within(a, b, factor float64) bool { return math.Abs(math.Log(a/b)) < math.Log(factor) }

// pool takes states together that are the same. Their shares are means over watches.
func pool(all []State) (states []State) {
	all = slices.SortedFunc(slices.Values(all), func(a, b State) int { return cmp.Compare(a.NS, b.NS) })
	var of [][]State
	for _, state := range all {
		if n := len(of); n > 0 && within(state.NS, of[n-1][0].NS, sameState) {
			of[n-1] = append(of[n-1], state)
			continue
		}
		of = append(of, []State{state})
	}
	total := 0.
	for _, same := range of {
		steady, slowed := State{NS: same[0].NS}, State{}
		logs, weight := 0., 0.
		var lasts []float64
		for _, state := range same {
			logs += state.Share * math.Log(state.NS)
			weight += state.Share
			if state.Lasts > 0 {
				lasts = append(lasts, state.Lasts)
			}
			if state.Slow > 0 {
				slowed.Slow, slowed.Share = max(slowed.Slow, state.Slow), slowed.Share+state.Share
			} else {
				steady.Share += state.Share
			}
		}
		if weight > 0 {
			steady.NS = math.Exp(logs / weight)
		}
		if len(lasts) > 0 {
			steady.Lasts = fit.Median(lasts).Center
		}
		if len(states) > 0 {
			steady.Above = math.Sqrt(states[len(states)-1].NS * steady.NS)
		}
		total += weight
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

// nearest is the state that is most nearly the given one; the first where all are another kind.
func nearest(states []State, of State) (best int) {
	for i := range states {
		if states[i].Apart(of) < states[best].Apart(of) {
			best = i
		}
	}
	return best
}

// States are the states of that many workers that the file has met, rising; none where they had one.
func (s *Sorting) States(workers int) []State { return s.pools[workers] }

// Of is the state of the States of as many workers that a sample was taken in, AnyState or Moved.
func (s *Sorting) Of(x Sample) int {
	if x.Watch < 1 || int(x.Watch) > len(s.to) {
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
	return s.to[x.Watch-1][at]
}

// Of is the watch's state that one of its samples was taken in, or Moved.
func (w *Watch) Of(x Sample) int {
	before := w.At(float64(x.Before), float64(x.Computed))
	if before != w.At(float64(x.After), float64(x.Computed)) {
		return Moved
	}
	return before
}

// At is the state of a look of ns in which sums took computed ns, 0 if it had none.
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

// together tells whether samples of as many workers are of the same launch and state.
func (s *Sorting) together(a, b Sample) bool {
	if a.Launch != b.Launch {
		return false
	}
	of, other := s.Of(a), s.Of(b)
	return of == other || of == AnyState || other == AnyState
}

// Workers is how many worked on a cell's samples; 0: no look.
func (s *Sorting) Workers(c *Cell) int {
	for _, x := range c.Samples {
		if x.Watch > 0 && int(x.Watch) <= len(s.f.Watches) {
			return len(s.f.Watches[x.Watch-1].CPUs)
		}
	}
	return 0
}

// In are the samples of a cell in a state of as many workers.
func (s *Sorting) In(c *Cell, state int) (samples []Sample) {
	for _, x := range c.Samples {
		if at := s.Of(x); at == state || at == AnyState {
			samples = append(samples, x)
		}
	}
	return samples
}

// Each is a cell with the samples of one state after the other; the cell itself where there was one.
func (s *Sorting) Each(c *Cell) (all []Cell) {
	for i, state := range s.StatesOf(c) {
		in := *c
		if in.Samples = s.In(c, i); len(in.Samples) > 0 && state.Share > 0 {
			all = append(all, in)
		}
	}
	if len(all) == 0 {
		return []Cell{*c}
	}
	return all
}

// StatesOf are the States of as many workers with the shares, and the times for which they last, of the
// workers on a cell's own CPUs: 0 of states that these were never in. None where they had one.
func (s *Sorting) StatesOf(c *Cell) (states []State) {
	if len(s.pools) == 0 {
		return nil
	}
	seen, total := make(map[int32]bool), 0.
	var lasts [][]float64
	for _, x := range c.Samples {
		if seen[x.Watch] || x.Watch < 1 || int(x.Watch) > len(s.to) {
			continue
		}
		seen[x.Watch] = true
		w := &s.watches[x.Watch-1]
		for i, at := range s.to[x.Watch-1] {
			if at == AnyState {
				break
			}
			if states == nil {
				states = slices.Clone(s.pools[len(w.CPUs)])
				for j := range states {
					states[j].Share, states[j].Lasts, states[j].NS = 0, 0, 0
				}
				lasts = make([][]float64, len(states))
			}
			states[at].NS += w.States[i].Share * math.Log(w.States[i].NS)
			states[at].Share += w.States[i].Share
			total += w.States[i].Share
			if w.States[i].Lasts > 0 {
				lasts[at] = append(lasts[at], w.States[i].Lasts)
			}
		}
	}
	for i := range states {
		if of := &states[i]; of.Share > 0 {
			of.NS = math.Exp(of.NS / of.Share)
			of.Share /= total
		}
		if len(lasts[i]) > 0 {
			states[i].Lasts = fit.Median(lasts[i]).Center
		}
	}
	return states
}

// Launches counts the launches of a session that have samples of a cell in the Settled state in
// which there are the fewest.
func (s *Sorting) Launches(c *Cell, session int) int {
	fewest := math.MaxInt
	for i, state := range s.StatesOf(c) {
		if state.Share >= Settled {
			in := Cell{Samples: s.In(c, i)}
			fewest = min(fewest, in.InSession(s.f, session))
		}
	}
	if fewest == math.MaxInt {
		return c.InSession(s.f, session)
	}
	return fewest
}

// A Stay is a cell's time in a state of its workers.
type Stay struct {
	State
	At      int // which of the States of as many workers
	Samples []Sample
	Time    fit.Estimate
}

// ByState are a cell's times in the states that it has samples in; none where its workers had
// one state.
func (s *Sorting) ByState(c *Cell) (all []Stay) {
	for i, state := range s.StatesOf(c) {
		in := Cell{Samples: s.In(c, i)}
		if len(in.Samples) == 0 || state.Share == 0 {
			continue
		}
		all = append(all, Stay{state, i, in.Samples, in.Replicates(s.f).Estimate()})
	}
	return all
}

// Estimate is a cell's time: of workers with several states the mean by their shares, each with its
// own interval. States without samples are left out. A state that is not Settled and has too few launches
// counts with the least and the largest of its samples; if a Settled one has too few, the interval is that
// of all samples together.
func (s *Sorting) Estimate(c *Cell) fit.Estimate {
	mixed, total := fit.Estimate{}, 0.
	for _, of := range s.ByState(c) {
		if !of.Time.Known() && of.Share < Settled {
			of.Time.Lo, of.Time.Hi = extremes(of.Samples)
		}
		part := of.Time.Scale(of.Share)
		if total == 0 {
			mixed = part
		} else {
			mixed = fit.Estimate{Center: mixed.Center + part.Center, Lo: mixed.Lo + part.Lo, Hi: mixed.Hi + part.Hi,
				N: min(mixed.N, part.N), Sessions: min(mixed.Sessions, part.Sessions)}
		}
		total += of.Share
	}
	if total == 0 { // of one state, or all were taken while the machine changed its state
		return c.Replicates(s.f).Estimate()
	}
	mixed = mixed.Scale(1 / total)
	if all := c.Replicates(s.f).Estimate(); !mixed.Known() && all.Known() {
		mixed.Lo, mixed.Hi = min(all.Lo, mixed.Center), max(all.Hi, mixed.Center)
		mixed.N, mixed.Sessions = all.N, all.Sessions
	}
	return mixed
}

// center is Estimate's centre, at less cost.
func (s *Sorting) center(c *Cell) float64 {
	sum, total := 0., 0.
	for i, state := range s.StatesOf(c) {
		in := Cell{Samples: s.In(c, i)}
		if len(in.Samples) > 0 {
			sum += state.Share * in.Replicates(s.f).Center()
			total += state.Share
		}
	}
	if total == 0 {
		return c.Replicates(s.f).Center()
	}
	return sum / total
}

func extremes(samples []Sample) (least, most float64) {
	least = math.Inf(1)
	for _, x := range samples {
		least, most = min(least, x.NS), max(most, x.NS)
	}
	return least, most
}
