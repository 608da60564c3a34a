// Package verify tests predictions: it carries schedules out on this machine's memory and
// compares their times with the predictions of τ-Lop, log_nP and LogGP.
//
// Its opinion: predictions come from transfers alone, of other sizes and τ and by other
// launches than the tested times; a collective is timed from a barrier to its last rank; and
// all models get the same parameters besides, such as local copies.
package verify

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
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
	a, _ := collective.Lookup("bcast:linear") // tests carry it out
	s, err := a.Schedule(collective.Call{P: 2, M: m})
	return Case{Message, off, s}, err
}

// Bytes is the size of all ranks' buffers.
func (c Case) Bytes() (n int64) {
	for rank := range c.Schedule.Call.P {
		n += lists.Sum([]collective.Buffer{collective.Send, collective.Recv, collective.Temp}, func(b collective.Buffer) int64 { return int64(c.Schedule.Size(rank, b)) })
	}
	return n
}

// A Row is a case with its time and the models' predictions, in ns.
type Row struct {
	Name     string `json:"algorithm"`
	P        int    `json:"P"`
	Bytes    int    `json:"m"`
	OffCache bool   `json:"off_cache"`
	// State is the state of the timed ranks; zero: they had one state, or the time is over all.
	State    params.State `json:"state,omitzero"`
	Measured fit.Estimate `json:"measured_ns"`
	// Predicted has the predictions in the order of Models; models without parameters are missing.
	Predicted []Prediction `json:"predicted"`
	OnGrid    bool         `json:"on_grid"` // m is a size at which parameters were measured
	// Forced: ranks share CPUs, and the time does not measure the algorithm.
	Forced bool `json:"forced,omitempty"`

	schedule *collective.Schedule
}

// Runs are cases with their samples.
type Runs struct {
	Cases  []Case
	File   *params.File
	Forced map[int]bool // by P: ranks share CPUs
}

// of is the time of a case; its centre is NaN if it was not carried out.
func (r Runs) of(c Case) fit.Estimate {
	key := c.Key()
	if i := slices.IndexFunc(r.File.Cells, func(cell params.Cell) bool { return cell.Key == key }); i >= 0 {
		return r.File.Cells[i].Time
	}
	return fit.Median(nil)
}

// Rounds is the least number of samples of a case.
func (r Runs) Rounds() int {
	if len(r.Cases) == 0 {
		return 0
	}
	return slices.Min(lists.Map(r.Cases, func(c Case) int { return r.of(c).N }))
}

// Measured counts the cases that were carried out.
func (r Runs) Measured() int {
	return len(lists.Filter(r.Cases, func(c Case) bool { return r.of(c).N > 0 }))
}

// Rows are the measured cases with the models' predictions. The error is the first reason why
// one is missing.
func (r Runs) Rows(models []Model) (rows []Row, lacking error) {
	for _, row := range r.measured() {
		predicted, err := predict(models, row.OffCache, row.schedule, row.Measured.Center)
		lacking, row.Predicted = cmp.Or(lacking, err), predicted
		rows = append(rows, row)
	}
	return rows, lacking
}

// measured are the rows of the measured cases, without predictions.
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
