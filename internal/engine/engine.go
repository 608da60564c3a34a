// Package engine decides when, how often and in which process a cell is measured: it is the one
// sampler of everything that measures.
//
// Its opinion: the replicate is the launch, a fresh process with fresh threads, mappings and
// pages, which visits each cell once, in random order; the number of launches follows from the
// time of one, never from its results; and whatever becomes of a launch, its results are kept.
package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/params"
)

// LeastLaunches is how many values a 95 % interval of a median takes.
const LeastLaunches = 6

// mostLaunches bounds the launches of a small plan. The interval of 30 values is from the 10th
// to the 21st: more would narrow it less than the next hour moves it.
const mostLaunches = 30

// A Cell is what is measured: its key, and what a launch must know to visit it.
type Cell struct {
	params.Cell
	Survey string // that takes samples of it
	Tier   int    // cells of lower tiers are visited before
	Group  string // cells of one group need the same large memory: they follow each other
	Set    int    // launches take turns: each visits the cells of one set
	// Once: of many cells that are like others, each is visited in one launch, not the
	// first, which says what the others take; then again where it is doubtful.
	Once bool
	Like string // cells of which nothing is known take as long as the last of these; "": as none
}

// An Experiment is cells to be measured into a file.
type Experiment struct {
	File     *params.File
	Cells    []Cell
	Requests map[string]any // by survey: what its sampler is opened with
	Time     time.Duration  // for all launches together
	Over     time.Duration  // from Time on: launches begin spread over it, and in between nothing is measured
	Launches int            // 0: as many as there is time for, LeastLaunches or more
	Most     int            // of these; 0: mostLaunches
	// Narrows: cells of low tiers are an answer without the others, which are left out where the
	// machine moves and there is no time for all of them in every state.
	Narrows bool
	// Doubtful returns, once all cells that are visited once were visited, the cells that every
	// later launch visits. Nil: none.
	Doubtful func([]params.Cell) []params.Key
	Session  int // of the file, that the launches belong to
	// FirstCPUs are the CPUs at which launches begin placements, in turn; none: at the first
	// one.
	FirstCPUs []int
	Probes    []int // cells that are visited at the beginning, the middle and the end of a launch too
	// Seed, if not 0, has every run visit cells in the same random order.
	Seed uint64
	// Journal is where launches put results before the file has them; nil: in memory that
	// outlives them.
	Journal *os.File
	// Save, if not nil, is called when the file has changed, at most a twentieth of the time.
	Save func(*params.File) error
	// Report, if not nil, is called a few times a second.
	Report func(Progress)
	// Start begins a launch; nil begins this program again.
	Start func(Order, *os.File) (*Process, error)

	enough map[params.Key]bool // cells of which one visit is enough
}

// Progress is where an experiment is.
type Progress struct {
	Launch, Launches int // counted from 1; Launches is 0 until it is known
	Visited, Cells   int // in this launch
	Left             time.Duration
	Cell             params.Key // visited last
}

// An Order is what a launch is told.
type Order struct {
	Requests map[string]any `json:"requests"`
	Visits   []Visit        `json:"visits"`
	Time     time.Duration  `json:"time_ns"` // no visit begins later
	Watches  []params.Watch `json:"watches,omitempty"`
	// Least is how long the launch goes on visiting cells whose workers have several states. It
	// is set in advance, so that a state's share does not depend on the state in which launches
	// stop.
	Least time.Duration `json:"least_ns,omitempty"`
	// Glance, if not 0, is when the launch ends if its workers turn out to have several states.
	Glance time.Duration `json:"glance_ns,omitempty"`
	Conditions
}

// Conditions are what all measurements of a launch have in common.
type Conditions struct {
	FirstCPU int  `json:"first_cpu"`      // that placements begin at, −1: the first that there is
	Huge     bool `json:"huge,omitempty"` // memory is to have huge pages, and otherwise none
	Fill     bool `json:"fill,omitempty"` // cores that no worker is on are kept busy
}

// A Visit is one sample to be taken.
type Visit struct {
	Survey string     `json:"survey"`
	Key    params.Key `json:"cell"`
	Hint   float64    `json:"hint_ns,omitempty"` // found by earlier launches; 0: unknown
	Probe  bool       `json:"probe,omitempty"`
	// For workers with several states, see Order.Watches: which they are, and for each state
	// the number of launches with samples in it, and the last one's time.
	Watch int       `json:"watch,omitempty"` // number of the order's watches, from 1
	Have  []int     `json:"have,omitempty"`
	Hints []float64 `json:"hints_ns,omitempty"`

	at int // index of the cell
}

// A Process is a launch under way.
type Process struct {
	done chan struct{} // closed when it has ended
	err  error         // then: why it ended by itself, if not because it was done
	stop func()        // asks it to end; after a while it is made to
}

// process is one that ends when run does.
func process(run func() error, stop func()) *Process {
	p := &Process{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(p.done)
		p.err = run()
	}()
	return p
}

