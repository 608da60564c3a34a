// Package verify holds a model to what it says: it carries schedules out on
// this machine's memory and puts beside each time what τ-Lop, log_nP and LogGP
// predict from parameters that were measured without them.
//
// Its opinion: a prediction is one that was made from transfers alone; a
// collective is timed from a barrier to its last rank; and runs of all cases
// alternate, so that drift hits all alike.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/setups"
)

// A Case is a schedule to be predicted and carried out.
type Case struct {
	Name     string // the algorithm, or Message
	OffCache bool
	Schedule *collective.Schedule
}

// Message is the name of a case that is one message between two ranks.
const Message = "message"

// MessageCase is a message of m bytes between two ranks.
func MessageCase(m int, off bool) (Case, error) {
	a, err := collective.Lookup("bcast:linear")
	if err != nil {
		return Case{}, err
	}
	s, err := a.Schedule(collective.Call{P: 2, M: m})
	return Case{Message, off, s}, err
}

// LocalCopies are the local copies that occur in cases, to be measured for what
// the cases cost. Bare copies of a sweep do not say that, for they write where
// they have just read.
func LocalCopies(cases []Case) (copies []Case) {
	seen := make(map[localCopy]bool)
	for _, c := range cases {
		for _, b := range c.Schedule.Blocks {
			for _, stage := range b.Stages {
				if stage.Pattern != collective.Local {
					continue
				}
				k := localCopy{c.Schedule.Call.P, stage.Shape[0].Count, stage.Shape[0].Bytes, c.OffCache}
				if !seen[k] {
					seen[k] = true
					copies = append(copies, Case{collective.LocalCopy, k.offCache, collective.LocalCopies(k.p, k.ranks, k.bytes)})
				}
			}
		}
	}
	return copies
}

// A localCopy is one by some of p ranks at once.
type localCopy struct {
	p, ranks, bytes int
	offCache        bool
}

// Bytes is what all ranks' buffers take.
func (c Case) Bytes() (n int64) {
	for rank := range c.Schedule.Call.P {
		for _, b := range []collective.Buffer{collective.Send, collective.Recv, collective.Temp} {
			n += int64(c.Schedule.Size(rank, b))
		}
	}
	return n
}

// A Row is a case with its time and what the models say, in ns.
type Row struct {
	Name     string       `json:"algorithm"`
	P        int          `json:"P"`
	Bytes    int          `json:"m"`
	OffCache bool         `json:"off_cache"`
	Measured fit.Estimate `json:"measured_ns"`
	// Predicted is by model, in the order of Models; empty where parameters lack.
	Predicted []Prediction `json:"predicted"`
	// Forced: ranks share CPUs, the time is no measurement of the algorithm.
	Forced bool `json:"forced,omitempty"`
}

// A Prediction is what a model says, and how wrong that is.
type Prediction struct {
	Model string  `json:"model"`
	Ns    float64 `json:"ns"`
	Error float64 `json:"relative_error"` // |predicted − measured| / measured

	Extrapolated bool `json:"extrapolated,omitempty"` // m or τ is beyond what was measured
}

// Models are the names of the predictions of a row.
var Models = []string{"τ-Lop", "log_nP", "LogGP"}

// Predictor is the models of a machine.
type Predictor struct {
	// TauLop is the model for the messages of a call of m bytes, in context.
	TauLop func(m int, off bool) (model.TauLop, error)
	LogGP  map[bool]model.LogGP // by off cache

	local map[localCopy]float64 // ns
}

// copies is c(m,τ) of local copies among p ranks, as measured; of those that were
// not, that of bare copies.
func (p Predictor) copies(ranks int, off bool, bare func(m, tau int) (float64, bool)) func(m, tau int) (float64, bool) {
	return func(m, tau int) (float64, bool) {
		if ns, measured := p.local[localCopy{ranks, tau, m, off}]; measured {
			return ns / 1e9, false
		}
		return bare(m, tau)
	}
}

// tauLop is the model for the messages of a case.
func (p Predictor) tauLop(c Case) (model.TauLop, error) {
	tau, err := p.TauLop(c.Schedule.Call.M, c.OffCache)
	if err == nil && tau.Copies != nil {
		tau.Copies = p.copies(c.Schedule.Call.P, c.OffCache, tau.Copies)
	}
	return tau, err
}

// Predict is what the models say of a case, without errors, in ns.
func (p Predictor) Predict(c Case) ([]Prediction, error) {
	tau, err := p.tauLop(c)
	if err != nil {
		return nil, err
	}
	lognp, err := model.LogNPOf(tau)
	if err != nil {
		return nil, err
	}
	loggp, ok := p.LogGP[c.OffCache]
	if !ok {
		return nil, fmt.Errorf("%s: there are no parameters of LogGP", c.Name)
	}
	loggp.Reductions, loggp.Operator = tau.Reductions, tau.Operator
	var ps []Prediction
	for i, m := range []interface {
		Cost(*collective.Schedule) (model.Cost, error)
	}{tau, lognp, loggp} {
		cost, err := m.Cost(c.Schedule)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", Models[i], c.Name, err)
		}
		ps = append(ps, Prediction{Model: Models[i], Ns: cost.Seconds * 1e9, Extrapolated: cost.Extrapolated})
	}
	return ps, nil
}

// A Runner carries cases out. What it has measured stays with it: it may run
// several times, with a sweep in between.
type Runner struct {
	Teams        map[int]*setups.Team // by P
	Segments     int
	SegmentBytes int
	ArenaBytes   map[int]int // by P, of off-cache cases
	Operator     setups.Operator
	Cases        []Case

	runs    []int       // a sample, by case
	samples [][]float64 // ns, by case
	round   []int       // cases that the round lacks
}

