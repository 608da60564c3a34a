// Package verify holds a model to what it says: it carries schedules out on
// this machine's memory and puts beside each time what τ-Lop, log_nP and LogGP
// predict from parameters that were measured without them.
//
// Its opinion: a prediction is one that was made from transfers alone; a
// collective is timed from a barrier to its last rank; and what is predicted was
// measured by other launches than what it is predicted from.
package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
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

	schedule *collective.Schedule
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

// predictors are models of a file.
func predictors(f *params.File, c model.Choice, names ...string) (models []model.Coster, err error) {
	for _, c.Model = range names {
		p, err := model.NewPredictor(f, c)
		if err != nil {
			return nil, err
		}
		models = append(models, p)
	}
	return models, nil
}

// predict is what models say of a schedule, and how wrong that is of what was measured,
// in ns.
func predict(models []model.Coster, names []string, s *collective.Schedule, measured float64) ([]Prediction, error) {
	predicted := []Prediction{}
	for i, m := range models {
		cost, err := m.Cost(s)
		if err != nil {
			return []Prediction{}, fmt.Errorf("%s: %w", names[i], err)
		}
		p := Prediction{Model: names[i], Ns: cost.Seconds * 1e9, Extrapolated: cost.Extrapolated}
		predicted = append(predicted, p.beside(measured))
	}
	return predicted, nil
}

// beside says how wrong a prediction is of what was measured.
func (p Prediction) beside(measured float64) Prediction {
	p.Error = math.Abs(p.Ns-measured) / measured
	return p
}

// Runs are cases with what launches found of them.
type Runs struct {
	Cases  []Case
	File   *params.File
	Forced map[int]bool // by P: ranks share CPUs
}

// of is the time of a case; its centre is NaN where it was not carried out.
func (r Runs) of(c Case) fit.Estimate {
	key := c.Key()
	for i := range r.File.Cells {
		if r.File.Cells[i].Key == key {
			return r.File.Cells[i].Time
		}
	}
	return fit.Median(nil)
}

// Launches is how many carried out every case, the fewest.
func (r Runs) Launches() int {
	least := math.MaxInt
	for _, c := range r.Cases {
		least = min(least, r.of(c).N)
	}
	if len(r.Cases) == 0 {
		return 0
	}
	return least
}

// Measured is how many cases were carried out.
func (r Runs) Measured() (n int) {
	for _, c := range r.Cases {
		if r.of(c).N > 0 {
			n++
		}
	}
	return n
}

// Rows puts beside each case that was measured what the models say of it, those of user
// data in cache or off it in the order of Models. A row has no predictions where they
// cannot be made; then there is also an error, the first.
func (r Runs) Rows(models map[bool][]model.Coster) (rows []Row, lacking error) {
	for _, row := range r.measured() {
		predicted, err := predict(models[row.OffCache], Models, row.schedule, row.Measured.Center)
		lacking, row.Predicted = cmp.Or(lacking, err), predicted
		rows = append(rows, row)
	}
	return rows, lacking
}

// measured are the rows of what was measured, without predictions.
func (r Runs) measured() (rows []Row) {
	for _, c := range r.Cases {
		t, call := r.of(c), c.Schedule.Call
		if !math.IsNaN(t.Center) {
			rows = append(rows, Row{Name: c.Name, P: call.P, Bytes: call.M, OffCache: c.OffCache, Measured: t,
				Predicted: []Prediction{}, Forced: r.Forced[call.P], schedule: c.Schedule})
		}
	}
	return rows
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
