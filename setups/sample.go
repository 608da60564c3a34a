package setups

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/aclements/go-moremath/stats"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Work is what a team samples: a Trial, a RoundTrip, a Between, Passes, a Collective. It can be
// repeated any number of times in a row.
type Work interface {
	// repeat does the work n times in each batch and returns the time of one repetition in each, in ns.
	repeat(ctx context.Context, t *Team, n, batches int) ([]float64, error)
	// batch gives the length and the number of the batches of a sample.
	batch() Batch
}

// A Batch describes the batches that a sample consists of.
type Batch struct {
	// Time is long compared with a clock reading and the start skew, and short compared with the
	// scheduler's time slice.
	Time  time.Duration
	Count int
	// Least and Most bound the repetitions in a batch.
	Least, Most int
}

// A Sample is a visit's result: the median of its batches' means, and the state of the machine during the
// visit. Batches share their memory and its cache conflicts, so they are not independent samples.
type Sample struct {
	params.Sample
	Begun params.Begun `json:"begun,omitzero"`
	MHz   float64      `json:"mhz,omitempty"`  // clock of the first worker's CPU just after; 0: the system does not say
	CPUs  []int        `json:"cpus,omitempty"` // of the workers, in order
}

// Sample takes a sample, of which NS is the time of one repetition: of a Trial's message, a
// Collective's run, one of Passes. The hint is that time in an earlier sample, in ns, and determines the
// repetitions of a batch. Without a hint, 0, they are calibrated first. It fails for work
// that the team cannot do, if mapping fails, if wrong bytes arrived, if ctx ends, or if the workers stop making
// progress.
func (t *Team) Sample(ctx context.Context, w Work, hint float64) (Sample, error) {
	b := w.batch()
	if hint == 0 {
		var err error
		if hint, err = t.calibrate(ctx, w, b); err != nil {
			return Sample{}, err
		}
	}
	n, batches := b.times(hint), b.Count
	if batches > 2 && hint > float64(longWork) {
		batches = 2
	}
	all, err := t.repeat(ctx, w, n, batches)
	if err != nil {
		return Sample{}, err
	}
	s := SampleOf(all)
	s.Workers, s.Begun = t.last.workerTimes(), t.last.begun()
	s.Before, s.After = t.last.bracketOf()
	s.Computed = float32(slices.Max(t.last.computed[:]))
	s.CPUs = lists.Map(t.last.workers, func(w *worker) int { return w.cpu })
	if t.simulation == nil {
		s.MHz = numa.Clock("/", t.workers[0].cpu)
	}
	return s, nil
}

func (t *Team) repeat(ctx context.Context, w Work, n, batches int) ([]float64, error) {
	if t.simulation != nil {
		return t.simulation.repeat(t, w, n, batches), ctx.Err()
	}
	return w.repeat(ctx, t, n, batches)
}

// longWork is the time of one repetition beyond which a sample has two batches.
const longWork = 5 * time.Millisecond

func (b Batch) times(ns float64) int {
	return min(max(int(math.Round(float64(b.Time)/ns)), b.Least, 1), b.Most)
}

// calibrate finds the time of one repetition. It needs batches of many: a single one is mostly clock
// and barrier.
func (t *Team) calibrate(ctx context.Context, w Work, b Batch) (ns float64, err error) {
	t.calibrates = true // without looks, each of which takes many time slices where other processes have the CPUs
	defer func() { t.calibrates = false }()
	for n := max(1, b.Least); ; {
		times, err := t.repeat(ctx, w, n, 1)
		if err != nil {
			return 0, err
		}
		ns := median(times)
		took, enough := ns*float64(n), float64(b.Time)/10
		if took >= enough || n >= b.Most {
			return max(ns, 1e-3), nil
		}
		n = min(n*(2+int(min(100, enough/max(took, 1)))), b.Most)
	}
}

// SampleOf is the sample of batches by their means, in ns.
func SampleOf(batches []float64) (s Sample) {
	if s.NS = median(batches); len(batches) > 1 && s.NS > 0 {
		s.Spread = float32(stats.StdDev(batches) / s.NS)
	}
	return s
}

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

const anyTimes = math.MaxInt32

func (tr Trial) batch() Batch {
	switch {
	case tr.Kept: // reductions compute, and depend less on the place of memory
		return Batch{100 * time.Microsecond, 4, 1, anyTimes}
	case tr.Brief:
		return Batch{100 * time.Microsecond, 2, 1, anyTimes}
	}
	return Batch{500 * time.Microsecond, 3, 1, anyTimes}
}

func (b Between) batch() Batch { return Batch{500 * time.Microsecond, 3, 1, anyTimes} }

func (p Passes) batch() Batch { return Batch{500 * time.Microsecond, 3, 1, anyTimes} }

// batch: each round trip is timed by itself.
func (rt RoundTrip) batch() Batch { return Batch{0, max(rt.Runs, 1), 1, 1} }

func (rt RoundTrip) repeat(ctx context.Context, t *Team, _, batches int) ([]float64, error) {
	rt.Runs = batches
	return thirds(t.roundTrips(ctx, rt))
}

// batch: each run of a collective is timed by itself, too. A sample has a few ms of runs, some 10 ms
// with the barriers between them.
func (c Collective) batch() Batch { return Batch{3 * time.Millisecond, 1, 5, 300} }

func (c Collective) repeat(ctx context.Context, t *Team, n, _ int) ([]float64, error) {
	c.Runs = n
	return thirds(t.RunCollective(ctx, c))
}

// thirds makes batches of runs that are timed one by one: the mean of each third of them. The median of
// all runs would leave out what disturbs few of them, which the mean of a batch has.
func thirds(runs []float64, err error) (batches []float64, _ error) {
	parts := min(3, len(runs))
	mean := func(i int) float64 { return stats.Mean(runs[i*len(runs)/parts : (i+1)*len(runs)/parts]) }
	return lists.Map(lists.Indices(parts), mean), err
}
