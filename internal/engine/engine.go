// Package engine decides when, how often and in which process a cell is measured. All measurements use
// it.
//
// Its opinion: the replicate is the launch, a fresh process with fresh threads, mappings and pages,
// which visits each cell once, in random order; the number of launches follows from the time of one,
// never from its results; and the results of a launch are kept, even if it dies.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/params"
)

// LeastLaunches is the least number of values for a 95 % interval of a median.
const LeastLaunches = 6

// mostLaunches bounds the launches of a small plan. The interval of 30 values is from the 10th
// to the 21st: more would narrow it less than the next hour moves it.
const mostLaunches = 30

// A Cell is a quantity to measure: its key, and what a launch must know to visit it.
type Cell struct {
	params.Cell
	Survey string // whose sampler measures it
	Tier   int    // lower tiers are visited first
	Group  string // cells of a group need the same large memory, and follow each other
	Set    int    // launches take turns: each visits the cells of one set
	// Once: one launch visits the cell, because other cells are like it. It is not the first, whose
	// times are hints for the others. A doubtful cell is visited again, see Experiment.Doubtful.
	Once bool
	Like string // a class of cells: the last time of one is the hint for a cell without a time; "": none
}

// An Experiment measures cells into a file.
type Experiment struct {
	File     *params.File
	Cells    []Cell
	Requests map[string]any // by survey: the request that opens its sampler
	Time     time.Duration  // for all launches together
	Over     time.Duration  // if longer than Time: launches begin spread over it, with pauses between
	Launches int            // 0: as many as there is time for, LeastLaunches or more
	Most     int            // bounds that number; 0: mostLaunches
	// Passes, if not 0, is the number of visits of each cell for which the time in the most frequent of
	// several states must suffice: cells of high tiers are left out until it does.
	Passes int
	// Doubtful returns, of the cells that were all visited once, those that every later launch visits.
	// Nil: none.
	Doubtful func([]params.Cell) []params.Key
	Session  int // of the file, that the launches belong to
	// FirstCPUs are the CPUs at which the launches' placements begin, in turn; none: the first CPU.
	FirstCPUs []int
	Probes    []int // cells that a launch also visits at its beginning, middle and end
	// Seed, if not 0, makes the random order of visits reproducible.
	Seed uint64
	// Journal receives the launches' results before the file has them; nil: memory that outlives
	// launches.
	Journal *os.File
	// Save, if not nil, is called when the file has changed, at most a twentieth of the time.
	Save func(*params.File) error
	// Report, if not nil, is called a few times a second.
	Report func(Progress)
	// Start starts a launch; nil: this program in a new process.
	Start func(Order, *os.File) (*Process, error)

	enough map[params.Key]bool // cells for which one visit is enough
}

// Progress is the progress of an experiment.
type Progress struct {
	Launch, Launches int // counted from 1; Launches is 0 until it is known
	Visited, Cells   int // in this launch
	Left             time.Duration
}

// An Order tells a launch what to measure.
type Order struct {
	Requests map[string]json.RawMessage `json:"requests"` // see Experiment
	Visits   []Visit                    `json:"visits"`
	Time     time.Duration              `json:"time_ns"` // no visit begins later
	Watches  []params.Watch             `json:"watches,omitempty"`
	// Least is the time for which the launch continues to visit cells whose workers have several
	// states. It is set in advance, so that a state's share does not depend on the state in which
	// launches stop.
	Least time.Duration `json:"least_ns,omitempty"`
	// Glance, if not 0, is the time at which the launch ends if its workers have several states.
	Glance time.Duration `json:"glance_ns,omitempty"`
	Conditions
}

// Conditions hold for all measurements of a launch.
type Conditions struct {
	FirstCPU int  `json:"first_cpu"`      // at which placements begin; −1: the first one
	Huge     bool `json:"huge,omitempty"` // memory has huge pages; otherwise it has none
	Fill     bool `json:"fill,omitempty"` // idle cores are kept busy
}

// A Visit is one sample to take.
type Visit struct {
	Survey string     `json:"survey"`
	Key    params.Key `json:"cell"`
	Hint   float64    `json:"hint_ns,omitempty"` // time found by earlier launches; 0: unknown
	Probe  bool       `json:"probe,omitempty"`
	// For workers with several states: their watch, and for each state the number of launches with
	// samples in it, and the last sample's time.
	Watch int       `json:"watch,omitempty"` // number among Order.Watches, from 1
	Have  []int     `json:"have,omitempty"`
	Hints []float64 `json:"hints_ns,omitempty"`

	cell int // index of the experiment's cell
}

// A Process is a running launch.
type Process struct {
	done chan struct{} // closed when it has ended
	err  error         // then: why it failed; nil: it was done or was stopped
	stop func()        // asks it to end, and forces it after a while
}

