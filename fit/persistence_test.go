package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

// Launches that resemble each other widen the interval of one session, so that it holds the centre over all
// sessions; independent ones leave it as it is.
func TestPersistence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const cells, launches = 40, 30
	sessions := func(alike float64) (held, raw, widened float64) {
		const most = 50
		for range most {
			var series [][]float64
			level := r.NormFloat64()
			for range cells {
				series = append(series, nil)
			}
			for range launches { // a level that stays for some ten launches
				if r.Float64() < 0.1 {
					level = r.NormFloat64()
				}
				for i := range series {
					series[i] = append(series[i], 100*math.Exp(0.02*(alike*level+r.NormFloat64())))
				}
			}
			a := Persistence(series)
			for _, times := range series {
				bare := Median(times)
				e := bare.Persistent(a)
				widened += e.Width() / bare.Width() / most / cells
				if bare.Lo <= 100 && 100 <= bare.Hi {
					raw += 1. / most / cells
				}
				if e.Lo <= 100 && 100 <= e.Hi {
					held += 1. / most / cells
				}
			}
		}
		return held, raw, widened
	}
	held, raw, widened := sessions(0)
	check.True(t, raw > 0.93 && held > 0.93 && widened < 1.05, "independent launches: %.2f held, %.2f times as wide", held, widened)
	held, raw, widened = sessions(1)
	check.True(t, held > 0.75 && held > raw+0.15 && widened > 1.3, "launches alike: %.2f held instead of %.2f, %.2f times as wide", held, raw, widened)
}

// Too few quantities, or launches of each, do not tell; nor do times that do not vary, or are 0.
func TestPersistenceUnknown(t *testing.T) {
	steps := func(cells, launches int, time float64) (series [][]float64) {
		for range cells {
			var times []float64
			for i := range launches {
				times = append(times, time*float64(1+i/5))
			}
			series = append(series, times)
		}
		return series
	}
	check.True(t, Persistence(steps(leastSeries, leastInSeries, 1)) > 0.5, "steps of five launches")
	for _, series := range [][][]float64{nil, steps(leastSeries-1, leastInSeries, 1), steps(leastSeries, leastInSeries-1, 1), steps(leastSeries, leastInSeries, 0)} {
		check.Equal(t, Persistence(series), 0, "of %d quantities", len(series))
	}
	flat := make([][]float64, leastSeries)
	for i := range flat {
		flat[i] = []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	}
	check.Equal(t, Persistence(flat), 0, "of times that do not vary")
	several := Estimate{Center: 2, Lo: 1, Hi: 4, N: 9, Sessions: 2}
	check.Equal(t, several.Persistent(1), several, "several sessions")
	check.Equal(t, Unbounded(2).Persistent(1), Unbounded(2), "no interval")
	check.Equal(t, Estimate{Center: 2, Lo: 1, Hi: 4, N: 4}.Persistent(1), Estimate{Center: 2, Lo: 0.5, Hi: 8, N: 4}, "four launches that are one")
}
