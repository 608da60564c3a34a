// Package surveytest runs surveys within a test.
package surveytest

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// Machine is the one that the test runs on, which must have so many CPUs to use.
func Machine(tb testing.TB, cpus int) *numa.Machine {
	tb.Helper()
	if !shm.Supported {
		tb.Skip("measuring needs Linux")
	}
	m, err := numa.Discover("/")
	if err != nil {
		tb.Fatal(err)
	}
	if m.Allowed.Len() < cpus {
		tb.Skipf("needs %d CPUs, may use %v", cpus, m.Allowed)
	}
	return m
}

// Run measures what a request asks for, in launches within this process, and
// returns a file in which every cell has an interval. It fails the test otherwise.
func Run(t *testing.T, m *numa.Machine, s *survey.Survey, r survey.Request, networks ...params.Network) *params.File {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Networks: networks}
	session(t, f, m, nil, s, r)
	return f
}

// start begins launches within this process, on a machine or a simulation of it.
func start(m *numa.Machine, simulation *setups.Simulation, benches *[]*engine.Bench) func(engine.Order, *os.File) (*engine.Process, error) {
	var now func() time.Duration
	if simulation != nil {
		now = func() time.Duration { return simulation.Now }
	}
	return engine.Within(now, func(name string, request json.RawMessage, c engine.Conditions) (engine.Sampler, error) {
		s, err := survey.Lookup(name)
		if err != nil {
			return nil, err
		}
		r, err := s.Decode(request)
		if err != nil {
			return nil, err
		}
		bench := engine.NewBench(m)
		bench.Simulation, bench.Conditions = simulation, c
		*benches = append(*benches, bench)
		return r.Open(bench)
	})
}

// session adds one to a file, of the machine or of a simulation of it.
func session(t *testing.T, f *params.File, m *numa.Machine, simulation *setups.Simulation, s *survey.Survey, r survey.Request) {
	t.Helper()
	x := &engine.Experiment{File: f, Session: f.Sessions(), Time: time.Hour, Launches: engine.LeastLaunches}
	if _, err := survey.Add(x, s, r, m); err != nil {
		t.Fatal(err)
	}
	var benches []*engine.Bench
	x.Start = start(m, simulation, &benches)
	err := x.Run(context.Background())
	for _, b := range benches {
		b.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if missing := x.Missing(); missing != nil || len(f.Cells) != len(x.Cells) || !f.Complete {
		t.Fatalf("%d cells of %d, complete %t: %v", len(f.Cells), len(x.Cells), f.Complete, missing)
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
}
