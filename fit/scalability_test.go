package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// Intervals of 1 and of 2.776 standard errors have the coverage of Student's t with 4 degrees of freedom: 62.6 %
// and 95 %.
func TestStandardErrors(t *testing.T) {
	const trials, sigma, kappa, startup, perByte, noise = 2000, 0.2, 0.02, 500, 0.2, 0.02
	r := rand.New(rand.NewPCG(1, 2))
	off := func(c Coefficient, truth float64) float64 { return math.Abs(c.Value-truth) / c.Error }
	taus, ms := []int{1, 2, 3, 4, 5, 6, 8}, []int{64, 512, 4096, 16384, 65536, 1 << 20}
	for name, fit := range map[string]func() (off []float64, residual float64, err error){
		"scalability": func() ([]float64, float64, error) {
			L := lists.Map(taus, func(tau int) float64 {
				t := float64(tau)
				return 1000 * (1 + sigma*(t-1) + kappa*t*(t-1)) * (1 + noise*r.NormFloat64())
			})
			s, err := ScalabilityOf(taus, L)
			return []float64{off(s.Sigma, sigma), off(s.Kappa, kappa)}, s.Residual, err
		},
		"line": func() ([]float64, float64, error) {
			times := lists.Map(ms, func(m int) float64 { return (startup + float64(m)*perByte) * (1 + noise*r.NormFloat64()) })
			l, err := LineOf(ms, times)
			return []float64{off(l.Startup, startup), off(l.PerByte, perByte)}, l.Residual, err
		},
	} {
		var one, wide [2]float64
		var residual float64
		for range trials {
			off, deviation, err := fit()
			must.Do(err)
			residual += deviation * deviation / trials
			for i, off := range off {
				if off < 1 {
					one[i] += 1. / trials
				}
				if off < 2.776 {
					wide[i] += 1. / trials
				}
			}
		}
		for i := range one {
			check.Near(t, one[i], 0.626, 0.04, "%s, cost %d: within one standard error", name, i)
			check.Near(t, wide[i], 0.95, 0.02, "%s, cost %d: within 2.776", name, i)
		}
		check.Near(t, math.Sqrt(residual), noise, 0.001, "%s: residual", name)
	}
}

func TestScalabilityBounds(t *testing.T) {
	// L grows ever more slowly: coherence would be negative.
	s, err := ScalabilityOf([]int{1, 2, 4, 8}, []float64{100, 150, 200, 230})
	check.True(t, err == nil && s.Kappa.Held && s.Kappa.Value == 0 && !s.Sigma.Held && s.Sigma.Value > 0 && s.Poor(), "%+v, %v", s, err)
	// L falls: both would be.
	if s, err := ScalabilityOf([]int{1, 2, 3, 4}, []float64{100, 99, 98, 97}); err != nil || !s.Sigma.Held || !s.Kappa.Held {
		t.Errorf("%+v, %v", s, err)
	}
	for _, L := range [][]float64{{1, 2, 3}, {0, 1, 2, 3}, {1, 2, 3, math.NaN()}, {1, 2, 3, math.Inf(1)}} {
		check.Error(t, must.Err(ScalabilityOf([]int{1, 2, 3, 4}[:len(L)], L)), "%v", L)
	}
	if s, err := ScalabilityOf([]int{7, 7, 7, 7}, []float64{1, 2, 3, 4}); err != nil || !s.Sigma.Held { // one τ does not determine σ and κ
		t.Errorf("%+v, %v", s, err)
	}
}