// running starts run, and returns the process that ends with it.
func running(run func() error, stop func()) *Process {
	p := &Process{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(p.done)
		p.err = run()
	}()
	return p
}

// Run measures. It returns ctx's error if that ended it, or the first error of measuring or saving. The
// file then has the results so far.
func (x *Experiment) Run(ctx context.Context) (err error) {
	r, err := newRun(x)
	if err != nil {
		return err
	}
	defer func() {
		r.sort(true)
		r.estimate()
		if refused := doubt.InCache(r.File); refused != nil {
			r.File.Warn(refused)
		}
		if failed := r.save(true); err == nil {
			err = failed
		}
	}()
	for r.launch = 0; r.launches == 0 || r.launch < r.launches || r.goesOn(); r.launch++ {
		if err := r.wait(ctx); err != nil {
			return err
		}
		r.ask()
		order := r.order()
		if len(order) == 0 {
			if r.launch+1 >= r.sets && r.launch/r.sets >= r.parts { // no later launch has visits either
				return nil
			}
		} else if err := r.visit(ctx, order); err != nil {
			return err
		}
		switch r.launch {
		case r.sets - 1:
			r.first = time.Since(r.began)
		case 2*r.sets - 1:
			r.plan(time.Since(r.began))
		}
	}
	return nil
}

// A run is a running Experiment.
type run struct {
	*Experiment
	rand     *rand.Rand
	cells    []state // by cell
	began    time.Time
	launch   int
	launches int
	journal  *journal
	saved    time.Time
	pause    time.Duration // until the next save, at least
	failed   int           // launches in a row that found nothing
	sets     int
	parts    int                       // number of launches that divide the cells visited once among them
	asked    bool                      // Doubtful was called
	first    time.Duration             // of the first launches of all sets
	like     map[string]float64        // by Cell.Like: the last time
	looks    map[int32][]params.Sample // by number of the file's watches
	states   *params.Sorting
	sorted   int                // number of looks in which states were found
	last     time.Duration      // of the last launch
	visits   []float64          // by set: the time of its first launch's visits, s by its clock
	resumed  bool               // the session has samples: it gets only the missing ones
	worth    map[string]float64 // of cells and groups, see worthOf
	fits     int                // number of cells that every launch visits; 0: all
	narrowed bool               // fits is final
}

// A state is the progress of a cell.
type state struct {
	at      int           // its index in the file; −1: not there yet
	hint    float64       // for its next visit
	lacking bool          // it needs samples
	reached bool          // a launch has visited it
	visited bool          // a launch of this run has
	part    int           // the only launch that visits it; −1: all launches do
	watch   map[int]int32 // by first CPU: number of the file's watches
}

func newRun(x *Experiment) (*run, error) {
	r := &run{Experiment: x, sets: 1, rand: rand.New(rand.NewPCG(cmp.Or(x.Seed, rand.Uint64()), 1)), began: time.Now(), launches: x.Launches,
		like: make(map[string]float64), worth: make(map[string]float64)}
	if r.Start == nil {
		r.Start = start
	}
	r.looks, r.states = x.File.Looks(), x.File.Sort()
	index := lists.Index(x.File.Cells, keyOf)
	x.enough = make(map[params.Key]bool)
	most, fresh := 0, false
	for _, c := range x.Cells {
		r.sets = max(r.sets, c.Set+1)
		p := state{at: -1, part: -1, watch: make(map[int]int32)}
		if at, known := index[c.Key]; known {
			p.at, p.hint = at, x.File.Cells[at].Time.Center
		}
		have := x.sampled(r.states, p.at)
		if c.Once {
			x.enough[c.Key] = true
		}
		p.lacking, p.reached = have < x.need(c), have > 0
		fresh, r.resumed = fresh || !p.reached, r.resumed || p.reached
		r.cells = append(r.cells, p)
		most = max(most, x.need(c)-have)
	}
	r.resumed = r.resumed && r.launches == 0
	r.divide()
	if again := r.ask(); !fresh && r.launches == 0 { // the session needs further launches only
		r.launches = max(most, again) * r.sets
	}
	var err error
	r.journal, err = newJournal(x.Journal)
	return r, err
}

// A RefusedError is an error of the request, not of the machine.
type RefusedError string

func (e RefusedError) Error() string { return string(e) }

// Refuse makes an error a RefusedError, too.
func Refuse(err error) error { return refused{err} }

type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, RefusedError(r.Error())} }

// A fatal error would occur in every launch.
type fatal struct{ error }

