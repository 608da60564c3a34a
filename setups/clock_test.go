package setups

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// simulated is a team of tau workers on CPUs 10, 11, …
func simulated(s *Simulation, tau int) *Team {
	return s.Team(numa.Placement{Workers: lists.Map(lists.Indices(tau), func(i int) numa.Worker { return numa.Worker{CPU: numa.CPU{ID: 10 + i}} })})
}

// costs are the times of one repetition, by worker.
func costs(ns ...float64) func(Work, []numa.Worker) []float64 {
	return func(Work, []numa.Worker) []float64 { return ns }
}

// A late batch does not count and is measured again, within a bound. If a worker is late each time, the notice grows.
func TestLateStarts(t *testing.T) {
	const us = time.Microsecond
	try := func(name string, delays []time.Duration, want params.Begun, ns float64) { // of worker 2 of four by batch, the warm-up first
		t.Helper()
		s := &Simulation{Cost: costs(1000, 1000, 1000, 1000), Hear: func([]numa.Worker) []time.Duration {
			heard := make([]time.Duration, 4)
			if len(delays) > 0 {
				heard[2], delays = delays[0], delays[1:]
			}
			return heard
		}}
		found := must.Get(simulated(s, 5).Sample(context.Background(), Trial{Setup: Ring, Tau: 4}, 1000))
		check.Equal(t, found.Begun, want, "%s", name)
		check.Near(t, found.NS, ns, 0.5, "%s, ns", name)
	}
	try("no worker", nil, params.Begun{Batches: 3}, 1000)
	try("within the notice", slices.Repeat([]time.Duration{us}, 20), params.Begun{Batches: 3}, 1000)
	try("a little", []time.Duration{0, 5 * us, 0, 5 * us}, params.Begun{Batches: 3}, 1000) // 0.7 % of 500 µs, the notice being 1.4 µs and then longer
	try("once", []time.Duration{0, 0, 100 * us}, params.Begun{Batches: 4, Late: 1}, 1000)
	try("in the warm-up", []time.Duration{100 * us}, params.Begun{Batches: 3}, 1000)
	try("always the same", slices.Repeat([]time.Duration{20 * us}, 20), params.Begun{Batches: 3}, 1000)                                       // which the warm-up has shown
	try("always too late", slices.Repeat([]time.Duration{50 * us}, 20), params.Begun{Batches: 6, Late: 6, Forced: 6}, 1055.2)                 // the notice is 22.4 µs at most
	try("more and more", []time.Duration{0, 1e5, 4e5, 16e5, 64e5, 256e5, 1024e5, 0, 0}, params.Begun{Batches: 6, Late: 6, Forced: 6}, 8955.2) // the median of lags, from 99 µs to 102 ms, over 500 messages
}

// A worker that shares a CPU is never late.
func TestTurnsAreNotLate(t *testing.T) {
	c := &clock{byTurns: true}
	c.set([]*worker{{}}, 3, 1)
	for b := range 4 {
		c.begin(b, 0)
		c.workers[0].start[b] = time.Second
		check.Equal(t, c.goesOn(b+1), (b < 3), "after %d rounds", b+1)
	}
	check.Equal(t, c.begun(), (params.Begun{Batches: 3}), "batches")
}

// A slow worker is distinguished from slow workers.
func TestWorkersAlone(t *testing.T) {
	try := func(ns []float64, want params.Workers) {
		t.Helper()
		found, err := simulated(&Simulation{Cost: costs(ns...)}, len(ns)).Sample(context.Background(), Trial{Setup: Bare}, 1000)
		w := found.Workers
		check.True(t, err == nil && math.Abs(float64(w.Fastest-want.Fastest)) <= 0.005 && math.Abs(float64(w.Typical-want.Typical)) <= 0.005 && w.Last == want.Last,
			"%v: %+v, want %+v, %v", ns, w, want, err)
		check.Equal(t, found.NS, slices.Max(ns), "%v", ns)
	}
	try([]float64{1000, 1000, 2000, 1000}, params.Workers{Fastest: 0.5, Typical: 0.5, Last: 12})
	try([]float64{2000, 2000, 2000, 2002}, params.Workers{Fastest: 1, Typical: 1, Last: 13})
	try([]float64{500, 800, 900, 1000}, params.Workers{Fastest: 0.5, Typical: 0.8, Last: 13})
	try([]float64{1000}, params.Workers{})
}
