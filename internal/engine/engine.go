// Package engine decides when, how often and in which process a cell is measured: it is the one
// sampler of everything that measures.
//
// Its opinion: the replicate is the launch, a fresh process with fresh threads, mappings and
// pages, which visits each cell once, in random order; the number of launches follows from the
// time of one, never from its results; and whatever becomes of a launch, its results are kept.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
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
	// Doubtful returns, once all cells that are visited once were visited, the cells that every
	// later launch visits. Nil: none.
	Doubtful func([]params.Cell) []params.Key
	Session  int // of the file, that the launches belong to
	// FirstCPUs are the CPUs at which launches begin placements, in turn; none: at the first
	// one.
	FirstCPUs []int
	Probes    []int // cells that are visited at the beginning, the middle and the end of a launch too
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
		if refused := r.File.InCache(); refused != nil {
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
	sorted   int           // looks that states were found in
	last     time.Duration // that the last launch took
	visits   []float64     // by set: how long its first launch visited cells, s by its clock
	resumed  bool          // the session has samples: it gets only what it lacks
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
	r := &run{Experiment: x, sets: 1, rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), began: time.Now(), launches: x.Launches, like: make(map[string]float64)}
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

// need is how many launches are to have samples of a cell.
func (x *Experiment) need(c Cell) int {
	if x.enough[c.Key] || x.enough == nil && c.Once {
		return 1
	}
	return LeastLaunches
}

// sampled is the number of the session's launches that have samples of the file's cell at this
// index; 0 for −1.
func (x *Experiment) sampled(states *params.Sorting, at int) int {
	if at < 0 {
		return 0
	}
	return states.Launches(&x.File.Cells[at], x.Session)
}

// plan fixes the number of launches by the duration of the second launch of each set, which had
// hints; their results do not count. If the first launch did not come to all cells there is one
// more, because the second is the first to visit the rest.
func (r *run) plan(elapsed time.Duration) {
	if r.launches > 0 {
		return
	}
	least := r.least()
	for i, p := range r.cells {
		if p.lacking && !p.reached && !r.Cells[i].Once {
			least = r.least() + 1
		}
	}
	each, left := max(elapsed-r.first, time.Millisecond), r.Time-elapsed
	if r.Most > 0 {
		left -= left / 4 // many short launches: some take longer than the second
	}
	r.launches = r.sets * min(max(2+int(left/each), least), cmp.Or(r.Most, mostLaunches))
}

// least is the least number of launches: where cells are visited once, the first launch, the
// launches that visit them, and the launches that visit doubtful cells again.
func (r *run) least() int {
	if r.parts == 0 {
		return LeastLaunches
	}
	return 1 + r.parts + LeastLaunches - 1
}

// divide deals the cells that are visited once, groups as a whole and at random, among the
// launches from the second on, so that results for like cells are from several launches. It
// leaves time to visit them again where few launches were asked for.
func (r *run) divide() {
	groups := make(map[string]int)
	for i, c := range r.Cells {
		if !c.Once {
			continue
		}
		if r.parts == 0 {
			r.parts = LeastLaunches
			if r.launches > 0 {
				r.parts = min(max(r.launches/r.sets-LeastLaunches, 1), LeastLaunches)
			}
		}
		part, known := groups[c.Group]
		if !known || c.Group == "" {
			part = 1 + r.rand.IntN(r.parts)
			groups[c.Group] = part
		}
		r.cells[i].part = part
	}
}

// ask has every launch from now on visit the cells that are doubtful, when all that are
// visited once have been. It returns how many more visits these lack at most.
func (r *run) ask() (again int) {
	if r.asked || r.Doubtful == nil || r.parts == 0 {
		return 0
	}
	var once []params.Cell
	at := make(map[params.Key]int)
	for i, c := range r.Cells {
		p := r.cells[i]
		if c.Once && !p.reached {
			return 0
		}
		if p.at >= 0 {
			once = append(once, r.File.Cells[p.at])
			at[c.Key] = i
		}
	}
	r.asked = true
	for i := range once {
		once[i].Time = r.states.Estimate(&once[i])
	}
	for _, k := range r.Doubtful(once) {
		i, known := at[k]
		if !known || !r.Cells[i].Once {
			continue
		}
		p := &r.cells[i]
		have := r.File.Cells[p.at].InSession(r.File, r.Session)
		p.part, p.lacking = -1, have < LeastLaunches
		delete(r.enough, k)
		again = max(again, LeastLaunches-have)
	}
	return again
}

