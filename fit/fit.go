// Package fit turns samples of time into the parameters of τ-Lop.
//
// Its opinion: times are not normally distributed, so centres are medians and intervals come from order
// statistics. Arithmetic propagates intervals for any correlation of errors, because drift of a machine
// affects all times: intervals are rather too wide. Conditions of the model are checked and reported, and
// violations are not repaired.
package fit

import (
	"encoding/json"
	"math"
	"slices"
	"sync"

	"github.com/aclements/go-moremath/stats"

	"github.com/taulop/taulop/internal/lists"
)

// Confidence is the level of every interval, 95 %.
const Confidence = 0.95

// An Estimate is a value with its confidence interval, in the unit of the samples, mostly ns.
type Estimate struct {
	Center float64
	Lo, Hi float64 // −Inf and +Inf: too few samples for an interval
	N      int     // samples, or launches if known; the least of the operands
	// Sessions is the number of sessions that the interval covers; 0: it covers the launches of one
	// session, and not the variation between sessions.
	Sessions int
}

// Unbounded is a value with an unknown interval.
func Unbounded(v float64) Estimate { return Estimate{Center: v, Lo: math.Inf(-1), Hi: math.Inf(1)} }

// Median estimates the median of samples and its distribution-free confidence interval (order statistics,
// at least 6 samples; Hoefler & Belli, SC15, section 3.1.3). samples is not changed.
func Median(samples []float64) Estimate {
	if len(samples) == 0 {
		return Unbounded(math.NaN())
	}
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	center, lo, hi := medianInterval(len(sorted)).SampleCI(stats.Sample{Xs: sorted, Sorted: true})
	e := Unbounded(center)
	if e.N = len(samples); !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		e.Lo, e.Hi = lo, hi
	}
	return e
}

// medianInterval has the order statistics of n samples that bound the median.
func medianInterval(n int) stats.QuantileCIResult {
	if few := fewIntervals(); n < len(few) {
		return few[n]
	}
	return stats.QuantileCI(n, 0.5, Confidence)
}

// fewIntervals has the intervals of up to 63 samples, which take sums of binomial probabilities.
var fewIntervals = sync.OnceValue(func() []stats.QuantileCIResult {
	few := make([]stats.QuantileCIResult, 64)
	for n := 1; n < len(few); n++ {
		few[n] = stats.QuantileCI(n, 0.5, Confidence)
	}
	return few
})

// Known reports whether there were enough samples for an interval.
func (e Estimate) Known() bool {
	return !math.IsInf(e.Lo, 0) && !math.IsInf(e.Hi, 0) && !math.IsNaN(e.Center)
}

// Width is the relative half-width of the interval: 0.01 for ±1 %; +Inf: unknown.
func (e Estimate) Width() float64 {
	if !e.Known() {
		return math.Inf(1)
	}
	if e.Center == 0 {
		return 0
	}
	return (e.Hi - e.Lo) / 2 / math.Abs(e.Center)
}

// Noise is Width without what Student's distribution adds for few sessions: the interval of two is six times
// as wide as their difference makes it.
func (e Estimate) Noise() float64 {
	if e.Sessions < 2 || !e.Known() || !(e.Lo > 0) {
		return e.Width()
	}
	const many = 1e6 // sessions
	p := 1 - (1-Confidence)/2
	return math.Log(e.Hi/e.Lo) / 2 * quantile(many, p) / quantile(float64(e.Sessions-1), p)
}

// Scale multiplies by f > 0.
func (e Estimate) Scale(f float64) Estimate {
	return Estimate{e.Center * f, e.Lo * f, e.Hi * f, e.N, e.Sessions}
}

// Sub subtracts o. The bounds hold for any correlation of the errors.
func (e Estimate) Sub(o Estimate) Estimate {
	return Estimate{e.Center - o.Center, e.Lo - o.Hi, e.Hi - o.Lo, min(e.N, o.N), min(e.Sessions, o.Sessions)}
}

// Div divides by o > 0. The bounds hold for any correlation of the errors, and are unknown if one of the
// operands' is.
func (e Estimate) Div(o Estimate) Estimate {
	q := Unbounded(e.Center / o.Center)
	q.N, q.Sessions = min(e.N, o.N), min(e.Sessions, o.Sessions)
	if e.Known() && o.Known() && o.Lo > 0 {
		q.Lo, q.Hi = e.Lo/o.Hi, e.Hi/o.Lo
	}
	return q
}

// Rate is amount per time: bytes per ns are GB/s. Its interval is unknown if the time's is.
func (e Estimate) Rate(amount float64) Estimate {
	return Estimate{Center: amount, Lo: amount, Hi: amount, N: e.N, Sessions: e.Sessions}.Div(e)
}

// Differ reports whether both intervals are known and do not overlap.
func (e Estimate) Differ(o Estimate) bool {
	return e.Known() && o.Known() && (e.Hi < o.Lo || o.Hi < e.Lo)
}

// Mean is the mean of estimates, without those that have no value. Its relative bounds are the means of those
// that have an interval.
func Mean(es []Estimate) Estimate {
	valued := lists.Filter(es, func(e Estimate) bool { return !math.IsNaN(e.Center) })
	if len(valued) == 0 {
		return Median(nil)
	}
	known := lists.Filter(valued, Estimate.Known)
	if len(known) == 0 {
		known = valued
	}
	sum := func(es []Estimate) Estimate {
		s := Estimate{N: es[0].N, Sessions: es[0].Sessions}
		for _, e := range es {
			s = Estimate{s.Center + e.Center, s.Lo + e.Lo, s.Hi + e.Hi, min(s.N, e.N), min(s.Sessions, e.Sessions)}
		}
		return s
	}
	of := sum(known)
	return of.Scale(sum(valued).Center / float64(len(valued)) / of.Center)
}

// MarshalJSON writes center, lo, hi and n; unknown values are null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(estimateJSON{known(e.Center), known(e.Lo), known(e.Hi), e.N, e.Sessions})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var j estimateJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	value := func(p *float64, unknown float64) float64 {
		if p == nil {
			return unknown
		}
		return *p
	}
	*e = Estimate{value(j.Center, math.NaN()), value(j.Lo, math.Inf(-1)), value(j.Hi, math.Inf(1)), j.N, j.Sessions}
	return nil
}

type estimateJSON struct {
	Center *float64 `json:"center"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	N      int      `json:"n"`

	Sessions int `json:"sessions,omitempty"`
}

// Quantile is the q-quantile of ascending values; NaN if there are none.
func Quantile(ascending []float64, q float64) float64 {
	if len(ascending) == 0 {
		return math.NaN()
	}
	return ascending[min(len(ascending)-1, int(q*float64(len(ascending))))]
}
