package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"github.com/taulop/taulop/internal/lists"
)

// A Test compares two sets of replicates.
type Test struct {
	// Drift is the assumed variation between sessions, a relative standard deviation, since one session
	// shows none. The more sessions there are, the less it counts.
	Drift float64
	// Least is the least effect: the ratio, less 1, that a difference must exceed.
	Least float64
}

// driftWeight is the number of degrees of freedom of the assumed drift.
const driftWeight = 4

// power is the probability of finding a difference as large as Visible.
const power = 0.9

// halfLevel is the significance level that Adjust leaves if half of the tests have a difference.
const halfLevel = (1 - Confidence) / 2

// A Difference is a test's result about the ratio of two quantities.
type Difference struct {
	Ratio  float64 // of the centres, second to first
	Lo, Hi float64 // its 95 % interval
	// P is the p-value of the hypothesis that the ratio is within the least effect of 1; 1 for too few
	// replicates.
	P float64
	// Visible is the minimum detectable effect: the ratio, less 1, that is found with probability power
	// among tests of which half differ as much, corrected by Adjust.
	Visible float64
	Tested  bool
}

// leastLaunches is the least number of launches for an interval of the median, and for a test.
const leastLaunches = 6

// Compare tests the ratio of b to a by Welch's test on logarithms. Sessions are the replicates, and the
// variation between launches adds to their error. The variance between sessions is moderated by the
// assumed drift.
func (t Test) Compare(a, b Replicates) Difference {
	a, b = a.filled(), b.filled()
	d := Difference{Ratio: math.NaN(), Lo: 0, Hi: math.Inf(1), P: 1, Visible: math.Inf(1)}
	d.Ratio = b.Estimate().Center / a.Estimate().Center
	if a.Launches() < leastLaunches || b.Launches() < leastLaunches {
		return d
	}
	la, va := a.logs()
	lb, vb := b.logs()
	if la == nil || lb == nil {
		return d
	}
	ma, sa := moments(la)
	mb, sb := moments(lb)
	ka, kb := float64(len(la)), float64(len(lb))
	measured := ka + kb - 2
	s := (driftWeight*t.Drift*t.Drift + (ka-1)*sa + (kb-1)*sb) / (driftWeight + measured)
	parts := []part{
		{s * (1/ka + 1/kb), driftWeight + measured},
		{va / ka, float64(a.Launches()) - ka},
		{vb / kb, float64(b.Launches()) - kb},
	}
	if t.Drift == 0 && measured == 0 {
		parts = parts[1:]
	}
	return t.difference(mb-ma, parts)
}

// A part is a component of the variance of a logarithm, with its degrees of freedom.
type part struct{ variance, df float64 }

// difference is Welch's test of the logarithm of a ratio.
func (t Test) difference(log float64, parts []part) (d Difference) {
	var variance, squares float64
	for _, p := range parts {
		variance += p.variance
		squares += p.variance * p.variance / max(1, p.df)
	}
	se := math.Sqrt(variance)
	if !(se > 0) {
		se, squares = 1e-9, 1e-36
	}
	df := max(1, se*se*se*se/squares)
	half := quantile(df, 1-(1-Confidence)/2) * se
	d.Tested = true
	d.Ratio, d.Lo, d.Hi = math.Exp(log), math.Exp(log-half), math.Exp(log+half)
	least := math.Log1p(t.Least)
	d.P = min(1, 2*(1-stats.TDist{V: df}.CDF((math.Abs(log)-least)/se)))
	d.Visible = math.Exp(least+(quantile(df, 1-halfLevel/2)+quantile(df, power))*se) - 1
	return d
}

// SessionsFor is the number of further sessions on each side that would halve the minimum detectable effect
// visible of that many sessions, at the same variation between sessions and the same least effect; 0 if more
// than 20 times as many would be needed.
func SessionsFor(sessions int, visible, least float64) int {
	detectable := func(k int) float64 { // relative to the standard deviation
		df := driftWeight + 2*float64(k-1)
		return (quantile(df, 1-halfLevel/2) + quantile(df, power)) * math.Sqrt(2/float64(k))
	}
	least = math.Log1p(least)
	now := math.Log1p(visible) - least
	for more := 1; more <= 20*sessions; more++ {
		if math.Expm1(least+now*detectable(sessions+more)/detectable(sessions)) <= visible/2 {
			return more
		}
	}
	return 0
}

// Above is the one-sided p-value of a mean above zero, for a standard error with df degrees of freedom.
func Above(mean, standardError float64, df int) float64 {
	return 1 - stats.TDist{V: float64(df)}.CDF(mean/max(standardError, 1e-9))
}

// Adjust corrects p-values for multiple testing (Y. Benjamini and Y. Hochberg, 1995): among tests with an
// adjusted value below 0.05 at most 1 in 20 is expected to be a false positive. ps is not changed.
func Adjust(ps []float64) []float64 {
	order := lists.Indices(len(ps))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted, least := make([]float64, len(ps)), 1.
	for rank := len(ps); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, ps[i]*float64(len(ps))/float64(rank))
		adjusted[i] = least
	}
	return adjusted
}
