package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// need is the number of launches with samples that a cell needs.
func (x *Experiment) need(c Cell) int {
	if x.enough[c.Key] || x.enough == nil && c.Once {
		return 1
	}
	return LeastLaunches
}

// sampled is the number of the session's launches that have samples of the file's cell at this
// index; 0 for −1.
func (x *Experiment) sampled(states *params.Sorting, at int) int {
	if at < 0 {
		return 0
	}
	return states.Launches(&x.File.Cells[at], x.Session)
}

// plan fixes the number of launches by the duration of the second launch of each set, which had hints,
// never by results. If the first launch did not reach all cells there is one more, because the second is
// the first to visit the rest.
func (r *run) plan(elapsed time.Duration) {
	if r.launches > 0 {
		return
	}
	least := r.least()
	for i, p := range r.cells {
		if p.lacking && !p.reached && !r.Cells[i].Once {
			least = r.least() + 1
		}
	}
	each, left := max(elapsed-r.first, time.Millisecond), r.Time-elapsed
	if r.Most > 0 {
		left -= left / 4 // of many short launches, some take longer than the second
	}
	r.launches = r.sets * min(max(2+int(left/each), least), cmp.Or(r.Most, mostLaunches))
}

// least is the least number of launches. If cells are visited once, it is the first launch, the
// launches that visit these cells, and the launches that visit doubtful cells again.
func (r *run) least() int { return r.parts + LeastLaunches }

// divide deals the cells that are visited once at random, whole groups at a time, among the launches from
// the second on: like cells are visited by several launches. If few launches were asked for, it leaves
// some to visit doubtful cells again.
func (r *run) divide() {
	groups := make(map[string]int)
	for i, c := range r.Cells {
		if !c.Once {
			continue
		}
		if r.parts == 0 {
			r.parts = LeastLaunches
			if r.launches > 0 {
				r.parts = min(max(r.launches/r.sets-LeastLaunches, 1), LeastLaunches)
			}
		}
		part, known := groups[c.Group]
		if !known || c.Group == "" {
			part = 1 + r.rand.IntN(r.parts)
			groups[c.Group] = part
		}
		r.cells[i].part = part
	}
}

// ask makes every launch from now on visit the doubtful cells, once all cells that are visited once have
// been. It returns the most visits that one of them lacks.
func (r *run) ask() (again int) {
	if r.asked || r.Doubtful == nil || r.parts == 0 {
		return 0
	}
	var once []params.Cell
	index := make(map[params.Key]int)
	for i, c := range r.Cells {
		p := r.cells[i]
		if c.Once && !p.reached {
			return 0
		}
		if p.at >= 0 {
			once = append(once, r.File.Cells[p.at])
			index[c.Key] = i
		}
	}
	r.asked = true
	for i := range once {
		once[i].Time = r.states.Estimate(&once[i])
	}
	for _, k := range r.Doubtful(once) {
		i, known := index[k]
		if !known || !r.Cells[i].Once {
			continue
		}
		p := &r.cells[i]
		have := r.File.Cells[p.at].InSession(r.File, r.Session)
		p.part, p.lacking = -1, have < LeastLaunches
		delete(r.enough, k)
		again = max(again, LeastLaunches-have)
	}
	return again
}

// due reports whether the current launch is to visit a cell. A cell to be visited once that its launch
// did not reach is due in the next ones.
func (r *run) due(i int) bool {
	p, turn := &r.cells[i], r.launch/r.sets
	return r.lacks(i) && r.Cells[i].Set == r.launch%r.sets && (p.part < 0 || p.part <= turn && !p.reached)
}

// lacks reports whether a cell is still to be visited: in a resumed session until it has the samples that
// it needs, in others as long as there is time.
func (r *run) lacks(i int) bool {
	p := &r.cells[i]
	return p.lacking && !(r.resumed && r.sampled(r.states, p.at) >= r.need(r.Cells[i]))
}

