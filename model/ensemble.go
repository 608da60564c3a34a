package model

import (
	"math/rand/v2"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// An Ensemble are predictors from a file as chance could have made it, see
// params.File.Resampled: what their costs differ by is what a cost is uncertain by, as far
// as its parameters go. What the model itself neglects is not in it (docs/accuracy.md).
type Ensemble struct {
	members    []*Predictor
	replicates int // of the file, or of a network with fewer
	sessions   int // of which launches were drawn; 0: sessions were
}

// draws is how often an Ensemble draws: its widths are known to 1/√(2·draws), 11 %.
const draws = 40

// NewEnsemble draws again from the samples of a file. Of a file without launches it is
// empty, and no interval is known.
func NewEnsemble(f *params.File, c Choice) *Ensemble {
	e := &Ensemble{replicates: f.Drawn(), sessions: f.Sessions()}
	net := c.Cluster.measured()
	if net != nil {
		e.replicates, e.sessions = min(e.replicates, net.Drawn()), min(e.sessions, net.Sessions())
	}
	if e.sessions >= fit.LeastReplicates {
		e.sessions = 0
	}
	if e.replicates < fit.LeastReplicates {
		return e
	}
	f = f.Throughout()
	random := rand.New(rand.NewPCG(1, 1)) // the same each time: a file has one interval
	for range draws {
		if net != nil {
			drawn, table, err := net.Resampled(random).Network(c.Cluster.Network.Name)
			if err != nil {
				continue
			}
			with := *c.Cluster
			with.Network = &Network{Network: drawn, Table: table}
			c.Cluster = &with
		}
		// A draw may lack what a model needs.
		if p, err := NewPredictor(f.Resampled(random), c); err == nil {
			e.members = append(e.members, p)
		}
	}
	return e
}

// Known tells whether there are intervals.
func (e *Ensemble) Known() bool { return len(e.members) > 1 }

// Costs are what the members say, in seconds; none where one of them cannot.
func (e *Ensemble) Costs(s *collective.Schedule) (seconds []float64) {
	for _, p := range e.members {
		c, err := p.Cost(s)
		if err != nil {
			return nil
		}
		seconds = append(seconds, c.Seconds)
	}
	return seconds
}

// Interval is the interval of a value, given the members' values.
func (e *Ensemble) Interval(value float64, of []float64) fit.Estimate {
	return fit.Bootstrapped(value, of, e.replicates)
}

// Drawn is a value with what the members say of it, to be compared with another machine's.
func (e *Ensemble) Drawn(value float64, of []float64) fit.Drawn {
	return fit.Drawn{Center: value, Values: of, Replicates: e.replicates, Sessions: e.sessions}
}
