package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/taulop/taulop/params"
)

// A chooser says what a launch visits next. Visits follow the order, except where workers have
// several states: then what lacks most in the present state comes first. Each visit is made
// once in each state, and then again, until the order's least time is over and every visit was
// made.
type chooser struct {
	order   received
	done    []done
	seen    map[string]seen // by CPUs, when workers with several states were looked at
	look    func(ctx context.Context, cpus []int) (ns float64, known bool)
	time    func() time.Duration // since the launch began
	watches map[string]*params.Watch
	cpus    []string // by visit, "" where workers have one state
	head    int      // all visits before it were made
}

// done is what a launch has done for a visit.
type done struct {
	visited bool
	in      map[int]int // how often in which state
	moved   int         // how often the state changed meanwhile
}

// seen is the state of workers at a moment.
type seen struct {
	state int
	at    time.Duration
}

const (
	// fresh is how long a look is good for: states last 0.1 s on average.
	fresh = 20 * time.Millisecond
	// mostTries is how often a visit is made at once in a launch if the machine changes its
	// state meanwhile.
	mostTries = 3
)

func newChooser(o received, look func(context.Context, []int) (float64, bool), since func() time.Duration) *chooser {
	c := &chooser{order: o, done: make([]done, len(o.Visits)), seen: make(map[string]seen), look: look, time: since,
		watches: make(map[string]*params.Watch), cpus: make([]string, len(o.Visits))}
	for i, v := range o.Visits {
		if v.Watch < 1 || v.Watch > len(o.Watches) || v.Probe {
			continue
		}
		w := &o.Watches[v.Watch-1]
		c.cpus[i] = fmt.Sprint(w.CPUs)
		c.watches[c.cpus[i]] = w
	}
	return c
}

// next is the index of the next visit, and the hint for it; false: the launch is over.
func (c *chooser) next(ctx context.Context) (at int, hint float64, ok bool) {
	over, begin := c.time() >= c.order.Least, 0
	if over || len(c.watches) == 0 {
		begin = c.first()
	}
	now := make(map[string]int) // states
	for i := begin; i < len(c.done); i++ {
		v, cpus := &c.order.Visits[i], c.cpus[i]
		if c.done[i].visited && (cpus == "" || over) {
			continue
		}
		if cpus == "" {
			return i, v.Hint, true
		}
		state, known := now[cpus]
		if !known {
			state = c.state(ctx, cpus)
			now[cpus] = state
		}
		if state < 0 { // unknown; the visit will tell
			if c.done[i].visited {
				continue
			}
			return i, v.Hint, true
		}
		best := i
		for j := i + 1; j < len(c.done); j++ {
			if c.cpus[j] == cpus && c.rank(j, state) < c.rank(best, state) && !(over && c.done[j].visited) {
				best = j
			}
		}
		if hint = c.order.Visits[best].Hints[state]; hint == 0 {
			hint = c.order.Visits[best].Hint
		}
		return best, hint, true
	}
	return 0, 0, false
}

// rank is how little a visit lacks in a state: samples of this launch count more than others.
func (c *chooser) rank(i, state int) int {
	const launch = 1 << 20
	n := launch*c.done[i].in[state] + c.order.Visits[i].Have[state]
	if c.done[i].moved >= mostTries { // it takes longer than states last
		n += launch * (1 + c.done[i].moved)
	}
	return n
}

// state is the workers' present state, −1 if unknown.
func (c *chooser) state(ctx context.Context, cpus string) int {
	if s, known := c.seen[cpus]; known && c.time()-s.at < fresh {
		return s.state
	}
	ns, known := c.look(ctx, c.watches[cpus].CPUs)
	if !known {
		return -1
	}
	return c.see(cpus, ns)
}

func (c *chooser) see(cpus string, ns float64) int {
	state := c.watches[cpus].At(ns)
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
		if c.cpus[i] != "" { // of other workers than told: once is enough
			c.cpus[i] = ""
		}
		return
	}
	c.see(cpus, float64(r.After))
	if d.in == nil {
		d.in = make(map[int]int)
	}
	if before := w.At(float64(r.Before)); before == w.At(float64(r.After)) {
		d.in[before]++
	} else {
		d.moved++
	}
}

// first is the first visit that was not made.
func (c *chooser) first() int {
	for c.head < len(c.done) && c.done[c.head].visited {
		c.head++
	}
	return c.head
}