// Run measures. It returns ctx's error when that ends it, and the first error of
// measuring or saving; the file has what was found until then.
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
			if r.launch+1 >= r.sets && r.launch/r.sets >= r.parts { // no later one may have any
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

// A run is an Experiment under way.
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
	parts    int                     // of the cells that are visited once, a launch each
	asked    bool                    // which of them are doubtful
	first    time.Duration           // that the first launch of each set took
	like     map[string]float64      // what a cell of them took last
	looks    map[int32][]params.Look // by number of the file's watches
	states   *params.Sorting
	sorted   int                // looks that states were found in
	last     time.Duration      // that the last launch took
	visits   []float64          // by set: how long its first launch visited cells, s by its clock
	resumed  bool               // the session has samples: it gets only what it lacks
	worth    map[string]float64 // of cells and groups, see worthOf
	fits     int                // cells that every launch visits; 0: all
	narrowed bool               // fits is settled
}

// A state is how far an experiment is with a cell.
type state struct {
	at      int           // its index in the file, −1 before it is there
	hint    float64       // for its next visit
	lacking bool          // it is to be visited
	reached bool          // some launch came to it
	visited bool          // one of this run did
	part    int           // the launch that visits it, if it is visited once; −1: all
	watch   map[int]int32 // number of the file's watches by the CPU that placements began at
}

func newRun(x *Experiment) (*run, error) {
	seed := x.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := &run{Experiment: x, sets: 1, rand: rand.New(rand.NewPCG(seed, 1)), began: time.Now(), launches: x.Launches, like: make(map[string]float64), worth: make(map[string]float64)}
	if r.Start == nil {
		r.Start = start
	}
	r.looks, r.states = x.File.Looks(), x.File.Sort()
	there := make(map[params.Key]int)
	for i, c := range x.File.Cells {
		there[c.Key] = i
	}
	x.enough = make(map[params.Key]bool)
	most, fresh := 0, false
	for _, c := range x.Cells {
		r.sets = max(r.sets, c.Set+1)
		p := state{at: -1, part: -1, watch: make(map[int]int32)}
		if at, known := there[c.Key]; known {
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
	if again := r.ask(); !fresh && r.launches == 0 { // a session is completed
		r.launches = max(most, again) * r.sets
	}
	var err error
	r.journal, err = newJournal(x.Journal)
	return r, err
}

// A RefusedError is about what was asked for: nothing is wrong with the machine.
type RefusedError string

func (e RefusedError) Error() string { return string(e) }

// Refuse makes a RefusedError of an error, which it still is.
func Refuse(err error) error { return refused{err} }

type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, RefusedError(r.Error())} }

// A fatal error is one that another launch would meet too.
type fatal struct{ error }

// visit has launches carry the visits out: one, and another one where it dies.
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
		if r.failed++; len(rest) < len(visits)-1 { // something beside what it died of
			r.failed = 1
		}
		if errors.Is(err, errJournal) && r.journal.disk { // the disk is full; memory keeps what it has
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

// drainEvery is how often the parent wakes while a launch measures: it shares the
// CPUs with it.
const drainEvery = 250 * time.Millisecond

// silence is after how long without a sign of life a launch is taken for dead. A
// launch that is alive says so every beat.
const (
	silence = 30 * time.Second
	beat    = 5 * time.Second
)

// once runs one launch and takes in its results. It returns the visits that are left, and the
// visit at which the launch died if it did.
func (r *run) once(ctx context.Context, visits []Visit, slice time.Duration) (rest []Visit, culprit int, err error) {
	launch := params.Launch{Session: r.Session, Began: time.Now().UTC().Format(time.RFC3339Nano)}
	index := len(r.File.Launches)
	first := r.firstCPU(index / r.sets) // sets take turns too, and each goes through all
	launch.FirstCPU = max(first, 0)
	r.File.Launches = append(r.File.Launches, launch)
	if err := r.journal.begin(launch); err != nil {
		return visits, 0, fatal{err}
	}
	began := time.Now()
	steal := provenance.StartSteal("/")
	o := Order{r.Requests, visits, slice, r.File.Watches, r.leastTime(slice), 0, Conditions{first, r.File.Provenance.Huge(), r.File.Provenance.Filled()}}
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
	stopped := false
	for running := true; running; {
		select {
		case <-p.done:
			running = false
		case <-tick.C:
			r.drain(a)
			if a.died == nil && !r.journal.disk { // else what launches find is safe, and writing the file can wait for their end
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
				r.Report(Progress{Launch: r.launch + 1, Launches: max(r.launches, min(r.launches, 1)*(r.launch+1)), Visited: a.cells, Cells: cellsOf(visits),
					Left: r.Time - time.Since(r.began), Cell: a.last})
			}
		}
	}
	r.drain(a)
	l := &r.File.Launches[index]
	l.Seconds, l.Load = time.Since(began).Seconds(), steal.Load
	l.Steal, _ = steal.Share()
	for tau, of := range a.clocks {
		if l.MHz == nil {
			l.MHz = make(map[int]float64)
		}
		l.MHz[tau] = math.Round(fit.Median(of).Center)
	}
	if a.died == nil && !a.ended && ctx.Err() == nil {
		a.died = errors.Join(errors.New("it ended before it was done"), p.err)
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

func (r *run) save(must bool) error {
	if r.Save == nil || !must && time.Since(r.saved) < r.pause {
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