// due reports whether the present launch is to visit a cell. Cells to be visited once that a
// launch did not come to are left to the next ones.
func (r *run) due(i int) bool {
	p, turn := &r.cells[i], r.launch/r.sets
	if !r.lacks(i) || r.Cells[i].Set != r.launch%r.sets {
		return false
	}
	return p.part < 0 || p.part <= turn && !p.reached
}

// lacks reports whether a cell is still to be visited: in a resumed session until it has what
// it needs, in others as long as there is time.
func (r *run) lacks(i int) bool {
	p := &r.cells[i]
	return p.lacking && !(r.resumed && r.sampled(r.states, p.at) >= r.need(r.Cells[i]))
}

// wait is for the moment at which a launch is to begin.
func (r *run) wait(ctx context.Context) error {
	if r.Over < r.Time || r.launch == 0 || r.launches == 0 {
		return ctx.Err()
	}
	begin := r.began.Add(time.Duration(float64(r.Over) * float64(r.launch) / float64(r.launches)))
	select {
	case <-time.After(time.Until(begin)):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// slice is the time of the present launch.
func (r *run) slice() time.Duration {
	launches := r.launches
	if launches == 0 {
		launches = r.sets * r.least()
	}
	if r.Over > r.Time {
		return r.Time / time.Duration(launches)
	}
	return (r.Time - time.Since(r.began)) / time.Duration(max(1, launches-r.launch))
}

// goesOn reports whether there is a launch beyond the planned ones: while time is left and a
// cell lacks samples in a state with its share of the time, or at all in a resumed session. The
// number of samples decides, never their values.
func (r *run) goesOn() bool {
	if r.Launches > 0 || r.Over > r.Time || time.Since(r.began)+r.last > r.Time {
		return false
	}
	for i, p := range r.cells {
		if r.resumed && r.lacks(i) {
			return true
		}
		if p.at < 0 || r.Cells[i].Once {
			continue
		}
		c := &r.File.Cells[p.at]
		if len(r.states.States(r.states.Workers(c))) > 1 && r.states.Launches(c, r.Session) < LeastLaunches {
			return true
		}
	}
	return false
}

// order is the visits of a launch: tier by tier, cells that the first launch came to before
// others, so that a short time gives intervals to some cells instead of a sample to all; else
// at random. In a resumed session, except in the first tier, cells with samples of the fewest
// launches come first. Cells of a group follow each other, because laying out their memory
// takes longer than a visit.
func (r *run) order() (visits []Visit) {
	type place struct {
		Visit
		missed, have, tier int
		turn, within       float64
	}
	var places []place
	turns := make(map[string]float64)
	for i, c := range r.Cells {
		if !r.due(i) {
			continue
		}
		p := place{r.visitOf(i), 0, 0, c.Tier, r.rand.Float64(), r.rand.Float64()}
		if r.launch >= r.sets && !r.cells[i].visited && !c.Once {
			p.missed = 1
		}
		if r.resumed && c.Tier > 0 && (r.launch < r.sets || p.missed > 0) {
			p.have = r.sampled(r.states, r.cells[i].at)
		}
		if c.Group != "" {
			group := fmt.Sprint(c.Tier, p.missed, p.have, c.Survey, c.Group)
			if turn, known := turns[group]; known {
				p.turn = turn
			}
			turns[group] = p.turn
		}
		places = append(places, p)
	}
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(a.missed-b.missed, a.have-b.have, a.tier-b.tier, cmp.Compare(a.turn, b.turn), cmp.Compare(a.within, b.within))
	})
	for _, p := range places {
		visits = append(visits, p.Visit)
	}
	return r.withProbes(visits)
}

