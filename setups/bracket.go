package setups

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/calls"
	"github.com/taulop/taulop/shm"
)

// A look measures an empty exchange, in ns: a flag between two workers, a round of flags among more,
// an instruction of one worker. It is the median of several blocks of rounds, because an interruption
// hits one of them. It takes 5 µs where a flag takes 60 ns, 12 µs with the sums of two workers, beside
// batches of 500 µs.
const (
	blocksOfLook  = 5
	roundsOfBlock = 8
	roundsToMeet  = 2                      // untimed rounds before: workers arrive at different times
	passesOfBlock = 8                      // of a single worker's code
	sumsOfLook    = 500                    // of each of two workers: 1.2 µs
	stepsOfChain  = 2000                   // 0.6 µs
	longLook      = 100 * time.Microsecond // ends a look: other processes have the CPUs
	looksBetween  = 6                      // approximate number in a sample of a collective, whose runs are short
)

// A bracket is the looks around and between the batches of a sample.
type bracket struct {
	ring     *shm.Ring
	alone    *calls.Probe // of one worker
	every    int          // groups of rounds from look to look
	looks    []float64    // ns
	computed [2]float64   // of each of two workers, the most clock cycles of sums in a look
}

// look takes a look. It returns false if a worker was told to stop meanwhile.
func (c *clock) look(w *worker) bool {
	if len(c.workers) == 1 {
		c.lookAlone()
		return true
	}
	if c.ring == nil {
		return true
	}
	pass := func(rounds int) bool {
		ok := c.ring.Pass(w.id, w.passed, uint64(rounds), w.wait)
		w.passed += uint64(rounds)
		return ok
	}
	if !pass(roundsToMeet) {
		return false
	}
	var took [blocksOfLook]float64
	n, began := 0, time.Since(c.epoch)
	for i := range uint64(blocksOfLook) {
		more, ok := i == 0 || time.Since(c.epoch)-began < longLook, true
		if said := w.looks*blocksOfLook + i + 1; w.id == 0 {
			c.ring.Lead(said, more)
		} else {
			more, ok = c.ring.Follow(said, w.wait)
		}
		if !ok {
			return false
		}
		if !more {
			break
		}
		if !pass(1) { // followers arrive later
			return false
		}
		begin := time.Since(c.epoch)
		if !pass(roundsOfBlock) {
			return false
		}
		took[i] = float64(time.Since(c.epoch) - begin)
		n++
	}
	flag := median(took[:n]) / float64(c.ring.FlagsOf(roundsOfBlock))
	if w.looks++; w.id == 0 {
		c.sees(flag)
	}
	return n < blocksOfLook || len(c.workers) != 2 || c.compute(w)
}

// compute measures the same sums on each of two workers while the other waits. A core that another
// thread of the host shares gets flags as fast, but work that occupies the core's units, as copies do,
// takes longer. The unit is a step of a chain of dependent sums, a clock cycle, which another thread
// does not lengthen. The faster of two tries counts, because an interruption hits one of them.
func (c *clock) compute(w *worker) bool {
	wait := w.wait.BesideSibling() // the other worker may be on the same core
	for turn := range c.workers {
		if turn == w.id {
			took := [2]time.Duration{time.Hour, time.Hour}
			for range 2 {
				began := time.Since(c.epoch)
				sums(sumsOfLook)
				between := time.Since(c.epoch)
				chain(stepsOfChain, 1, 3)
				took[0] = min(took[0], between-began)
				took[1] = min(took[1], time.Since(c.epoch)-between)
			}
			if took[1] > 0 {
				c.computed[turn] = max(c.computed[turn], float64(took[0])*stepsOfChain/(float64(took[1])*sumsOfLook))
			}
		}
		if !c.ring.Pass(w.id, w.passed, 1, wait) {
			return false
		}
		w.passed++
	}
	return true
}

// sums keeps all integer units of a core busy with eight independent chains. Each of n rounds is 32
// sums: 8 clock cycles of a core that computes four at once.
//
//go:noinline
func sums(n int) int {
	a, b, c, d, e, f, g, h := 1, 2, 3, 4, 5, 6, 7, 8
	for range n {
		a, b, c, d, e, f, g, h = a+3, b^5, c+7, d^9, e+11, f^13, g+17, h^19
		a, b, c, d, e, f, g, h = a^1, b+1, c^2, d+2, e^3, f+3, g^4, h+4
		a, b, c, d, e, f, g, h = a+5, b^3, c+9, d^7, e+13, f^11, g+19, h^17
		a, b, c, d, e, f, g, h = a^4, b+3, c^3, d+1, e^2, f+4, g^1, h+2
	}
	return a + b + c + d + e + f + g + h
}

// chain is n sums, each of which depends on the one before, in rounds of sixteen.
//
//go:noinline
func chain(n, a, b int) int {
	for range n / 16 {
		a = ((((a + b) ^ n) + b) ^ n) + b
		a = ((((a ^ n) + b) ^ n) + b) ^ n
		a = ((((a + b) ^ n) + b) ^ n) + b
		a ^= n
	}
	return a
}

func (c *clock) lookAlone() {
	if c.alone == nil {
		return
	}
	c.alone.Pass(passesOfBlock)
	var took [blocksOfLook]float64
	for i := range took {
		took[i] = c.alone.Pass(passesOfBlock)
	}
	c.sees(median(took[:]))
}

// sees notes a look's result; 0 is none.
func (c *clock) sees(ns float64) {
	if ns > 0 {
		c.looks = append(c.looks, ns)
	}
}

// bracketed takes a look before every c.every-th group of rounds, and one after the last.
func (c *clock) bracketed(w *worker, group int, last bool) bool {
	if begins := group%c.every == 0; begins == last { // no look is due
		return true
	}
	return c.look(w)
}

// bracketOf returns the look just before a run's first batch and the look just after its last. A look
// between batches replaces the latter if it differs more from the former. 0: no look was taken.
func (c *clock) bracketOf() (before, after float32) {
	if len(c.looks) == 0 {
		return 0, 0
	}
	first, last := c.looks[0], c.looks[len(c.looks)-1]
	distance := func(v float64) float64 { return math.Abs(math.Log(v / first)) }
	for _, v := range c.looks {
		if distance(v) > math.Log(fit.LeastApart) && distance(v) > distance(last) {
			last = v
		}
	}
	return float32(first), float32(last)
}

// A glance is a task that takes one look.
type glance struct{ measurement }

func (g *glance) measure(w *worker) error {
	if !g.look(w) {
		return gaveUp{"its neighbour's flag"}
	}
	return nil
}

func (*glance) verify(*worker) error { return nil }

// Look measures an empty exchange of the team's first workers, in ns, and the sums of two of them, in
// clock cycles; 0: unknown.
func (t *Team) Look(ctx context.Context, tau int) (ns, computed float64, err error) {
	if t.simulation != nil {
		ns, computed = t.simulation.look(t.placement.Workers[:tau])
		return ns, computed, nil
	}
	run := &glance{}
	defer run.unmap()
	if err := run.enlist(t, tau, 1, 1); err != nil {
		return 0, 0, err
	}
	if err := t.run(ctx, run); err != nil {
		return 0, 0, err
	}
	before, _ := run.bracketOf()
	return float64(before), slices.Max(run.computed[:]), nil
}
