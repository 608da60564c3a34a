package fit

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"github.com/taulop/taulop/internal/lists"
)

// OutlierScore is the robust z-score from which on a machine is an outlier: 3.5,
// as in B. Iglewicz, D. Hoaglin, "How to Detect and Handle Outliers" (1993).
const OutlierScore = 3.5

// LeastSpread keeps machines that are all but alike from being outliers by a
// hair: a spread of less than this share of the median counts as this much.
const LeastSpread = 0.01

// A Spread is a value over machines, pairs or the like; nothing but zeros where none has it.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	// Deviation is 1.4826 times the median absolute deviation from the median:
	// the standard deviation, were they normally distributed.
	Deviation float64 `json:"deviation"`
}

// NewSpread is the spread of values, which it sorts.
func NewSpread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	s := Spread{Median: middle(values), Least: values[0], Most: values[len(values)-1]}
	away := lists.Map(values, func(v float64) float64 { return math.Abs(v - s.Median) })
	slices.Sort(away)
	s.Deviation = 1.4826 * middle(away)
	return s
}

// middle is the median of ascending values.
func middle(v []float64) float64 { return (v[(len(v)-1)/2] + v[len(v)/2]) / 2 }

// outlierEfficiency is the efficiency of the median absolute deviation for normally distributed
// values: of n values it knows as much as the standard deviation of outlierEfficiency·n.
const outlierEfficiency = 0.37

// OutlierP is how often a robust z-score as far from 0 as z is seen by chance among n
// values: Student's distribution, since few values know their deviation badly.
func OutlierP(z float64, n int) float64 {
	return min(1, 2*(1-stats.TDist{V: max(1, outlierEfficiency*float64(n-1))}.CDF(math.Abs(z))))
}

// Z is the robust z-score of a value: by how many Deviations it is above the median, or
// below where it is negative; a deviation below LeastSpread of the median counts as that.
func (s Spread) Z(v float64) float64 {
	d := max(s.Deviation, LeastSpread*s.Median)
	if d == 0 {
		return 0
	}
	const most = 1e6 // of what is absurd anyway
	return min(max((v-s.Median)/d, -most), most)
}
