package compare

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// simulated is some sessions of a simulated machine of 16 cores, whose host moves its CPUs between states.
func simulated(t *testing.T, name string, sessions int, slower float64, seed uint64, taus, sizes []int, states ...surveytest.State) (Machine, *surveytest.Simulated) {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 2, 8, 1), Latency: 100 * slower, PerByte: 0.05 * slower, Far: 1,
		Sigma: 0.05, Kappa: 0.004, Noise: 0.01, Cost: func(setups.Work) float64 { return 2000 * slower },
		States: states, Between: 300 * time.Millisecond}, seed)
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: sizes, Taus: taus, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true}}
	for range sessions {
		s.Measure(t, f, transfers.Survey, transfers.Request{Plan: f.Plan})
	}
	return Machine{Name: name, Path: name + ".json", File: f}, s
}

// Where sessions differ by as little as they are taken to, a machine that is 10 % slower is found in
// 80 % of pairs or more; of a machine and itself one comparison in 20 at the most calls a cell
// different. States take eight samples each to be told apart, on the same CPUs in one session.
func TestPower(t *testing.T) {
	pairs := 2
	if os.Getenv("TAULOP_LONG") != "" {
		pairs = 100
	}
	taus, sizes := []int{1, 2, 8}, []int{64, 128, 256, 512, 1024, 2048, 4096, 8192}
	moving := []surveytest.State{{Flag: 60, Times: 1, Lasts: 40 * time.Millisecond}, {Flag: 240, Times: 1.5, Lasts: 40 * time.Millisecond}}
	for _, tt := range []struct {
		sessions int
		drift    float64
		states   []surveytest.State
	}{{1, 0.01, nil}, {3, 0.02, nil}, {3, 0.02, moving}} {
		for _, slower := range []float64{1, 1.1} {
			found, cells, differ := 0, 0, 0
			for i := range uint64(pairs) {
				a, _ := simulated(t, "a", tt.sessions, 1, 2*i+100, taus, sizes, tt.states...)
				b, _ := simulated(t, "b", tt.sessions, slower, 2*i+101, taus, sizes, tt.states...)
				c := must.Get(New([]Machine{a, b}, Choice{Sizes: sizes, Test: &fit.Test{Drift: tt.drift, Least: DefaultLeast}}))
				cells, differ = cells+c.Verdict.Cells, differ+c.Verdict.Differ
				if c.Verdict.Differ > 0 {
					found++
				}
			}
			says := fmt.Sprintf("%d sessions, drift %g, %d states, %g times as slow: %d of %d pairs differ, %d of %d cells", tt.sessions, tt.drift, len(tt.states), slower, found, pairs, differ, cells)
			if t.Log(says); cells == 0 || slower > 1 && 5*found < 4*pairs || slower == 1 && (20*found > pairs || 20*differ > cells) {
				t.Error(says)
			}
		}
	}
}
