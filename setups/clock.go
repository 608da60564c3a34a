package setups

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/shm"
)

// A clock has workers begin each batch together, and notes when that was; the
// workers note when each of them began and finished. Batch 0 warms up.
type clock struct {
	workers []*worker
	barrier *shm.Barrier
	epoch   time.Time
	started []time.Duration // batches since the epoch: the moment told to all workers
	// notice is from the barrier's release to that moment. A barrier alone lets the
	// one who opens it go first, and a short batch is over before the others know.
	// If it is 0 the moment is the release.
	notice time.Duration
	moment atomic.Int64
	load   *load // what others inject; nil: nothing
}

// start waits until all workers are ready for batch b and its moment has come.
func (c *clock) start(w *worker, b int) error {
	var at time.Duration
	w.met++
	if w.id > 0 {
		if !c.barrier.Meet(w.id, w.met, w.wait) {
			return c.missing(w)
		}
		if c.notice > 0 {
			at = time.Duration(c.moment.Load())
		}
	} else {
		if !c.barrier.Gather(w.met, w.wait) {
			return c.missing(w)
		}
		c.load.mark(2 * b)
		at = time.Since(c.epoch) + c.notice
		c.started[b] = at
		if c.notice > 0 {
			c.moment.Store(int64(at))
		}
		c.barrier.Release(w.met)
	}
	now := time.Since(c.epoch)
	for now < at {
		now = time.Since(c.epoch)
	}
	w.start[b] = now
	return nil
}

// startAlone begins batch b when one worker does, which the others wait for.
func (c *clock) startAlone(w *worker, b int) {
	c.load.mark(2 * b)
	now := time.Since(c.epoch)
	c.started[b], w.start[b] = now, now
}

// finish notes that a worker is done with batch b.
func (c *clock) finish(w *worker, b int) {
	w.finish[b] = time.Since(c.epoch)
	if w.id == 0 {
		c.load.mark(2*b + 1)
	}
}

// meet waits for all workers.
func (c *clock) meet(w *worker) error {
	w.met++
	if w.id > 0 {
		if !c.barrier.Meet(w.id, w.met, w.wait) {
			return c.missing(w)
		}
		return nil
	}
	if !c.barrier.Gather(w.met, w.wait) {
		return c.missing(w)
	}
	c.barrier.Release(w.met)
	return nil
}

// missing says for whom a worker that gave up at the barrier had waited.
func (c *clock) missing(w *worker) error {
	for _, other := range c.workers {
		if c.barrier.Arrived(other.id) < w.met {
			return gaveUp{fmt.Sprintf("worker %d to come to the barrier", other.id)}
		}
	}
	return gaveUp{"the barrier to open"}
}

// took is the time of a batch in ns, from its moment to the last finish.
func (c *clock) took(b int) float64 {
	var last time.Duration
	for _, w := range c.workers {
		last = max(last, w.finish[b])
	}
	return float64(last - c.started[b])
}

// times are those of the batches but the first, over what there was in each.
func (c *clock) times(each int) (ns []float64) {
	for b := 1; b < len(c.started); b++ {
		ns = append(ns, c.took(b)/float64(each))
	}
	return ns
}
