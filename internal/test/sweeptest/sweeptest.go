// Package sweeptest sweeps simulated machines for tests that use the file.
package sweeptest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Moving sweeps a machine whose host moves the CPUs from state to state: the ring on all its CPUs, or the
// plan after change.
func Moving(t testing.TB, cpus int, states []surveytest.State, launches int, between time.Duration, seed uint64, change ...func(*params.Plan)) (*params.File, *surveytest.Simulated) {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 1, cpus, 1), Latency: 100, PerByte: 0.05, Far: 1, Noise: 0.01, Cost: message,
		States: states, Between: between}, seed)
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: []int{64, 1024, 8192}, Taus: []int{cpus}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true}}
	for _, apply := range change {
		apply(&f.Plan)
	}
	f.Provenance.Allowed = s.Machine.Allowed
	f.Provenance.Hostname = "moved"
	x := must.Get(sweep.Experiment(f, s.Machine, 0))
	x.Start, x.Time, x.Launches, x.Seed = s.Start(), time.Hour, launches, 1+seed
	must.Do(x.Run(context.Background()))
	must.Do(f.Validate())
	return f, s
}

// Moved is the path of a file of two CPUs with two states: flags of 60 ns for most of the time, and of
// 240 ns, with all times four times as long.
func Moved(t testing.TB) string {
	t.Helper()
	states := []surveytest.State{{Flag: 60, Times: 1, Lasts: 60 * time.Millisecond}, {Flag: 240, Times: 4, Lasts: 40 * time.Millisecond}}
	f, _ := Moving(t, 2, states, 40, 300*time.Millisecond, 1, func(p *params.Plan) {
		p.Setups, p.Taus = []string{"ring", "ping", "sendrecv"}, []int{1, 2}
	})
	f.Complete = true
	path := filepath.Join(t.TempDir(), "moved.json")
	must.Do(f.WriteFile(path))
	return path
}

// message is the time of a single message, and of other works without a law.
func message(w setups.Work) float64 {
	if c, is := w.(setups.Collective); is {
		return 2 * (150 + 0.05*float64(c.Schedule.Call.M))
	}
	return 200
}
