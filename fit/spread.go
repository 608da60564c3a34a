package fit

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"github.com/taulop/taulop/internal/lists"
)

// OutlierScore is the least robust z-score of an outlier: 3.5, as in B. Iglewicz, D. Hoaglin, "How to Detect
// and Handle Outliers" (1993).
const OutlierScore = 3.5

// LeastSpread is the least deviation of Z, relative to the median, so that tiny differences between equal
// machines make no outlier.
const LeastSpread = 0.01

// A Spread is the distribution of a value over machines or pairs; zero if there are no values.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	// Deviation is 1.4826 times the median absolute deviation: the standard deviation of normally
	// distributed values.
	Deviation float64 `json:"deviation"`
}

// NewSpread is the spread of values, which it sorts.
func NewSpread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	s := Spread{Median: middle(values), Least: values[0], Most: values[len(values)-1]}
	deviations := lists.Map(values, func(v float64) float64 { return math.Abs(v - s.Median) })
	slices.Sort(deviations)
	s.Deviation = 1.4826 * middle(deviations)
	return s
}

// middle is the median of ascending values.
func middle(v []float64) float64 { return (v[(len(v)-1)/2] + v[len(v)/2]) / 2 }

// outlierEfficiency is the asymptotic efficiency of the median absolute deviation for normally distributed
// values.
const outlierEfficiency = 0.37

// OutlierP is the two-sided p-value of a robust z-score among n values, by Student's distribution, since the
// deviation of few values is uncertain.
func OutlierP(z float64, n int) float64 {
	return min(1, 2*(1-stats.TDist{V: max(1, outlierEfficiency*float64(n-1))}.CDF(math.Abs(z))))
}

// Z is the robust z-score of a value: its distance from the median in Deviations, negative below the median.
// The deviation is at least LeastSpread of the median.
func (s Spread) Z(v float64) float64 {
	d := max(s.Deviation, LeastSpread*s.Median)
	if d == 0 {
		return 0
	}
	const most = 1e6 // keeps scores finite
	return min(max((v-s.Median)/d, -most), most)
}