// runTime is how long the runs of a sample last, and fewestRuns how many there
// are of those that last longer.
const (
	runTime    = 3 * time.Millisecond
	fewestRuns = 5
	mostRuns   = 1000
)

// Run adds samples of all cases, in rounds of random order, until the budget is
// used up. The next Run goes on with the round.
func (r *Runner) Run(ctx context.Context, budget time.Duration) error {
	if r.samples == nil {
		r.samples, r.runs = make([][]float64, len(r.Cases)), make([]int, len(r.Cases))
	}
	for end := time.Now().Add(budget); len(r.Cases) > 0 && time.Now().Before(end); {
		if len(r.round) == 0 {
			r.round = rand.Perm(len(r.Cases))
		}
		i := r.round[0]
		if err := r.sample(ctx, i); err != nil {
			return fmt.Errorf("%s, P = %d, m = %d: %w", r.Cases[i].Name, r.Cases[i].Schedule.Call.P, r.Cases[i].Schedule.Call.M, err)
		}
		r.round = r.round[1:]
	}
	return nil
}

// Rounds is how many samples each case has at the least.
func (r *Runner) Rounds() int {
	if len(r.samples) == 0 {
		return 0
	}
	return len(slices.MinFunc(r.samples, func(a, b []float64) int { return len(a) - len(b) }))
}

// Measured is how many cases have a sample.
func (r *Runner) Measured() (n int) {
	for _, of := range r.samples {
		if len(of) > 0 {
			n++
		}
	}
	return n
}

func (r *Runner) sample(ctx context.Context, i int) error {
	if r.runs[i] == 0 { // find out how long one takes
		times, err := r.once(ctx, r.Cases[i], fewestRuns)
		if err != nil {
			return err
		}
		r.runs[i] = min(mostRuns, max(fewestRuns, int(float64(runTime)/max(1, fit.Median(times).Center))))
	}
	times, err := r.once(ctx, r.Cases[i], r.runs[i])
	if err != nil {
		return err
	}
	r.samples[i] = append(r.samples[i], fit.Median(times).Center)
	return nil
}

func (r *Runner) once(ctx context.Context, c Case, runs int) ([]float64, error) {
	p, arena := c.Schedule.Call.P, 0
	if c.OffCache {
		arena = r.ArenaBytes[p]
	}
	return r.Teams[p].RunCollective(ctx, setups.Collective{Schedule: c.Schedule, Segments: r.Segments,
		SegmentBytes: r.SegmentBytes, Operator: &r.Operator, Runs: runs, ArenaBytes: arena})
}

// Rows puts beside each case that was measured what the models say of it. A row has no
// predictions where they cannot be made; then there is also an error, the first.
func (r *Runner) Rows(p Predictor) (rows []Row, lacking error) {
	p.local = make(map[localCopy]float64)
	for i, c := range r.Cases[:len(r.samples)] {
		if c.Name == collective.LocalCopy && len(r.samples[i]) > 0 {
			of := c.Schedule.Blocks[0].Stages[0].Shape[0]
			p.local[localCopy{c.Schedule.Call.P, of.Count, of.Bytes, c.OffCache}] = fit.Median(r.samples[i]).Center
		}
	}
	for i, c := range r.Cases[:len(r.samples)] {
		if c.Name == collective.LocalCopy || len(r.samples[i]) == 0 {
			continue
		}
		predicted, err := p.Predict(c)
		if err != nil {
			lacking, predicted = cmp.Or(lacking, err), []Prediction{}
		}
		call := c.Schedule.Call
		row := Row{Name: c.Name, P: call.P, Bytes: call.M, OffCache: c.OffCache, Measured: fit.Median(r.samples[i]),
			Predicted: predicted, Forced: r.Teams[call.P].Placement().Oversubscribed}
		row.compare()
		rows = append(rows, row)
	}
	return rows, lacking
}

// compare says how wrong predictions are.
func (r *Row) compare() {
	for i := range r.Predicted {
		q := &r.Predicted[i]
		q.Error = math.Abs(q.Ns-r.Measured.Center) / r.Measured.Center
	}
}

// A Mean is the mean relative errors of the models over some rows.
type Mean struct {
	Of       string    `json:"of"` // message, a collective, or all
	P        int       `json:"P"`
	OffCache bool      `json:"off_cache"`
	Errors   []float64 `json:"mean_relative_errors"` // in the order of Models
}

// Means are those of messages, of each collective and of all rows, for each P and
// state of the cache, in the order of the rows.
func Means(rows []Row) []Mean {
	return meansOf(rows, func(r Row) string {
		name, _, _ := strings.Cut(r.Name, ":")
		return name
	})
}

// meansOf groups rows by a name, too.
func meansOf(rows []Row, nameOf func(Row) string) []Mean {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return len(r.Predicted) == 0 })
	type group struct {
		p   int
		off bool
	}
	var groups []group
	for _, r := range rows {
		if g := (group{r.P, r.OffCache}); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	var means []Mean
	for _, g := range groups {
		var names []string
		of := make(map[string][]Row)
		for _, r := range rows {
			if r.P != g.p || r.OffCache != g.off {
				continue
			}
			name := nameOf(r)
			if of[name] == nil {
				names = append(names, name)
			}
			of[name] = append(of[name], r)
			of["all"] = append(of["all"], r)
		}
		for _, name := range append(names, "all") {
			m := Mean{Of: name, P: g.p, OffCache: g.off}
			for i := range of[name][0].Predicted {
				m.Errors = append(m.Errors, meanError(of[name], i))
			}
			means = append(means, m)
		}
	}
	return means
}

func meanError(rows []Row, model int) float64 {
	var sum float64
	for _, r := range rows {
		sum += r.Predicted[model].Error
	}
	return sum / float64(len(rows))
}
