package setups

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// A clock starts all workers of a round together, at a moment announced to them in advance, and notes
// when each began and finished. The last round of each group is a batch; the first group warms up. A
// batch that a worker began late is measured again.
type clock struct {
	workers []*worker
	barrier *shm.Barrier
	epoch   time.Time
	group   int             // rounds of a group
	batches int             // to measure
	spare   int             // further batches allowed in place of late ones
	started []time.Duration // by round, since the epoch: the announced moment
	rounds  int             // started so far
	late    []int           // rounds of batches that did not begin together
	byTurns bool            // oversubscription: no batch counts as late
	solo    bool            // one worker alone begins and times the rounds
	// notice is the time from the barrier's release to the announced moment. With a barrier alone,
	// the worker that opens it would start first (start skew).
	notice    time.Duration
	moment    *atomic.Int64 // of the next round; noMoment if there is none
	byProcess bool          // workers are processes, each of which counts rounds for itself
	load      *load         // of the injectors; nil: none
	bracket
}

const (
	noMoment = -1
	// lateShare is the start skew at which a batch counts as late, as a share of its time.
	lateShare = 0.01
	// mostNotice bounds the notice, as a multiple of its first value, after a worker lost its CPU:
	// there may be thousands of rounds.
	mostNotice = 16
)

// readingClock is the time of one reading of the clock. A worker that begins up to four
// readings after the moment is not late.
var readingClock = sync.OnceValue(func() time.Duration {
	least := time.Hour
	for range 16 {
		const times = 16
		begin := time.Now()
		for range times - 1 {
			time.Since(begin)
		}
		least = min(least, time.Since(begin)/times)
	}
	return least
})

// leastNotice is the time in which undisturbed workers see the announcement.
func leastNotice(workers int) time.Duration {
	return time.Microsecond + time.Duration(workers)*100*time.Nanosecond
}

// set prepares the clock for a number of batches.
func (c *clock) set(workers []*worker, batches, group int) {
	c.workers, c.batches, c.spare, c.group, c.epoch = workers, batches, 3+batches/10, group, time.Now()
	c.notice, c.moment = leastNotice(len(workers)), new(atomic.Int64)
	rounds := group * (1 + c.batches + c.spare)
	c.every = max(c.every, 1)
	c.computed = [2]float64{}
	c.looks = make([]float64, 0, rounds/group/c.every+2)
	c.started = make([]time.Duration, rounds)
	for _, w := range workers {
		w.met, w.passed, w.looks = 0, 0, 0
		if cap(w.start) < rounds {
			const padding = 16 // two cache lines between the times of two workers
			w.start = make([]time.Duration, rounds, rounds+padding)
			w.finish = make([]time.Duration, rounds, rounds+padding)
		}
		w.start, w.finish = w.start[:rounds], w.finish[:rounds]
		clear(w.start)
		clear(w.finish)
	}
}

// start waits until all workers are ready for round b and its announced moment has come. It returns
// false if there is no such round.
func (c *clock) start(w *worker, b int) (on bool, err error) {
	boundary := b%c.group == 0
	if boundary && !c.bracketed(w, b/c.group, false) {
		return false, gaveUp{"its neighbour's flag"}
	}
	if err := c.meet(w, func() { c.announce(b) }); err != nil {
		return false, err
	}
	at := time.Duration(c.moment.Load())
	if at == noMoment {
		if !c.bracketed(w, b/c.group, true) {
			return false, gaveUp{"its neighbour's flag"}
		}
		return false, nil
	}
	if c.byProcess {
		c.rounds = b + 1
	}
	// This store fetches the line, which worker 0 may have read, before the round: in it an atomic
	// store would wait for the line.
	w.start[b] = at
	now := time.Since(c.epoch)
	for now < at {
		now = time.Since(c.epoch)
	}
	w.start[b] = now
	return true, nil
}

// announce sets the moment of round b, which soon follows.
func (c *clock) announce(b int) {
	if !c.goesOn(b) {
		c.moment.Store(noMoment)
		return
	}
	c.load.mark(2 * b)
	at := time.Since(c.epoch) + c.notice
	c.begin(b, at)
	c.moment.Store(int64(at))
}

