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
	look    func(ctx context.Context, cpus []int) (ns, computed float64)
	time    func() time.Duration // since the launch began
	workers map[string]*workers  // by CPUs; "": all with one state
	of      []*workers           // by visit
	all     turns
}

// workers are workers with several states and their visits, or all workers with one state.
type workers struct {
	turns
	watch *params.Watch // nil: one state
	made  int           // number of samples taken
	state int           // the last known one; −1: unknown
	at    time.Duration // of that
}

// turns are visits in order.
type turns struct {
	visits []int
	head   int // visits before it were made
}

// done counts a launch's samples of a visit.
type done struct {
	visited bool
	in      map[int]int // by state
	missed  int         // that ended in another state than they were chosen for
}

const (
	// fresh is the validity of a look: states last 0.1 s on average.
	fresh = 20 * time.Millisecond
	// mostTries is the number of misses after which a visit no longer comes first.
	mostTries = 3
)

func newChooser(o Order, look func(context.Context, []int) (ns, computed float64), since func() time.Duration) *chooser {
	c := &chooser{order: o, done: make([]done, len(o.Visits)), look: look, time: since, workers: make(map[string]*workers)}
	for i, v := range o.Visits {
		cpus, own := "", &workers{state: -1}
		if v.Watch >= 1 && v.Watch <= len(o.Watches) && !v.Probe {
			own.watch = &o.Watches[v.Watch-1]
			cpus = fmt.Sprint(own.watch.CPUs)
		}
		if known := c.workers[cpus]; known != nil {
			own = known
		}
		c.workers[cpus] = own
		own.visits, c.all.visits, c.of = append(own.visits, i), append(c.all.visits, i), append(c.of, own)
	}
	return c
}

// next is the index of the next visit, and its hint; false: the launch is over.
func (c *chooser) next(ctx context.Context) (visit int, hint float64, ok bool) {
	over := c.time() >= c.order.Least
	type turn struct {
		*workers
		round, visit int
	}
	var all []turn
	for _, w := range c.workers {
		if first := c.first(&w.turns); first >= 0 && (w.watch == nil || over) {
			all = append(all, turn{w, 0, first})
		} else if n := len(w.visits); w.watch != nil && !over && n > 0 {
			all = append(all, turn{w, w.made / n, w.visits[w.made%n]})
		}
	}
	slices.SortFunc(all, func(a, b turn) int { return cmp.Or(a.round-b.round, a.visit-b.visit) })
	for _, t := range all {
		if i := c.choose(ctx, t.workers, over); i >= 0 {
			v, hint := &c.order.Visits[i], 0.
			if t.state >= 0 {
				hint = v.Hints[t.state]
			}
			return i, cmp.Or(hint, v.Hint), true
		}
	}
	return 0, 0, false
}

// choose is the visit of these workers that most lacks samples in their present state, −1 if none. If
// they have one state, or their state is unknown, it is the first that was not made.
func (c *chooser) choose(ctx context.Context, w *workers, over bool) int {
	if w.watch != nil {
		c.see(ctx, w)
	}
	if w.state < 0 { // the visit will show it
		return c.first(&w.turns)
	}
	best := -1
	for _, i := range w.visits {
		if !(over && c.done[i].visited) && (best < 0 || c.rank(i, w.state) < c.rank(best, w.state)) {
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

// see finds the workers' present state, unless it was known a moment ago.
func (c *chooser) see(ctx context.Context, w *workers) {
	if w.state >= 0 && c.time()-w.at < fresh {
		return
	}
	ns, computed := c.look(ctx, w.watch.CPUs)
	if w.state = -1; ns > 0 {
		w.state, w.at = w.watch.At(ns, computed), c.time()
	}
}

// took records the reading of a visit.
func (c *chooser) took(i int, r Reading) {
	d, own, w := &c.done[i], c.of[i], c.workers[fmt.Sprint(params.Cycle(r.CPUs))]
	d.visited = true
	if w == nil || r.After == 0 {
		if own.watch != nil { // of other workers than the order says: once is enough
			own.visits = slices.DeleteFunc(own.visits, func(visit int) bool { return visit == i })
			own.head = 0
		}
		return
	}
	own.made++
	if d.in == nil {
		d.in = make(map[int]int)
	}
	state := w.watch.Of(r.Sample)
	if state != params.Moved {
		d.in[state]++
	}
	if state == params.Moved || w.state >= 0 && state != w.state {
		d.missed++
	}
	w.state, w.at = w.watch.At(float64(r.After), float64(r.Computed)), c.time()
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
