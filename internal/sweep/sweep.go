// Package sweep turns a plan into an experiment that measures every τ-Lop parameter of a machine, and
// further surveys, into one file.
package sweep

import (
	"fmt"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// DefaultTime is the default time of a sweep: a minute, and the time of its further surveys.
func DefaultTime(with []string, m *numa.Machine) time.Duration {
	return time.Minute + survey.TimeOf(with, m)
}

// Experiment is the experiment that measures a file's plan in one of its sessions.
func Experiment(f *params.File, m *numa.Machine, session int) (*engine.Experiment, error) {
	x := &engine.Experiment{File: f, Session: session, Time: time.Duration(f.Plan.Budget * float64(time.Second)),
		FirstCPUs: transfers.FirstCPUs(f.Plan, m)}
	if _, err := survey.Add(x, transfers.Survey, transfers.Request{Plan: f.Plan}, m); err != nil {
		return nil, err
	}
	x.Probes = transfers.Probes(x.Cells)
	for _, name := range f.Plan.With {
		s, err := survey.Lookup(name)
		if err != nil || s.Plan == nil {
			f.Warn(fmt.Errorf("%s was not measured: this taulop cannot", name))
			continue
		}
		r, err := s.Plan(m, f.Plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		warnings, err := survey.Add(x, s, r, m)
		f.Warn(warnings...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	inRounds(f.Plan, m.CacheShares(), x.Cells)
	x.Passes = 3 * engine.LeastLaunches // then a state with half of the most frequent one's share has intervals, too
	for _, p := range f.Placements {
		if p.Oversubscribed {
			f.Warn(fmt.Errorf("placement %s: τ = %d is more than the CPUs allowed: those cells are no measurement of concurrency", p.Policy, len(p.Workers)))
		}
	}
	return x, nil
}