// visit carries out visits by one launch, or by several if launches die.
func (r *run) visit(ctx context.Context, visits []Visit) error {
	end := time.Now().Add(r.slice())
	for {
		left := time.Until(end)
		began := time.Now()
		rest, culprit, err := r.once(ctx, visits, max(left, 0))
		r.last = time.Since(began)
		var f fatal
		switch {
		case errors.As(err, &f):
			return f.error
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			r.failed = 0
			return nil
		}
		if r.failed++; len(rest) < len(visits)-1 { // it found results before it died
			r.failed = 1
		}
		if errors.Is(err, errJournal) && r.journal.disk { // the disk is full: go on with a journal in memory
			if r.journal, err = newJournal(nil); err != nil {
				return err
			}
			r.failed = 0
		}
		const most = 3
		if r.failed >= most {
			return fmt.Errorf("%d launches in a row died without a result, the last with: %w", most, err)
		}
		r.File.Warn(fmt.Errorf("a launch died while it visited %v, which costs that visit: %w", visits[culprit].Key, err))
		if visits = rest; len(visits) == 0 || left <= 0 {
			return nil
		}
	}
}

// drainEvery is the period of the parent's wake-ups during a launch, with which it shares the CPUs.
const drainEvery = 250 * time.Millisecond

// A launch writes a sign of life every beat, and is taken for dead after a silence.
const (
	silence = 30 * time.Second
	beat    = 5 * time.Second
)

// once runs one launch and adds its results to the file. If the launch died, it returns the remaining
// visits, and the visit during which it died.
func (r *run) once(ctx context.Context, visits []Visit, slice time.Duration) (rest []Visit, culprit int, err error) {
	launch := params.Launch{Session: r.Session, Began: time.Now().UTC().Format(time.RFC3339Nano)}
	index := len(r.File.Launches)
	first := r.firstCPU(index / r.sets) // launches of each set go through all first CPUs
	launch.FirstCPU = max(first, 0)
	r.File.Launches = append(r.File.Launches, launch)
	if err := (entry{Launch: &launch}).write(r.journal); err != nil {
		return visits, 0, fatal{fmt.Errorf("what launches find cannot be kept: %w", err)}
	}
	began := time.Now()
	steal := provenance.StartSteal("/")
	o := Order{make(map[string]json.RawMessage), visits, slice, r.File.Watches, r.leastTime(slice), 0, Conditions{first, r.File.Provenance.Huge(), r.File.Provenance.Filled()}}
	for survey, request := range r.Requests {
		var err error
		if o.Requests[survey], err = json.Marshal(request); err != nil {
			return visits, 0, fatal{err}
		}
	}
	if r.narrows() && !r.moves() {
		o.Glance = r.short()
	}
	p, err := r.Start(o, r.journal.File)
	if err != nil {
		return visits, 0, fatal{err}
	}
	a := &answers{visits: visits, done: make([]bool, len(visits)), at: -1, first: first, launch: index, heard: time.Now(), clocks: make(map[int][]float64)}
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	stopped, cells := false, len(lists.Filter(visits, func(v Visit) bool { return !v.Probe }))
	for running := true; running; {
		select {
		case <-p.done:
			running = false
		case <-tick.C:
			r.drain(a)
			if a.died == nil && !r.journal.disk { // a journal on disk keeps results until the launch has ended
				if err := r.save(false); err != nil {
					a.died = fatal{err}
				}
			}
			if a.died == nil && time.Since(a.heard) > silence {
				a.died = fmt.Errorf("no sign of life for %v", silence)
			}
			if (a.died != nil || ctx.Err() != nil) && !stopped {
				stopped = true
				p.stop()
			}
			if r.Report != nil {
				r.Report(Progress{Launch: r.launch + 1, Launches: max(r.launches, min(r.launches, 1)*(r.launch+1)), Visited: a.cells, Cells: cells,
					Left: r.Time - time.Since(r.began)})
			}
		}
	}
	r.drain(a)
	l := &r.File.Launches[index]
	l.Seconds, l.Load = time.Since(began).Seconds(), steal.Load
	l.Steal, _ = steal.Share()
	for tau, mhz := range a.clocks {
		if l.MHz == nil {
			l.MHz = make(map[int]float64)
		}
		l.MHz[tau] = math.Round(fit.Median(mhz).Center)
	}
	if a.died == nil && !a.ended && ctx.Err() == nil {
		a.died = errors.New("it ended before it was done")
		if p.err != nil {
			a.died = fmt.Errorf("%w: %w", a.died, p.err)
		}
	}
	l.Died = a.died != nil
	r.sort(false)
	if r.launch == len(r.visits) {
		r.visits = append(r.visits, a.took)
	}
	if err := r.save(false); a.died == nil && err != nil {
		a.died = fatal{err}
	}
	rest, culprit = a.rest()
	return rest, culprit, a.died
}

// save saves the file unless it was saved a short time ago, or always with now.
func (r *run) save(now bool) error {
	if r.Save == nil || !now && time.Since(r.saved) < r.pause {
		return nil
	}
	began := time.Now()
	r.estimate()
	if err := r.Save(r.File); err != nil {
		return err
	}
	r.saved = time.Now()
	r.pause = max(time.Second, 20*r.saved.Sub(began))
	return nil
}
