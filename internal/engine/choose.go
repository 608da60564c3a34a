package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/params"
)

// A chooser says what a launch visits next. Workers take turns as the order has them; whose turn it
// is visits, if these workers have several states, what lacks most in the present one. When all
// visits were made, workers with several states go on in turn until the order's least time is over.
type chooser struct {
	order   received
	done    []done
	seen    map[string]seen // by CPUs, when workers with several states were looked at
	look    func(ctx context.Context, cpus []int) (ns, computed float64, known bool)
	time    func() time.Duration // since the launch began
	watches map[string]*params.Watch
	cpus    []string          // by visit, "" where workers have one state
	of      map[string]*turns // by CPUs, "" for all workers that have one state
	all     turns
}

// turns are visits of the same workers, and how often any of them was made.
type turns struct {
	visits []int // in order
	made   int
	head   int // all before it were made
}

// done is what a launch has done for a visit.
type done struct {
	visited bool
	in      map[int]int // how often in which state
	missed  int         // how often it ended in another state than it was chosen for
}

// seen is the state of workers at a moment.
type seen struct {
	state int
	at    time.Duration
}

const (
	// fresh is how long a look is good for: states last 0.1 s on average.
	fresh = 20 * time.Millisecond
	// mostTries is how often a visit is made at once in a launch if it ends in another state.
	mostTries = 3
)

func newChooser(o received, look func(context.Context, []int) (ns, computed float64, known bool), since func() time.Duration) *chooser {
	c := &chooser{order: o, done: make([]done, len(o.Visits)), seen: make(map[string]seen), look: look, time: since,
		watches: make(map[string]*params.Watch), cpus: make([]string, len(o.Visits)), of: make(map[string]*turns)}
	for i, v := range o.Visits {
		if v.Watch >= 1 && v.Watch <= len(o.Watches) && !v.Probe {
			w := &o.Watches[v.Watch-1]
			c.cpus[i] = fmt.Sprint(w.CPUs)
			c.watches[c.cpus[i]] = w
		}
		c.all.visits = append(c.all.visits, i)
		t := c.of[c.cpus[i]]
		if t == nil {
			t = &turns{}
			c.of[c.cpus[i]] = t
		}
		t.visits = append(t.visits, i)
	}
	return c
}

// next is the index of the next visit, and the hint for it; false: the launch is over.
func (c *chooser) next(ctx context.Context) (at int, hint float64, ok bool) {
	over := c.time() >= c.order.Least
	type turn struct {
		cpus      string
		round, at int
	}
	var all []turn
	for cpus, t := range c.of {
		if first := c.first(t); first >= 0 && (cpus == "" || over) {
			all = append(all, turn{cpus, 0, first})
		} else if n := len(t.visits); cpus != "" && !over && n > 0 {
			all = append(all, turn{cpus, t.made / n, t.visits[t.made%n]})
		}
	}
	slices.SortFunc(all, func(a, b turn) int { return cmp.Or(a.round-b.round, a.at-b.at) })
	for _, t := range all {
		if at := c.choose(ctx, t.cpus, over); at >= 0 {
			v, hint := &c.order.Visits[at], 0.
			if s, watched := c.seen[t.cpus]; watched {
				hint = v.Hints[s.state]
			}
			return at, cmp.Or(hint, v.Hint), true
		}
	}
	return 0, 0, false
}

// choose is the visit of workers that lacks most, −1 if none: the first that was not made where they
// have one state, or it is not known.
func (c *chooser) choose(ctx context.Context, cpus string, over bool) int {
	t := c.of[cpus]
	first := c.first(t)
	if cpus == "" {
		return first
	}
	state := c.state(ctx, cpus)
	if state < 0 { // the visit will tell
		delete(c.seen, cpus)
		return first
	}
	best := -1
	for _, i := range t.visits {
		if !(over && c.done[i].visited) && (best < 0 || c.rank(i, state) < c.rank(best, state)) {
			best = i
		}
	}
	return best
}

// rank is how little a visit lacks in a state: samples of this launch count more than others.
func (c *chooser) rank(i, state int) int {
	const launch = 1 << 20
	n := launch*c.done[i].in[state] + c.order.Visits[i].Have[state]
	if c.done[i].missed >= mostTries { // it takes longer than states last
		n += launch * (1 + c.done[i].missed)
	}
	return n
}

// state is the workers' present state, −1 if unknown.
func (c *chooser) state(ctx context.Context, cpus string) int {
	if s, known := c.seen[cpus]; known && c.time()-s.at < fresh {
		return s.state
	}
	ns, computed, known := c.look(ctx, c.watches[cpus].CPUs)
	if !known {
		return -1
	}
	state := c.watches[cpus].At(ns, computed)
	c.seen[cpus] = seen{state, c.time()}
	return state
}

// took notes what was found.
func (c *chooser) took(i int, r Reading) {
	d := &c.done[i]
	d.visited = true
	cpus := fmt.Sprint(params.Cycle(r.CPUs))
	w := c.watches[cpus]
	if w == nil || r.After == 0 {
		if of := c.of[c.cpus[i]]; c.cpus[i] != "" { // of other workers than told: once is enough
			of.visits = slices.DeleteFunc(of.visits, func(at int) bool { return at == i })
			of.head, c.cpus[i] = 0, ""
		}
		return
	}
	c.of[c.cpus[i]].made++
	if d.in == nil {
		d.in = make(map[int]int)
	}
	was, told := c.seen[cpus]
	at := w.Of(r.Sample)
	if at != params.Moved {
		d.in[at]++
	}
	if at == params.Moved || told && at != was.state {
		d.missed++
	}
	c.seen[cpus] = seen{w.At(float64(r.After), float64(r.Computed)), c.time()}
}

// first is the first of some visits that was not made, −1 if all were.
func (c *chooser) first(t *turns) int {
	for ; t.head < len(t.visits); t.head++ {
		if i := t.visits[t.head]; !c.done[i].visited {
			return i
		}
	}
	return -1
}
