package setups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/internal/calls"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// A Team is a set of workers, each a goroutine on a thread of its own that is pinned to one CPU, or a
// process, see NewProcesses. It runs one task at a time; between tasks its workers sleep. While a team
// exists, the garbage collector is off and GOMAXPROCS is at least the number of workers plus two.
type Team struct {
	// Huge asks for huge pages in all buffers mapped from now on. Otherwise buffers get none,
	// whatever the kernel's setting.
	Huge bool

	// Fill, if not nil, keeps idle cores busy while the team measures, and until another team does.
	Fill *Fill

	placement  numa.Placement
	simulation *Simulation // replaces all fields below; nil: workers work
	workers    []*worker
	stop       *atomic.Bool
	stall      time.Duration
	broken     error // a worker did not come back, or died: the team is of no more use

	memory memory
	down   int    // distance from the arenas' end at which the next messages begin
	copied int    // number of trials and copies between levels
	load   *load  // of the current run, if workers inject
	last   *clock // of the last run
	alone  *calls.Probe
	// calibrates: the run is a calibration, not a sample.
	calibrates bool
	huge       [2]float64 // of the last trial, if Huge: see HugeShares
	injected   []float64  // by batch of the last run: ns a line
	patterns   [][]byte
	restore    func()

	processes *processes // nil: workers are threads of this process
}

// stallAfter bounds the time without progress of a run. A worker that lost its CPU gets it back much
// sooner, within the scheduler's time slices. After ctx ends, a run waits no longer than stopAfter, so
// that the caller can still save its results.
const (
	stallAfter = 10 * time.Second
	stopAfter  = 2 * time.Second
)

type worker struct {
	id     int
	cpu    int
	thread int
	tasks  chan task
	done   chan struct{}
	wait   *shm.Waiter
	err    error
	loads  params.Loads // of its arenas
	// Of the last measurement:
	met           uint64          // arrivals at the barrier
	passed, looks uint64          // rounds of flags in looks, and looks
	start, finish []time.Duration // of each round
	over          atomic.Int64    // finished rounds
	placed        atomic.Int64    // offset of the last copy, stored when the copy is complete
	_             [128]byte       // keeps other workers' data on other cache lines
}

var errNoWorkers = errors.New("a placement without workers makes no team: take one of numa.Machine.Place")

// NewTeam starts the workers of a placement, see numa.Machine.Place, and pins them. If pinning fails,
// the error names the CPU and the kernel's reason.
func NewTeam(p numa.Placement) (*Team, error) {
	if len(p.Workers) == 0 {
		return nil, errNoWorkers
	}
	t := newTeam(p, new(atomic.Bool))
	tau := len(p.Workers)
	t.restore = quiet(tau)
	pinned := make(chan error, tau)
	for _, w := range t.workers {
		go w.work(pinned)
	}
	if err := all(pinned); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// all waits for as many threads as the channel has room for, and returns an error of one that could not
// be pinned.
func all(pinned <-chan error) (err error) {
	for range cap(pinned) {
		err = cmp.Or(err, <-pinned)
	}
	return err
}

// newTeam returns a team whose workers have not started.
func newTeam(p numa.Placement, stop *atomic.Bool) *Team {
	t := &Team{placement: p, stop: stop, stall: stallAfter, memory: memory{workers: p.Workers, kept: make(map[key]*region)}}
	cores := lists.Counts(p.Workers, func(w numa.Worker) int { return w.Core })
	for id, place := range p.Workers {
		t.patterns = append(t.patterns, pattern(id))
		w := &worker{
			id: id, cpu: place.CPU.ID,
			tasks: make(chan task), done: make(chan struct{}, 1),
			wait: shm.NewWaiter(stop, p.Oversubscribed),
		}
		if cores[place.Core] > 1 {
			w.wait = w.wait.BesideSibling()
		}
		t.workers = append(t.workers, w)
	}
	return t
}

// quiet keeps the Go runtime from disturbing workers: no garbage collection while they run, and a
// processor for every spinning worker, because a worker without one would be waited for by all that
// hold one.
func quiet(tau int) (restore func()) {
	percent := debug.SetGCPercent(-1)
	if percent >= 0 { // else the caller makes many teams, and collects between them
		runtime.GC()
	}
	procs := runtime.GOMAXPROCS(0)
	if procs < tau+2 {
		runtime.GOMAXPROCS(tau + 2)
	}
	return func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
	}
}

