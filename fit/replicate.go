package fit

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"github.com/taulop/taulop/internal/lists"
)

// Replicates are the values of a quantity, such as a time in ns, by session, and within a session by
// launch. A launch is a fresh process with fresh memory; a session is a run of consecutive launches, and
// another session runs in another hour.
type Replicates [][]float64

// Launches counts the values of all sessions.
func (r Replicates) Launches() int {
	return lists.Sum(r, func(session []float64) int { return len(session) })
}

// WidestFactor limits the upper bound of an interval over sessions, relative to its centre. Student's
// interval of two very different sessions would be far wider.
const WidestFactor = 1e6

// Estimate is the centre and its 95 % interval. For one session it is the median over launches with its
// distribution-free interval, which does not cover the variation between sessions. For several it is the
// geometric mean of their medians with Student's interval (Hoefler & Belli, SC15, section 3.1.3, rules 5
// and 6), but not narrower than the variation between launches allows, and not wider than WidestFactor.
func (r Replicates) Estimate() Estimate {
	r = r.filled()
	if len(r) < 2 {
		return Median(slices.Concat(r...))
	}
	e := Estimate{N: r.Launches(), Sessions: len(r)}
	logs, launches := r.logs()
	if logs == nil { // a value of 0 has no logarithm
		all := lists.Map(r, func(session []float64) float64 { return Median(session).Center })
		m := Median(all)
		m.N, m.Sessions = e.N, e.Sessions
		return m
	}
	k := float64(len(logs))
	center, variance := moments(logs)
	half := min(quantile(k-1, 1-(1-Confidence)/2)*math.Sqrt(max(variance/k, launches/k)), math.Log(WidestFactor))
	e.Center, e.Lo, e.Hi = math.Exp(center), math.Exp(center-half), math.Exp(center+half)
	return e
}

// Center is the centre of Estimate, at less cost.
func (r Replicates) Center() float64 {
	r = r.filled()
	if len(r) == 0 {
		return math.NaN()
	}
	centers := make([]float64, len(r))
	sum := 0.0
	for i, session := range r {
		centers[i] = middle(slices.Sorted(slices.Values(session)))
		sum += math.Log(centers[i])
	}
	slices.Sort(centers)
	if len(r) > 1 && centers[0] > 0 {
		return math.Exp(sum / float64(len(r)))
	}
	return middle(centers)
}

// Scale multiplies all values.
func (r Replicates) Scale(f float64) {
	for _, session := range r {
		for i := range session {
			session[i] *= f
		}
	}
}

// filled leaves out sessions without values.
func (r Replicates) filled() Replicates {
	return lists.Filter(r, func(session []float64) bool { return len(session) > 0 })
}

// medianError is the ratio of the standard errors of median and mean for normally distributed values:
// √(π/2).
const medianError = 1.2533

// logs are the logarithms of the sessions' medians, and the mean of these medians' variances as estimated
// from launches; nil if a value is not above 0.
func (r Replicates) logs() (centers []float64, launches float64) {
	known := 0
	for _, session := range r {
		c := Median(session).Center
		if !(c > 0) {
			return nil, 0
		}
		centers = append(centers, math.Log(c))
		if v, ok := logVariance(session); ok {
			launches += medianError * medianError * v / float64(len(session))
			known++
		}
	}
	return centers, launches / float64(max(1, known))
}

// logVariance is the variance of logarithms, of at least two values above 0.
func logVariance(values []float64) (variance float64, ok bool) {
	if len(values) < 2 {
		return 0, false
	}
	logs := make([]float64, len(values))
	for i, v := range values {
		if !(v > 0) {
			return 0, false
		}
		logs[i] = math.Log(v)
	}
	_, variance = moments(logs)
	return variance, true
}

// moments are the mean and the sample variance.
func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(max(1, len(values)-1))
}

// quantile is the p-quantile of Student's distribution with df degrees of freedom, p above 1/2, by Newton's
// method on the logarithm of the tail, which is long.
func quantile(df, p float64) float64 {
	d := stats.TDist{V: df}
	x := 1.
	for range 100 {
		tail := 1 - d.CDF(x)
		step := x * math.Log(tail/(1-p)) * tail / (x * d.PDF(x))
		next := max(x+min(step, 4*x), x/4)
		if math.Abs(next-x) <= 1e-10*x {
			return next
		}
		x = next
	}
	return x
}

// Components are components of variation as relative standard deviations: 0.02 for 2 %. NaN: unknown, as
// there was one launch or one session.
type Components struct {
	Launches float64 // between launches of a session
	Sessions float64 // between the medians of sessions
}

// Components are the components of the values' variation.
func (r Replicates) Components() Components {
	c := Components{math.NaN(), math.NaN()}
	var sum, weight float64
	for _, session := range r {
		if v, ok := logVariance(session); ok {
			n := float64(len(session) - 1)
			sum, weight = sum+n*v, weight+n
		}
	}
	if weight > 0 {
		c.Launches = math.Sqrt(sum / weight)
	}
	if r = r.filled(); len(r) > 1 {
		if logs, _ := r.logs(); logs != nil {
			_, v := moments(logs)
			c.Sessions = math.Sqrt(v)
		}
	}
	return c
}