// startAlone begins round b of a task that one worker times alone.
func (c *clock) startAlone(w *worker, b int) {
	c.load.mark(2 * b)
	now := time.Since(c.epoch)
	c.solo = true
	c.begin(b, now)
	w.start[b] = now
}

func (c *clock) begin(b int, at time.Duration) { c.started[b], c.rounds = at, b+1 }

// finish notes the end of a worker's round b.
func (c *clock) finish(w *worker, b int) {
	w.finish[b] = time.Since(c.epoch)
	w.over.Store(int64(b + 1))
	if w.id == 0 {
		c.load.mark(2*b + 1)
	}
}

// goesOn reports whether there is a round b, after all earlier ones are over. The notice of the next
// round grows with the start skew of the last.
func (c *clock) goesOn(b int) bool {
	if b%c.group != 0 || b == 0 {
		return true
	}
	for _, w := range c.workers { // for the race detector, which does not know the barrier's memory
		w.over.Load()
	}
	if lag := c.lag(b - 1); lag > 4*readingClock() {
		c.notice = min(max(2*c.notice, c.notice+lag), mostNotice*leastNotice(len(c.workers)))
		if b > c.group && !c.byTurns && float64(lag) > lateShare*c.took(b-1) {
			c.late = append(c.late, b-1)
		}
	}
	over := b/c.group - 1
	return over-len(c.late) < c.batches && over < c.batches+c.spare
}

// lag is the start skew of a round: from the announced moment to the begin of its last worker.
func (c *clock) lag(b int) time.Duration {
	return lists.Most(c.workers, func(w *worker) time.Duration { return w.start[b] - c.started[b] })
}

// measured returns the rounds of the batches that began together. If none did, it returns all
// batches' rounds, and forced is true.
func (c *clock) measured() (rounds []int, forced bool) {
	var all []int
	for b := 2*c.group - 1; b < c.rounds; b += c.group {
		if all = append(all, b); !slices.Contains(c.late, b) {
			rounds = append(rounds, b)
		}
	}
	if len(rounds) == 0 {
		return all, len(all) > 0
	}
	return rounds, false
}

// took is the time of a round in ns, from the announced moment to the last finish.
func (c *clock) took(b int) float64 {
	return float64(lists.Most(c.workers, func(w *worker) time.Duration { return w.finish[b] }) - c.started[b])
}

// times returns the time of a message in each batch, in ns.
func (c *clock) times(messages int) []float64 {
	rounds, _ := c.measured()
	return lists.Map(rounds, func(b int) float64 { return c.took(b) / float64(messages) })
}

// begun counts the batches, and the late ones among them.
func (c *clock) begun() (s params.Begun) {
	if c.solo {
		return s
	}
	s = params.Begun{Batches: max(0, c.rounds/c.group-1), Late: len(c.late)}
	if rounds, forced := c.measured(); forced {
		s.Forced = len(rounds)
	}
	return s
}

// workerTimes compares the workers' own times: the fastest and the median one relative to the slowest.
func (c *clock) workerTimes() params.Workers {
	rounds, _ := c.measured()
	if c.solo || len(c.workers) < 2 || len(rounds) == 0 {
		return params.Workers{}
	}
	took, last := make([]float64, len(c.workers)), 0
	for i, w := range c.workers {
		ns := lists.Map(rounds, func(b int) float64 { return float64(w.finish[b] - c.started[b]) })
		if took[i] = median(ns); took[i] > took[last] {
			last = i
		}
	}
	slowest := took[last]
	if !(slowest > 0) {
		return params.Workers{}
	}
	others := slices.Delete(took, last, last+1)
	return params.Workers{Fastest: float32(slices.Min(others) / slowest), Typical: float32(median(others) / slowest), Last: int32(c.workers[last].cpu)}
}

// meet waits for all workers. Before it releases the others worker 0 calls last, if that is not nil.
func (c *clock) meet(w *worker, last func()) error {
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
	if last != nil {
		last()
	}
	c.barrier.Release(w.met)
	return nil
}

// missing is the error of a worker that gave up at the barrier: it names a worker that is not there.
func (c *clock) missing(w *worker) error {
	for _, other := range c.workers {
		if c.barrier.Arrived(other.id) < w.met {
			return gaveUp{fmt.Sprintf("worker %d to come to the barrier", other.id)}
		}
	}
	return gaveUp{"the barrier to open"}
}
