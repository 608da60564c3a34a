package compare

import (
	"math"
	"testing"

	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// simulated is three sessions of a simulated machine of 16 cores.
func simulated(t *testing.T, name string, slower float64, seed uint64) (Machine, *surveytest.Simulated) {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 2, 8, 1), Latency: 100 * slower, PerByte: 0.05 * slower, Far: 1,
		Sigma: 0.05, Kappa: 0.004, Noise: 0.01, Cost: func(setups.Work) float64 { return 2000 * slower }}, seed)
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: []int{8192}, Taus: transfers.Taus(16), Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true}}
	for range 3 {
		s.Measure(t, f, transfers.Survey, transfers.Request{Plan: f.Plan})
	}
	return Machine{Name: name, Path: name + ".json", File: f}, s
}

// Of two equal simulated machines no cell differs, of one that is half as fast all do, by the
// simulated factor; and σ and κ are the law's.
func TestSimulatedMachines(t *testing.T) {
	a, law := simulated(t, "a", 1, 5)
	for _, slower := range []float64{1, 2} {
		b, _ := simulated(t, "b", slower, 6)
		c, err := New([]Machine{a, b}, Choice{})
		if err != nil {
			t.Fatal(err)
		}
		if v := c.Verdict; v.Cells == 0 || slower == 1 && v.Differ > 0 || slower > 1 && v.Differ != v.Cells {
			t.Errorf("%g times as slow: %s", slower, v.Text)
		}
		for _, row := range c.Tables[0].Rows {
			if s := row.Scalability; s == nil || math.Abs(s.Sigma.Value/law.Sigma-1) > 0.05 || math.Abs(s.Kappa.Value/law.Kappa-1) > 0.05 {
				t.Errorf("%s: %+v, put in σ = %g, κ = %g", row.Machine, s, law.Sigma, law.Kappa)
			}
			for _, p := range row.Points {
				if p.Ratio != nil && math.Abs(p.Ratio.Value/slower-1) > 0.03 {
					t.Errorf("τ = %d: %g times, put in %g", p.Tau, p.Ratio.Value, slower)
				}
			}
		}
	}
}
