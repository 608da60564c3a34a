package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// A fit returns the costs that times were made of: in Tables 3 and 6 of usc-hpc-benchmarks-1999, the IBM SP, T_n =
// 120 ns, T_c = 135 ns, T_e = 100 ns, and a disk's 1.0 ms and 255 MB/s. Negative costs are held at 0.
func TestSum(t *testing.T) {
	var passes, transfers [][]float64
	var falling []float64
	for _, n := range []float64{512, 1024, 5120} {
		for _, s := range []float64{1, 4, 8, 16, 32} {
			passes = append(passes, []float64{n, min(n, n*s/16), s}) // lines of 16 elements
		}
	}
	for m := 1 << 16; m <= 16<<20; m *= 2 {
		transfers = append(transfers, []float64{1, float64(m)})
		falling = append(falling, max(1, float64(m)-1e4))
	}
	for _, tt := range []struct {
		terms [][]float64
		costs []float64
	}{{passes, []float64{120, 135, 100}}, {transfers, []float64{1e6, 1 / .255}}} {
		made := Sum{Costs: lists.Map(tt.costs, func(c float64) Coefficient { return Coefficient{Value: c} })}
		times := lists.Map(tt.terms, func(row []float64) float64 { return made.Time(row...) })
		line, err := SumOf(tt.terms, times)
		check.Need(t, err == nil && line.Residual <= 1e-6 && line.N == len(times), "%+v, %v", line, err)
		for j, c := range line.Costs {
			check.True(t, close(c.Value, tt.costs[j], 1e-6) && !c.Held, "cost %d is %+v, the table says %g ns", j, c, tt.costs[j])
		}
	}
	line, err := SumOf(transfers, falling)
	check.True(t, err == nil && line.Costs[0].Held && line.Costs[0].Value == 0 && line.Costs[1].Value > 0, "%+v, %v", line, err)
}

func TestSumRefuses(t *testing.T) {
	for _, tt := range []struct {
		terms [][]float64
		times []float64
	}{
		{nil, nil}, {[][]float64{{1, 1}}, []float64{1}}, {[][]float64{{1}, {2}}, []float64{1}}, {[][]float64{{1}, {2}}, []float64{1, 0}},
		{[][]float64{{1}, {2}}, []float64{1, math.NaN()}}, {[][]float64{{0}, {0}}, []float64{1, 1}},
	} {
		check.Error(t, must.Err(SumOf(tt.terms, tt.times)), "%v of %v", tt.times, tt.terms)
	}
	// With one stride lines and elements are linearly dependent.
	line, err := SumOf([][]float64{{512, 32, 1}, {1024, 64, 1}, {2048, 128, 1}}, []float64{1000, 2000, 4000})
	check.True(t, err == nil && close(line.Time(4096, 256, 1), 8000, 1e-3), "%+v, %v", line, err)
}

// Time is the fitted time of a row of terms.
func (l Sum) Time(terms ...float64) (t float64) {
	for j, c := range l.Costs {
		t += c.Value * terms[j]
	}
	return t
}

// Coefficients that would be negative are held at 0.
func TestLineHolds(t *testing.T) {
	exact := must.Get(LineOf([]int{8, 8, 64, 4096}, []float64{29080, 29080, 29640, 69960})) // the T3E of Kang et al. 1999, Table 4
	got := exact.At(2_000_000)
	check.True(t, math.Abs(got-20_029_000) <= 1 && exact.N == 4 && !exact.Startup.Held, "%+v: 2 MB take %g ns, want 20.029 ms", exact, got)
	l, err := LineOf([]int{100, 1000, 10000}, []float64{1000, 900, 800})
	check.True(t, err == nil && l.PerByte.Held && l.PerByte.Value == 0, "%+v, %v: want τ_d held at 0", l, err)
	check.True(t, !l.Startup.Held && math.Abs(l.Startup.Value-900) <= 30, "%+v: want τ_s of about 900", l)
}

func TestBadLine(t *testing.T) {
	contains.Error(t, must.Err(LineOf([]int{1, 2, 3}, []float64{1, 2})), "3 rows of terms for 2 times")
	contains.Error(t, must.Err(LineOf([]int{1, 2, 2}, []float64{1, 2, 2})), "too few sizes")
	contains.Error(t, must.Err(LineOf([]int{1, 2, 3}, []float64{1, 0, 3})), "0 is no time to fit")
	contains.Error(t, must.Err(LineOf([]int{1, 2, 3}, []float64{1, math.NaN(), 3})), "NaN")
}

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
		var narrow, wide [2]float64
		var residual float64
		for range trials {
			off, deviation, err := fit()
			must.Do(err)
			residual += deviation * deviation / trials
			for i, off := range off {
				narrow[i] += float64(one(off < 1)) / trials
				wide[i] += float64(one(off < 2.776)) / trials
			}
		}
		for i := range narrow {
			check.Near(t, narrow[i], 0.626, 0.04, "%s, cost %d: within one standard error", name, i)
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
	s, err = ScalabilityOf([]int{1, 2, 3, 4}, []float64{100, 99, 98, 97})
	check.True(t, err == nil && s.Sigma.Held && s.Kappa.Held, "%+v, %v", s, err)
	for _, L := range [][]float64{{1, 2, 3}, {0, 1, 2, 3}, {1, 2, 3, math.NaN()}, {1, 2, 3, math.Inf(1)}} {
		check.Error(t, must.Err(ScalabilityOf([]int{1, 2, 3, 4}[:len(L)], L)), "%v", L)
	}
	s, err = ScalabilityOf([]int{7, 7, 7, 7}, []float64{1, 2, 3, 4}) // one τ does not determine σ and κ
	check.True(t, err == nil && s.Sigma.Held, "%+v, %v", s, err)
}
