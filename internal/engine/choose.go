package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/params"
)

// A chooser chooses a launch's next visit. Workers take turns in the order's sequence. Workers with
// several states visit the cell that most lacks samples in the present state. After all visits, they
// continue in turn until the order's least time is over.
type chooser struct {
	order   Order
	done    []done
	seen    map[string]seen // by CPUs: the last known state of workers with several
	look    func(ctx context.Context, cpus []int) (ns, computed float64)
	time    func() time.Duration // since the launch began
	watches map[string]*params.Watch
	cpus    []string          // by visit; "": its workers have one state
	turns   map[string]*turns // by CPUs; "": of all workers with one state
	all     turns
}

// turns are the visits of the same workers.
type turns struct {
	visits []int // in order
	made   int   // number of samples taken
	head   int   // visits before it were made
}

// done counts a launch's samples of a visit.
type done struct {
	visited bool
	in      map[int]int // by state
	missed  int         // that ended in another state than they were chosen for
}

// seen is the state of workers at a moment.
type seen struct {
	state int
	at    time.Duration
}

const (
	// fresh is the validity of a look: states last 0.1 s on average.
	fresh = 20 * time.Millisecond
	// mostTries is the number of misses after which a visit no longer comes first.
	mostTries = 3
)

func newChooser(o Order, look func(context.Context, []int) (ns, computed float64), since func() time.Duration) *chooser {
	c := &chooser{order: o, done: make([]done, len(o.Visits)), seen: make(map[string]seen), look: look, time: since,
		watches: make(map[string]*params.Watch), cpus: make([]string, len(o.Visits)), turns: make(map[string]*turns)}
	for i, v := range o.Visits {
		if v.Watch >= 1 && v.Watch <= len(o.Watches) && !v.Probe {
			w := &o.Watches[v.Watch-1]
			c.cpus[i] = fmt.Sprint(w.CPUs)
			c.watches[c.cpus[i]] = w
		}
		c.all.visits = append(c.all.visits, i)
		t := c.turns[c.cpus[i]]
		if t == nil {
			t = &turns{}
			c.turns[c.cpus[i]] = t
		}
		t.visits = append(t.visits, i)
	}
	return c
}

// next is the index of the next visit, and its hint; false: the launch is over.
func (c *chooser) next(ctx context.Context) (visit int, hint float64, ok bool) {
	over := c.time() >= c.order.Least
	type turn struct {
		cpus         string
		round, visit int
	}
	var all []turn
	for cpus, t := range c.turns {
		if first := c.first(t); first >= 0 && (cpus == "" || over) {
			all = append(all, turn{cpus, 0, first})
		} else if n := len(t.visits); cpus != "" && !over && n > 0 {
			all = append(all, turn{cpus, t.made / n, t.visits[t.made%n]})
		}
	}
	slices.SortFunc(all, func(a, b turn) int { return cmp.Or(a.round-b.round, a.visit-b.visit) })
	for _, t := range all {
		if i := c.choose(ctx, t.cpus, over); i >= 0 {
			v, hint := &c.order.Visits[i], 0.
			if s, watched := c.seen[t.cpus]; watched {
				hint = v.Hints[s.state]
			}
			return i, cmp.Or(hint, v.Hint), true
		}
	}
	return 0, 0, false
}

// choose is the visit of these workers that most lacks samples in their present state, −1 if none. If
// they have one state, or their state is unknown, it is the first that was not made.
func (c *chooser) choose(ctx context.Context, cpus string, over bool) int {
	t := c.turns[cpus]
	first := c.first(t)
	if cpus == "" {
		return first
	}
	state := c.state(ctx, cpus)
	if state < 0 { // the visit will show it
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

// rank is the lower the more a visit lacks samples in a state. Samples of this launch count more than
// launches before.
func (c *chooser) rank(i, state int) int {
	const launch = 1 << 20
	n := launch*c.done[i].in[state] + c.order.Visits[i].Have[state]
	if c.done[i].missed >= mostTries { // the visit takes longer than states last
		n += launch * (1 + c.done[i].missed)
	}
	return n
}

// state is the workers' present state, −1 if unknown.
func (c *chooser) state(ctx context.Context, cpus string) int {
	if s, known := c.seen[cpus]; known && c.time()-s.at < fresh {
		return s.state
	}
	ns, computed := c.look(ctx, c.watches[cpus].CPUs)
	if ns == 0 {
		return -1
	}
	state := c.watches[cpus].At(ns, computed)
	c.seen[cpus] = seen{state, c.time()}
	return state
}

// took records the reading of a visit.
func (c *chooser) took(i int, r Reading) {
	d := &c.done[i]
	d.visited = true
	cpus := fmt.Sprint(params.Cycle(r.CPUs))
	w := c.watches[cpus]
	if w == nil || r.After == 0 {
		if t := c.turns[c.cpus[i]]; c.cpus[i] != "" { // of other workers than the order says: once is enough
			t.visits = slices.DeleteFunc(t.visits, func(visit int) bool { return visit == i })
			t.head, c.cpus[i] = 0, ""
		}
		return
	}
	c.turns[c.cpus[i]].made++
	if d.in == nil {
		d.in = make(map[int]int)
	}
	expected, known := c.seen[cpus]
	state := w.Of(r.Sample)
	if state != params.Moved {
		d.in[state]++
	}
	if state == params.Moved || known && state != expected.state {
		d.missed++
	}
	c.seen[cpus] = seen{w.At(float64(r.After), float64(r.Computed)), c.time()}
}

// first is the first visit that was not made, −1 if all were.
func (c *chooser) first(t *turns) int {
	for ; t.head < len(t.visits); t.head++ {
		if i := t.visits[t.head]; !c.done[i].visited {
			return i
		}
	}
	return -1
}
