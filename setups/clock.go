package setups

import (
	"time"

	"github.com/taulop/taulop/shm"
)

// A clock has workers begin each batch together, and notes when that was.
type clock struct {
	barrier *shm.Barrier
	epoch   time.Time
	start   []time.Duration // of each batch since the epoch, batch 0 being the warm-up
}

// meet waits for all workers to be ready for batch b. It is false if the run ends
// instead.
func (c *clock) meet(w *worker, b int) bool {
	round := uint64(b + 1)
	if w.id > 0 {
		return c.barrier.Meet(w.id, round, w.wait)
	}
	if !c.barrier.Gather(round, w.wait) {
		return false
	}
	c.start[b] = time.Since(c.epoch)
	c.barrier.Release(round)
	return true
}
