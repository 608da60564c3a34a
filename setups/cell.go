package setups

import (
	"context"
	"math"
	"time"

	"github.com/taulop/taulop/fit"
)

// A Cell collects trials of one message. What a trial says is the median of
// its batches; the interval is over trials, because batches of one trial share
// their memory and what it happened to collide with in the caches.
type Cell struct {
	Trial Trial
	// Trips, if not nil, are measured instead of the trial: a sample is their
	// median.
	Trips *RoundTrip
	// Between, if not nil, is likewise measured instead.
	Between *Between
	// Quick is for computing, which hangs less on where memory lies: buffers are
	// kept from trial to trial, batches are shorter, and each is a sample.
	Quick   bool
	Samples []float64 // ns a message, in the order they were taken
	batches []float64 // ns a message, of all batches
}

// A timed batch is long against reading the clock and the skew of the barrier,
// and short against the scheduler's time slice.
const (
	batchTime       = 500 * time.Microsecond
	quickBatchTime  = 100 * time.Microsecond
	batchesPerTrial = 3
	quickBatches    = 4
	longMessage     = 5 * time.Millisecond
)

// LeastTrials is how many samples a 95 % interval of the median needs.
const LeastTrials = 6

// Run adds a trial. The first call finds out how many messages make a batch.
func (c *Cell) Run(ctx context.Context, t *Team) error {
	if c.Trips != nil {
		times, err := t.RoundTrips(ctx, *c.Trips)
		if err == nil {
			c.Samples = append(c.Samples, median(times))
			c.batches = append(c.batches, times...)
		}
		return err
	}
	if c.Between != nil {
		return c.runBetween(ctx, t)
	}
	if c.Trial.Messages == 0 {
		if err := c.calibrate(ctx, t); err != nil {
			return err
		}
	}
	times, err := t.Run(ctx, c.Trial)
	if err != nil {
		return err
	}
	c.batches = append(c.batches, times...)
	if c.Quick {
		c.Samples = append(c.Samples, times...)
	} else {
		c.Samples = append(c.Samples, median(times))
	}
	return nil
}

func (c *Cell) calibrate(ctx context.Context, t *Team) error {
	probe := c.Trial
	probe.Messages, probe.Batches, probe.Kept = 1, 1, c.Quick
	batch, batches := float64(batchTime), batchesPerTrial
	if c.Quick {
		batch, batches = float64(quickBatchTime), quickBatches
	}
	for {
		times, err := t.Run(ctx, probe)
		if err != nil {
			return err
		}
		took := times[0] * float64(probe.Messages)
		if enough := batch / 10; took < enough {
			probe.Messages *= 2 + int(min(100, enough/max(took, 1)))
			continue
		}
		probe.Messages = max(1, int(math.Round(batch/times[0])))
		probe.Batches = batches
		if !c.Quick && times[0] > float64(longMessage) {
			probe.Batches = 2
		}
		c.Trial = probe
		return nil
	}
}

// runBetween adds a trial of copies between levels. How many make a batch is a guess
// at first, for every trial takes a walk through what is to be in a cache.
func (c *Cell) runBetween(ctx context.Context, t *Team) error {
	b := c.Between
	if b.Copies == 0 {
		const each, perByte = 10, 0.1 // ns
		b.Copies, b.Batches = max(1, int(float64(batchTime)/(each+perByte*float64(b.Bytes)))), batchesPerTrial
	}
	times, err := t.CopyBetween(ctx, *b)
	if err != nil {
		return err
	}
	c.Samples = append(c.Samples, median(times))
	c.batches = append(c.batches, times...)
	b.Copies = max(1, int(math.Round(float64(batchTime)/median(times))))
	return nil
}

// Message is the time of a message, l(k,τ), in ns.
func (c *Cell) Message() fit.Estimate { return fit.Median(c.Samples) }

// Transfer is the time of one transfer of a segment, in ns.
func (c *Cell) Transfer() fit.Estimate {
	return fit.Transfer(c.Message(), c.Trial.K, c.Trial.Setup.Transfers)
}

// Slow counts the batches, and those of them that took more than 1.5 times the
// median: something else ran on the workers' CPUs.
func (c *Cell) Slow() (slow, batches int) {
	limit := 1.5 * median(c.batches)
	for _, b := range c.batches {
		if b > limit {
			slow++
		}
	}
	return slow, len(c.batches)
}
