// Package surveytest runs surveys within a test.
package surveytest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// Machine is the running machine. The test is skipped with fewer allowed CPUs.
func Machine(tb testing.TB, cpus int) *numa.Machine {
	tb.Helper()
	if !shm.Supported {
		tb.Skip("measuring needs Linux")
	}
	m := must.Get(numa.Discover("/"))
	if m.Allowed.Len() < cpus {
		tb.Skipf("needs %d CPUs, may use %v", cpus, m.Allowed)
	}
	return m
}

// Run measures a request in one launch within this process, and returns a file with a sample of every
// cell. It fails the test otherwise.
func Run(t *testing.T, m *numa.Machine, s *survey.Survey, r survey.Request, networks ...params.Network) *params.File {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Networks: networks}
	session(t, f, m, nil, s, r, 1, 0)
	return f
}

// start begins launches within this process, on a machine or a simulation of it, whose clock advances
// between launches.
func start(m *numa.Machine, simulation *setups.Simulation, between time.Duration, benches *[]*engine.Bench) func(engine.Order, *os.File) (*engine.Process, error) {
	if simulation == nil {
		return engine.Within(nil, open(m, nil, benches))
	}
	begin := engine.Within(func() time.Duration { return simulation.Now }, open(m, simulation, benches))
	return func(o engine.Order, journal *os.File) (*engine.Process, error) {
		simulation.Now += between
		return begin(o, journal)
	}
}

// open opens samplers, each on its own bench.
func open(m *numa.Machine, simulation *setups.Simulation, benches *[]*engine.Bench) engine.Open {
	return func(name string, request json.RawMessage, c engine.Conditions) (engine.Sampler, error) {
		bench := engine.NewBench(m)
		bench.Simulation, bench.Conditions = simulation, c
		*benches = append(*benches, bench)
		return survey.Open(bench, name, request)
	}
}

// Serve is survey.Serve with the running machine's CPUs and caches and simulated times: launches are
// real processes, whose works take no time. If HangsVariable is "3 FILE", every third sample of these
// launches hangs: the launch appends a line with its process ID to the file, and waits for its end.
func Serve(law Simulated) (status int) {
	law.Machine = must.Get(numa.Discover("/"))
	opened := open(law.Machine, &Simulate(law, 1).sim, new([]*engine.Bench))
	var each int64
	var file string
	if n, _ := fmt.Sscan(os.Getenv(HangsVariable), &each, &file); n < 2 {
		return engine.Serve(opened)
	}
	return engine.Serve(func(name string, request json.RawMessage, c engine.Conditions) (engine.Sampler, error) {
		s, err := opened(name, request, c)
		return &hangs{s, each, file}, err
	})
}

// HangsVariable is the environment variable that makes launches of Serve hang.
const HangsVariable = "TAULOP_TEST_HANGS"

// A hangs is a sampler of a launch that hangs.
type hangs struct {
	engine.Sampler
	each int64
	file string
}

func (h *hangs) Sample(ctx context.Context, k params.Key, hint float64) (engine.Reading, error) {
	counted := h.file + ".samples" // a byte for each sample
	if add(counted, "x") < h.each {
		return h.Sampler.Sample(ctx, k, hint)
	}
	must.Do(os.Truncate(counted, 0))
	add(h.file, fmt.Sprintln(os.Getpid()))
	<-ctx.Done()
	return engine.Reading{}, ctx.Err()
}

// add appends a text to a file, and returns the file's size.
func add(file, text string) int64 {
	f := must.Get(os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))
	defer f.Close()
	must.Get(f.WriteString(text))
	return must.Get(f.Stat()).Size()
}

// session adds a session of launches to a file, see start.
func session(t *testing.T, f *params.File, m *numa.Machine, simulation *setups.Simulation, s *survey.Survey, r survey.Request, launches int, between time.Duration) {
	t.Helper()
	x := &engine.Experiment{File: f, Session: f.Sessions(), Time: time.Hour, Launches: launches, Seed: 1}
	must.Get(survey.Add(x, s, r, m))
	var benches []*engine.Bench
	x.Start = start(m, simulation, between, &benches)
	err := x.Run(context.Background())
	for _, b := range benches {
		b.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if missing := x.Missing(); len(f.Cells) != len(x.Cells) || launches >= engine.LeastLaunches && (missing != nil || !f.Complete) {
		t.Fatalf("%d cells of %d, complete %t: %v", len(f.Cells), len(x.Cells), f.Complete, missing)
	}
	must.Do(f.Validate())
}

// Pairs adds the pairs of n CPUs to a file: ns is the time from CPU a to b, known but for a share of it.
func Pairs(f *params.File, n int, sizes []int, share float64, ns func(a, b, bytes int) float64) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			for _, bytes := range sizes {
				k := params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: bytes, Variant: params.PairOf(a, b, params.UnknownHome)}
				t := ns(a, b, bytes)
				f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: t, Lo: (1 - share) * t, Hi: (1 + share) * t, N: 9}})
			}
		}
	}
}