// wait waits until the next launch is to begin.
func (r *run) wait(ctx context.Context) error {
	if r.Over < r.Time || r.launch == 0 || r.launches == 0 {
		return ctx.Err()
	}
	begin := r.began.Add(time.Duration(float64(r.Over) * float64(r.launch) / float64(r.launches)))
	select {
	case <-time.After(time.Until(begin)):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// slice is the time of the current launch.
func (r *run) slice() time.Duration {
	launches := cmp.Or(r.launches, r.sets*max(r.least(), r.spared()))
	if r.Over > r.Time {
		return r.Time / time.Duration(launches)
	}
	return (r.Time - time.Since(r.began)) / time.Duration(max(1, launches-r.launch))
}

// If there is no time for all cells, fewer cells with narrow intervals are better than more with wide
// ones. The interval of 12 launches leaves out two values on either side, and is half as wide as that of
// 7. But a launch must last longer than its initialisation of memory, a second at worst.
const (
	narrowLaunches = 12
	longEnough     = 2 * time.Second
)

// spared is the number of launches by which an experiment that may leave cells out divides its time.
func (r *run) spared() int {
	if !r.narrows() {
		return 0
	}
	return min(int(r.Time/longEnough), narrowLaunches)
}

// goesOn reports whether there is a launch beyond the planned ones: while time is left and a cell lacks
// launches in a state, or, in a resumed session, any samples that it needs. The number of samples
// decides, never their values.
func (r *run) goesOn() bool {
	if r.Launches > 0 || r.Over > r.Time || time.Since(r.began)+r.last > r.Time {
		return false
	}
	for i, p := range r.cells {
		if r.resumed && r.lacks(i) {
			return true
		}
		if p.at < 0 || r.Cells[i].Once {
			continue
		}
		c := &r.File.Cells[p.at]
		if len(r.states.States(r.states.Workers(c))) > 1 && r.states.Launches(c, r.Session) < LeastLaunches {
			return true
		}
	}
	return false
}

// A place is a visit with its sort keys.
type place struct {
	Visit
	missed, have, tier  int
	turn, within, worth float64
}

// order is the visits of a launch. Cells that the first launch reached come before others, so that a
// short time gives intervals to some cells instead of a sample to all; then tier by tier, at random. In a
// resumed session, except in the first tier, cells with samples of the fewest launches come first. Cells
// of a group follow each other, because initialising their memory takes longer than a visit.
func (r *run) order() []Visit {
	var places []place
	turns := make(map[string]float64)
	for i, c := range r.Cells {
		if !r.due(i) {
			continue
		}
		p := place{Visit: r.visitOf(i), tier: c.Tier, turn: r.rand.Float64(), within: r.rand.Float64()}
		if r.launch >= r.sets && !r.cells[i].visited && !c.Once {
			p.missed = 1
		}
		if r.resumed && c.Tier > 0 && (r.launch < r.sets || p.missed > 0) {
			p.have = r.sampled(r.states, r.cells[i].at)
		}
		if p.worth = r.worthOf(i); r.launch < r.sets {
			p.turn = p.worth
		}
		if c.Group != "" {
			group := fmt.Sprint(c.Tier, p.missed, p.have, c.Survey, c.Group)
			if turn, known := turns[group]; known {
				p.turn = turn
			}
			turns[group] = p.turn
		}
		places = append(places, p)
	}
	if len(places) == 0 {
		return nil
	}
	places = r.narrow(places)
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(a.missed-b.missed, a.have-b.have, a.tier-b.tier, cmp.Compare(a.turn, b.turn), cmp.Compare(a.within, b.within))
	})
	return r.withProbes(lists.Map(places, func(p place) Visit { return p.Visit }))
}

func (r *run) visitOf(i int) Visit {
	c := &r.Cells[i]
	v := Visit{Survey: c.Survey, Key: c.Key, Hint: cmp.Or(r.cells[i].hint, r.like[c.Like]), cell: i}
	r.watched(&v)
	return v
}

// watched adds the samples in each state to a visit whose workers have several.
func (r *run) watched(v *Visit) {
	p := &r.cells[v.cell]
	number := p.watch[r.firstCPU(len(r.File.Launches)/r.sets)]
	if number == 0 || len(r.File.Watches[number-1].States) < 2 {
		return
	}
	states := r.File.Watches[number-1].States
	v.Watch, v.Have, v.Hints = int(number), make([]int, len(states)), make([]float64, len(states))
	for _, s := range r.File.Cells[p.at].Samples {
		if state := r.File.Watches[number-1].Of(s); s.Watch == number && state >= 0 {
			v.Have[state]++
			v.Hints[state] = s.NS
		}
	}
}

// withProbes adds visits of the probes at the beginning, the middle and the end.
func (r *run) withProbes(visits []Visit) []Visit {
	probes := lists.Map(r.Probes, r.visitOf)
	for i := range probes {
		probes[i].Probe = true
	}
	half := len(visits) / 2
	return slices.Concat(probes, visits[:half], probes, visits[half:], probes)
}