func (r *run) visitOf(i int) Visit {
	c := &r.Cells[i]
	hint := r.cells[i].hint
	if hint == 0 {
		hint = r.like[c.Like]
	}
	v := Visit{Survey: c.Survey, Key: c.Key, Hint: hint, at: i}
	r.watched(&v)
	return v
}

// watched adds to a visit whose workers have several states what there is in each.
func (r *run) watched(v *Visit) {
	p := &r.cells[v.at]
	number := p.watch[r.firstCPU(len(r.File.Launches)/r.sets)]
	if number == 0 || len(r.File.Watches[number-1].States) < 2 {
		return
	}
	states := r.File.Watches[number-1].States
	v.Watch, v.Have, v.Hints = int(number), make([]int, len(states)), make([]float64, len(states))
	for _, s := range r.File.Cells[p.at].Samples {
		if at := r.File.Watches[number-1].Of(s); s.Watch == number && at >= 0 {
			v.Have[at]++
			v.Hints[at] = s.NS
		}
	}
}

// withProbes puts visits of the reference probe at the beginning, the middle and
// the end.
func (r *run) withProbes(visits []Visit) []Visit {
	var probes []Visit
	for _, i := range r.Probes {
		v := r.visitOf(i)
		v.Probe = true
		probes = append(probes, v)
	}
	half := len(visits) / 2
	return slices.Concat(probes, visits[:half], probes, visits[half:], probes)
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
	p, err := r.Start(Order{r.Requests, visits, slice, r.File.Watches, r.leastTime(slice), Conditions{first, r.File.Provenance.Huge(), r.File.Provenance.Filled()}}, r.journal.File)
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

// drain takes in what the launch has put into the journal since.
func (r *run) drain(a *answers) {
	if err := r.journal.read(func(e entry) { r.hear(a, e) }); err != nil && a.died == nil {
		a.died = fatal{err}
	}
}

// hear takes in a line of the journal.
func (r *run) hear(a *answers, e entry) {
	a.heard = time.Now()
	switch {
	case e.Done:
		a.ended = true
	case e.Instruction > 0:
		r.File.Launches[a.launch].Instruction = e.Instruction
	case e.Loads != nil:
		r.File.Launches[a.launch].Loads = e.Loads
	case e.Warning != "":
		r.File.Warn(errors.New(e.Warning))
	case e.Error != "" && e.Refused:
		a.died = fatal{RefusedError(e.Error)}
	case e.Error != "":
		a.died = fatal{errors.New(e.Error)}
	case e.Begins > 0:
		a.at = e.Begins - 1
	case e.Look > 0:
		number := r.File.Watch(r.Session, e.CPUs)
		r.looks[number] = append(r.looks[number], params.Look{Launch: a.launch, At: e.At, Before: e.Look, After: e.Look})
	case e.Cell != nil:
		if r.take(a, e); e.MHz > 0 {
			a.clocks[e.Cell.Tau] = append(a.clocks[e.Cell.Tau], e.MHz)
		}
	}
}

// leastTime is what the first launch took, for each of the states.
func (r *run) leastTime(slice time.Duration) time.Duration {
	most := 0
	for _, w := range r.File.Watches {
		settled := lists.Filter(w.States, func(s params.State) bool { return s.Share >= params.Settled })
		if w.Session == r.Session {
			most = max(most, len(settled))
		}
	}
	if set := r.launch % r.sets; most > 1 && set < len(r.visits) {
		return min(slice, time.Duration(float64(most)*r.visits[set]*float64(time.Second)))
	}
	return 0
}

// sort finds the states that the session's looks tell apart, when there are some more of them.
func (r *run) sort(must bool) {
	looks := 0
	for _, of := range r.looks {
		looks += len(of)
	}
	const some = 1.05
	if !must && float64(looks) < some*float64(r.sorted) {
		return
	}
	r.sorted = looks
	r.File.FindStates(r.Session, r.looks)
	r.states = r.File.Sort()
}

// answers are what a launch has found so far.
type answers struct {
	visits []Visit
	done   []bool // by visit: there was an answer
	at     int    // the visit under way where it is not the first without an answer; −1: it is
	cells  int    // with an answer, without probes
	last   params.Key
	first  int // CPU that placements begin at
	launch int
	took   float64 // s until the last one

	heard  time.Time // the last line of the journal
	ended  bool      // the launch was done
	died   error
	clocks map[int][]float64 // MHz, by τ
}

// rest are the visits without an answer, but for the one under way when the launch ended.
func (a *answers) rest() (rest []Visit, culprit int) {
	if culprit = a.at; culprit < 0 || a.done[culprit] {
		culprit = max(0, slices.Index(a.done, false))
	}
	for i, v := range a.visits {
		if !a.done[i] && i != culprit {
			rest = append(rest, v)
		}
	}
	return rest, culprit
}

// firstCPU is the one that a launch's placements begin at. Every session has an order of
// its own, which is the same whenever it is resumed.
func (x *Experiment) firstCPU(launch int) int {
	if len(x.FirstCPUs) == 0 {
		return -1
	}
	order := rand.New(rand.NewPCG(uint64(x.Session), 0)).Perm(len(x.FirstCPUs))
	return x.FirstCPUs[order[launch%len(order)]]
}

// cellsOf counts visits, without probes.
func cellsOf(visits []Visit) (n int) {
	for _, v := range visits {
		if !v.Probe {
			n++
		}
	}
	return n
}

// take puts a reading where it belongs.
func (r *run) take(a *answers, e entry) {
	if e.Visit < 0 || e.Visit >= len(a.visits) || a.visits[e.Visit].Key != *e.Cell {
		return
	}
	v := a.visits[e.Visit]
	if !a.done[e.Visit] && !v.Probe {
		a.cells++
	}
	a.done[e.Visit], a.last, a.took = true, v.Key, e.At
	l := &r.File.Launches[a.launch]
	l.Begun.Add(params.Begun(e.Begun))
	if v.Probe {
		l.Probe = append(l.Probe, params.ProbeReading{Key: v.Key, NS: e.NS, At: e.At})
		return
	}
	p := &r.cells[v.at]
	if p.at < 0 {
		p.at = len(r.File.Cells)
		c := r.Cells[v.at].Cell
		c.Samples = nil
		r.File.Cells = append(r.File.Cells, c)
	}
	c, s := &r.File.Cells[p.at], e.sample(r.File, r.Session, a.launch)
	c.Samples = append(c.Samples, s)
	if s.Watch > 0 {
		p.watch[a.first] = s.Watch
		r.looks[s.Watch] = append(r.looks[s.Watch], params.Look{Launch: a.launch, At: e.At, Before: e.Before, After: e.After})
	}
	p.hint, p.reached, p.visited = e.NS, true, true
	if like := r.Cells[v.at].Like; like != "" {
		r.like[like] = e.NS
	}
}

// estimate works out the centre of every cell that was visited.
func (r *run) estimate() {
	r.File.Complete = true
	for _, p := range r.cells {
		known := false
		if p.at >= 0 {
			c := &r.File.Cells[p.at]
			c.Time = r.states.Estimate(c)
			known = r.known(c)
		}
		r.File.Complete = r.File.Complete && known
	}
	if len(r.FirstCPUs) > 0 {
		r.File.Relate()
	}
}

// known reports whether a cell has what it needs: an interval, or a visit where that is enough.
func (x *Experiment) known(c *params.Cell) bool {
	return c.Time.Known() || x.enough[c.Key] && c.Time.N > 0
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

// Lacking are the cells of an experiment that have no interval, and how many of them
// were visited.
func (x *Experiment) Lacking() (lacking []Cell, visited int) {
	known := make(map[params.Key]bool)
	for i := range x.File.Cells {
		known[x.File.Cells[i].Key] = x.known(&x.File.Cells[i])
	}
	for _, c := range x.Cells {
		if interval, there := known[c.Key]; !interval {
			lacking = append(lacking, c)
			if there {
				visited++
			}
		}
	}
	return lacking, visited
}

// Left is how long the missing visits take, each as long as the session's mean visit, and in
// each state that needs samples; 0 if the session has none.
func (x *Experiment) Left() time.Duration {
	var seconds, visits, left float64
	for _, l := range x.File.Launches {
		if l.Session == x.Session {
			seconds += l.Seconds
			visits += float64(len(l.Probe))
		}
	}
	states, at := x.File.Sort(), make(map[params.Key]int)
	for i := range x.File.Cells {
		c := &x.File.Cells[i]
		at[c.Key] = i
		for _, s := range c.Samples {
			if x.File.Launches[s.Launch].Session == x.Session {
				visits++
			}
		}
	}
	settled := max(1, len(lists.Filter(states.States(2), func(s params.State) bool { return s.Share >= params.Settled })))
	for _, c := range x.Cells {
		if i, known := at[c.Key]; known {
			left += float64(max(0, x.need(c)-x.sampled(states, i)))
		} else {
			left += float64(settled * x.need(c))
		}
	}
	if visits == 0 {
		return 0
	}
	return time.Duration(left * seconds / visits * float64(time.Second))
}

// Missing says how many cells lack samples, nil where none does.
func (x *Experiment) Missing() error {
	lacking, visited := x.Lacking()
	if len(lacking) == 0 {
		return nil
	}
	var parts []string
	switch unreached := len(lacking) - visited; unreached {
	case 0:
	case 1:
		parts = append(parts, "1 was not reached")
	default:
		parts = append(parts, fmt.Sprintf("%d were not reached", unreached))
	}
	switch visited {
	case 0:
	case 1:
		parts = append(parts, "1 has too few launches for an interval")
	default:
		parts = append(parts, fmt.Sprintf("%d have too few launches for an interval", visited))
	}
	return fmt.Errorf("of %s %s", printable.Count(len(x.Cells), "cell"), strings.Join(parts, ", and "))
}

// An entry is a line of a journal.
type entry struct {
	Launch      *params.Launch  `json:"launch,omitempty"` // of the lines after it
	Cell        *params.Key     `json:"cell,omitempty"`
	NS          float64         `json:"ns,omitempty"`
	Spread      float64         `json:"spread,omitempty"`
	At          float64         `json:"at_s,omitempty"`
	Workers     *setups.Workers `json:"workers,omitempty"`
	Begun       setups.Begun    `json:"begun,omitzero"`
	MHz         float64         `json:"mhz,omitempty"`
	Probe       bool            `json:"probe,omitempty"`
	CPUs        []int           `json:"cpus,omitempty"` // of the workers
	Before      float64         `json:"before_ns,omitempty"`
	After       float64         `json:"after_ns,omitempty"`
	Visit       int             `json:"visit,omitempty"`   // index of the order's
	Begins      int             `json:"begins,omitempty"`  // 1 + the index of a visit that is not the next one
	Look        float64         `json:"look_ns,omitempty"` // between two visits
	Loads       []params.Loads  `json:"loads,omitempty"`
	Instruction float64         `json:"instruction_ns,omitempty"`
	Warning     string          `json:"warning,omitempty"`
	Error       string          `json:"error,omitempty"`
	Refused     bool            `json:"refused,omitempty"` // the error is about what was asked for
	Done        bool            `json:"done,omitempty"`
	Alive       bool            `json:"alive,omitempty"`
}

// sample is the launch's sample that an entry holds.
func (e entry) sample(f *params.File, session, launch int) params.Sample {
	s := params.Sample{NS: e.NS, Launch: int32(launch), At: float32(e.At), Spread: float32(e.Spread)}
	if w := e.Workers; w != nil {
		s.Workers = params.Workers{Fastest: float32(w.Fastest), Typical: float32(w.Typical), Last: int32(w.Last)}
	}
	if e.Before > 0 && len(e.CPUs) > 0 {
		s.Watch, s.Before, s.After = f.Watch(session, e.CPUs), float32(e.Before), float32(e.After)
	}
	return s
}

func (e entry) write(to io.Writer) error {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = to.Write(append(line, '\n'))
	}
	return err
}
