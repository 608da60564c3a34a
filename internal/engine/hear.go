package engine

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/params"
)

func (r *run) drain(a *answers) {
	if err := r.journal.read(func(e entry) { r.hear(a, e) }); err != nil && a.died == nil {
		a.died = fatal{err}
	}
}

// hear handles a line of the journal.
func (r *run) hear(a *answers, e entry) {
	a.heard = time.Now()
	switch {
	case e.Done:
		a.ended = true
		process.Launched(e.Ran, e.Waited)
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
	case e.Look:
		s := e.sample(r.File, r.Session, a.launch)
		r.looks[s.Watch] = append(r.looks[s.Watch], s)
	case e.Cell != nil:
		if r.take(a, e); e.MHz > 0 {
			a.clocks[e.Cell.Tau] = append(a.clocks[e.Cell.Tau], e.MHz)
		}
	}
}

// leastTime is Order.Least: the time of the first launch's visits, times the number of states.
func (r *run) leastTime(slice time.Duration) time.Duration {
	most := 0
	for _, w := range r.File.Watches {
		if w.Session == r.Session {
			most = max(most, len(lists.Filter(w.States, func(s params.State) bool { return s.Share >= params.Settled })))
		}
	}
	if set := r.launch % r.sets; most > 1 && set < len(r.visits) {
		return min(slice, time.Duration(float64(most)*r.visits[set]*float64(time.Second)))
	}
	return 0
}

// sort finds the session's states by its looks, if their number has grown enough, or always with now.
func (r *run) sort(now bool) {
	looks := 0
	for _, all := range r.looks {
		looks += len(all)
	}
	const enough = 1.05
	if !now && float64(looks) < enough*float64(r.sorted) {
		return
	}
	r.sorted = looks
	r.File.FindStates(r.Session, r.looks)
	r.states = r.File.Sort()
}

// answers are a launch's results so far.
type answers struct {
	visits []Visit
	done   []bool // by visit: it has a reading
	at     int    // the current visit; −1: the first without a reading
	cells  int    // with a reading, probes left out
	first  int    // CPU at which placements begin
	launch int
	took   float64 // s until the last reading

	heard  time.Time // of the journal's last line
	ended  bool      // the launch was done
	died   error
	clocks map[int][]float64 // MHz, by τ
}

// rest are the visits without a reading, except the culprit: the current one when the launch ended.
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

// firstCPU is the CPU at which a launch's placements begin. Each session has a random order of its own,
// the same when it is resumed.
func (x *Experiment) firstCPU(launch int) int {
	if len(x.FirstCPUs) == 0 {
		return -1
	}
	order := rand.New(rand.NewPCG(uint64(x.Session), 0)).Perm(len(x.FirstCPUs))
	return x.FirstCPUs[order[launch%len(order)]]
}

// take adds a reading to the file.
func (r *run) take(a *answers, e entry) {
	if e.Visit < 0 || e.Visit >= len(a.visits) || a.visits[e.Visit].Key != *e.Cell {
		return
	}
	v := a.visits[e.Visit]
	if !a.done[e.Visit] && !v.Probe {
		a.cells++
	}
	a.done[e.Visit], a.took = true, float64(e.At)
	l := &r.File.Launches[a.launch]
	l.Begun.Add(e.Begun)
	if v.Probe {
		l.Probe = append(l.Probe, params.ProbeReading{Key: v.Key, NS: e.NS, At: e.At})
		return
	}
	p := &r.cells[v.cell]
	if p.at < 0 {
		p.at = len(r.File.Cells)
		c := r.Cells[v.cell].Cell
		c.Samples = nil
		r.File.Cells = append(r.File.Cells, c)
	}
	c, s := &r.File.Cells[p.at], e.sample(r.File, r.Session, a.launch)
	c.Samples = append(c.Samples, s)
	if s.Watch > 0 {
		p.watch[a.first] = s.Watch
		r.looks[s.Watch] = append(r.looks[s.Watch], s)
	}
	p.hint, p.reached, p.visited = e.NS, true, true
	if like := r.Cells[v.cell].Like; like != "" {
		r.like[like] = e.NS
	}
}

// estimate works out the centre of every cell that was visited.
func (r *run) estimate() {
	r.File.Complete = true
	r.states.FindPersistence()
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

// known reports whether a cell has an interval, or a visit if that is enough.
func (x *Experiment) known(c *params.Cell) bool {
	return c.Time.Known() || x.enough[c.Key] && c.Time.N > 0
}
