package model

import (
	"math/rand/v2"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// An Ensemble is predictors of bootstrap resamples of a file, see params.File.Resampled: the spread of
// their costs is the uncertainty that a cost has from its parameters. Errors of the model come on top
// (docs/accuracy.md).
type Ensemble struct {
	members    []*Predictor
	replicates int // of the file, or of a network with fewer
	sessions   int // whose launches were drawn; 0: sessions were drawn
}

// draws is the number of resamples; it gives widths to 1/√(2·draws), 11 %.
const draws = 40

// NewEnsemble resamples a file. With fewer than fit.LeastReplicates replicates it is empty.
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
	random := rand.New(rand.NewPCG(1, 1)) // fixed: a file has one interval
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
		// A draw may lack parameters that a model needs.
		if p, err := NewPredictor(f.Resampled(random), c); err == nil {
			e.members = append(e.members, p)
		}
	}
	return e
}

// Known tells whether there are intervals.
func (e *Ensemble) Known() bool { return len(e.members) > 1 }

// Costs are the members' costs in seconds; none where one of them fails.
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

// Cost is the interval of a cost, given the members' costs; unknown if no term has samples.
func (e *Ensemble) Cost(seconds float64, of []float64) fit.Estimate {
	if cost := e.Interval(seconds, of); cost.Width() > 1e-9 {
		return cost
	}
	return fit.Unbounded(seconds)
}

// Drawn is a value with the members' values, for comparison with another machine's.
func (e *Ensemble) Drawn(value float64, of []float64) fit.Drawn {
	return fit.Drawn{Center: value, Values: of, Replicates: e.replicates, Sessions: e.sessions}
}
