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

// A look is what an empty exchange takes, in ns: a flag between two workers, a round of flags among
// more, an instruction of one worker. It is several blocks of rounds, of which the median counts: one
// interruption is in one of them. It takes 5 µs where a flag takes 60 ns, with the sums of two workers
// 12 µs, beside batches of 500 µs.
const (
	blocksOfLook  = 5
	roundsOfBlock = 8
	roundsToMeet  = 2                      // before, not timed: workers do not come at once
	passesOfBlock = 8                      // of one worker's code without partners
	sumsOfLook    = 500                    // of each of two workers: 1.2 µs
	stepsOfChain  = 2000                   // 0.6 µs
	longLook      = 100 * time.Microsecond // ends it: other processes have the CPUs
	looksBetween  = 6                      // of a collective, whose runs are short; approximate
)

// A bracket holds what looks need and what they found.
type bracket struct {
	ring     *shm.Ring
	alone    *calls.Probe // of one worker
	every    int          // groups of rounds from look to look
	looks    []float64    // ns
	computed [2]float64   // clock cycles, the longest that sums took each of two workers in the looks
}

// look has the workers look where they are. False: one was told to stop meanwhile.
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
		if !pass(1) { // followers come later
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

// compute finds out what the same sums take each of two workers while the other waits: a flag comes as
// fast to a core that another thread of the host uses as well, but whatever keeps the core's units busy,
// as copies do, takes longer. The unit is a step of a chain of sums, a clock cycle, which another thread
// does not lengthen. Of two tries the faster counts, for an interruption is in one of them.
func (c *clock) compute(w *worker) bool {
	wait := w.wait.BesideSibling() // the other may be on the same core
	for who := range c.workers {
		if who == w.id {
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
				c.computed[who] = max(c.computed[who], float64(took[0])*stepsOfChain/(float64(took[1])*sumsOfLook))
			}
		}
		if !c.ring.Pass(w.id, w.passed, 1, wait) {
			return false
		}
		w.passed++
	}
	return true
}

// sums keeps all units of a core busy that compute with whole numbers: none of eight waits for another.
// Each of n is 32 sums: 8 clock cycles of a core that computes four at once.
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

// chain is n sums of which each waits for the one before it, sixteen at a time.
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

// sees notes a look; one of 0 is none.
func (c *clock) sees(ns float64) {
	if ns > 0 {
		c.looks = append(c.looks, ns)
	}
}

// bracketed is a look where a group of rounds begins if it is its turn, or the last one.
func (c *clock) bracketed(w *worker, group int, last bool) bool {
	if !last && group%c.every != 0 || last && group%c.every == 0 {
		return true
	}
	return c.look(w)
}

// bracketOf is the look just before a run's first batch, and the one just after its last; one between
// batches replaces that where it is farther from before. 0: no look was taken.
func (c *clock) bracketOf() (before, after float32) {
	if len(c.looks) == 0 {
		return 0, 0
	}
	first, last := c.looks[0], c.looks[len(c.looks)-1]
	far := func(v float64) float64 { return math.Abs(math.Log(v / first)) }
	for _, v := range c.looks {
		if far(v) > math.Log(fit.LeastApart) && far(v) > far(last) {
			last = v
		}
	}
	return float32(first), float32(last)
}

// A glance is nothing but a look, by the first workers of a team.
type glance struct{ measurement }

func (g *glance) measure(w *worker) error {
	if !g.look(w) {
		return gaveUp{"its neighbour's flag"}
	}
	return nil
}

func (*glance) verify(*worker) error { return nil }

// Look measures an empty exchange of the team's first workers now, and what sums take two of them, in
// ns; 0: unknown.
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