// Tau is the number of workers.
func (t *Team) Tau() int { return len(t.workers) }

// Placement is the placement of the workers.
func (t *Team) Placement() numa.Placement { return t.placement }

// Release unmaps the memory that the team keeps from task to task.
func (t *Team) Release() {
	if t.broken == nil {
		t.memory.drop(func(*region) bool { return true })
	}
}

// Close ends the workers and their threads and unmaps the team's memory.
func (t *Team) Close() {
	if t.simulation != nil {
		return
	}
	for _, w := range t.workers {
		close(w.tasks)
	}
	if t.broken == nil { // else a spinning worker would block the runtime's stop of all threads
		t.restore()
	}
	t.Release()
	t.processes.close()
}

func (w *worker) work(pinned chan<- error) {
	// The thread stays pinned and dies with this goroutine.
	if err := numa.Pin(w.cpu); err != nil {
		pinned <- err
		return
	}
	w.thread = numa.ThreadID()
	pinned <- nil
	for tk := range w.tasks {
		w.err = tk.common().work(w, tk)
		w.done <- struct{}{}
	}
}

// gaveUp is the error of a worker that was told to stop while it waited.
type gaveUp struct{ waitedFor string }

func (e gaveUp) Error() string { return "gave up waiting for " + e.waitedFor }

// run hands a task to the workers and waits until they are done. It stops them when ctx ends, when a
// worker was moved to another CPU, or when none makes progress.
func (t *Team) run(ctx context.Context, tk task) error {
	if t.broken != nil {
		return t.broken
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.stop.Store(false)
	busy := tk.common().workers
	if t.load != nil {
		busy = t.workers
	}
	t.Fill.around(busy)
	for _, w := range t.workers {
		w.tasks <- tk
	}
	watch := time.NewTicker(min(t.stall/4, time.Second))
	defer watch.Stop()
	var (
		cancelled = ctx.Done()
		stalled   bool
		moved     error
		last      = tk.common().progress()
		since     = time.Now()
		patience  <-chan time.Time
	)
	stop := func(wait time.Duration) {
		t.stop.Store(true)
		patience = time.After(wait)
	}
	for left := t.workers; len(left) > 0; {
		select {
		case <-left[0].done:
			left = left[1:]
		case <-cancelled:
			cancelled = nil
			stop(min(t.stall, stopAfter))
		case <-watch.C:
			if moved == nil {
				if moved = t.moved(); moved != nil {
					stop(t.stall)
				}
			}
			if now := tk.common().progress(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) >= t.stall && !stalled {
				stalled = true
				stop(t.stall)
			}
		case <-patience:
			w := left[0]
			t.broken = fmt.Errorf("worker %d on CPU %d does not come back, though told to stop: is the CPU taken away from it?", w.id, w.cpu)
			if err := ctx.Err(); err != nil {
				return err
			}
			return t.broken
		}
	}
	for _, w := range t.workers {
		if errors.As(w.err, new(died)) {
			t.broken = w.err
		}
	}
	err := cmp.Or(moved, t.moved(), t.broken) // the cause of other workers' errors
	if err == nil {
		err = t.verdict(ctx, stalled)
	}
	if t.last = &tk.common().clock; err != nil {
		t.memory.forget()
		return err
	}
	return nil
}

// moved fails if a worker is no longer where it was pinned.
func (t *Team) moved() error {
	for _, w := range t.workers {
		if err := numa.Pinned(w.thread, w.cpu); err != nil {
			return err
		}
	}
	return nil
}

// verdict is a finished task's error: a worker's own error, the watchdog's report, or the context's.
func (t *Team) verdict(ctx context.Context, stalled bool) error {
	var waiting []string
	for _, w := range t.workers {
		var stopped gaveUp
		switch {
		case w.err == nil:
		case errors.As(w.err, &stopped):
			waiting = append(waiting, fmt.Sprintf("worker %d on CPU %d waited for %s", w.id, w.cpu, stopped.waitedFor))
		default:
			return w.err
		}
	}
	if stalled {
		return fmt.Errorf("no worker made progress for %v: %s", t.stall, strings.Join(waiting, "; "))
	}
	return ctx.Err()
}
