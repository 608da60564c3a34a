package fit

import (
	"math"

	"github.com/taulop/taulop/internal/lists"
)

// Persistence needs this many quantities of this many launches each.
const leastSeries, leastInSeries = 20, 10

// Persistence is the exponent a, 0 to 1, of launches that resemble those just before: the variance of the mean
// of n consecutive launches falls as n^(a−1) instead of 1/n. It comes from means of 2 to 10 launches of many
// quantities (the variance plot of J. Beran, Statistics for Long-Memory Processes, 1994). series are their
// times by launch, in order; 0 if too few of them are above 0 and long enough.
func Persistence(series [][]float64) float64 {
	var all [][]float64
	longest := 0
	for _, times := range series {
		if _, positive := logVariance(times); positive && len(times) >= leastInSeries {
			all = append(all, lists.Map(times, math.Log))
			longest = max(longest, len(times))
		}
	}
	if len(all) < leastSeries {
		return 0
	}
	var sum, weight float64
	for _, n := range []int{2, 3, 5, 10} {
		if 2*n > longest {
			break
		}
		x := math.Log(float64(n))
		sum, weight = sum+x*math.Log(inflation(all, n)), weight+x*x
	}
	if a := sum / weight; a > 0 { // not NaN, as of launches that do not vary
		return min(a, 1)
	}
	return 0
}

// inflation is the variance of means of n consecutive values over that of n independent ones.
func inflation(series [][]float64, n int) float64 {
	var found, expected float64
	for _, values := range series {
		blocks := len(values) / n
		if blocks < 2 {
			continue
		}
		means := make([]float64, blocks)
		for i := range means {
			means[i], _ = moments(values[i*n : (i+1)*n])
		}
		_, between := moments(means)
		_, each := moments(values)
		found += between * float64(blocks-1)
		expected += each / float64(n) * float64(blocks-1)
	}
	return found / expected
}

// Persistent widens an interval over launches of one session, see Persistence.
func (e Estimate) Persistent(a float64) Estimate {
	if a == 0 || e.Sessions > 1 || !e.Known() || !(e.Lo > 0) {
		return e
	}
	by := math.Pow(float64(e.N), a/2)
	e.Lo, e.Hi = e.Center*math.Pow(e.Lo/e.Center, by), e.Center*math.Pow(e.Hi/e.Center, by)
	return e
}
