package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// A Test is how two sets of replicates are compared.
type Test struct {
	// Drift is what the centres of sessions are taken to differ by where nothing
	// else did, a relative standard deviation: one session shows none. Sessions
	// that were measured outweigh it, the more of them there are.
	Drift float64
	// Least is the ratio, less 1, that a difference must exceed to count as one.
	Least float64
}

// driftWeight is how many degrees of freedom the assumed drift counts as.
const driftWeight = 4

// power is how often a difference as large as Visible is to be found.
const power = 0.9

// halfLevel is what a correction for many tests leaves of the level where half of them differ.
const halfLevel = (1 - Confidence) / 2

// A Difference is what replicates say about the ratio of two quantities.
type Difference struct {
	Ratio  float64 // of the centres, second to first
	Lo, Hi float64 // its 95 % interval
	// P is how often replicates such as these are seen where the ratio is within
	// the least effect of 1. It is 1 where there are too few of them to tell.
	P float64
	// Visible is the ratio, less 1, that would have been found 9 times of 10 among
	// tests of which half differ as much, corrected for their number (Adjust).
	Visible float64
	Tested  bool
}

// leastLaunches is how many launches an interval takes, and with it a test.
const leastLaunches = 6

// Compare tests the ratio of b to a. Sessions are the replicates: what launches of
// one session differ by only adds to their error. The test is Welch's on
// logarithms, with the variance between sessions moderated by the assumed drift.
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

// A part is one of the variances of a logarithm, and its degrees of freedom.
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

// SessionsFor is the number of further sessions for each side that would see half of the
// difference that `sessions` see, if sessions go on to differ as found or assumed; 0 if twenty
// times as many would not.
func (t Test) SessionsFor(sessions int, visible float64) int {
	seen := func(k int) float64 { // but for the spread itself
		df := driftWeight + 2*float64(k-1)
		return (quantile(df, 1-halfLevel/2) + quantile(df, power)) * math.Sqrt(2/float64(k))
	}
	least := math.Log1p(t.Least)
	now := math.Log1p(visible) - least
	for more := 1; more <= 20*sessions; more++ {
		if math.Expm1(least+now*seen(sessions+more)/seen(sessions)) <= visible/2 {
			return more
		}
	}
	return 0
}

// Above is the probability of a mean as far above zero where there is no difference, for a standard error
// of df degrees of freedom.
func Above(mean, standardError float64, df int) float64 {
	return 1 - stats.TDist{V: float64(df)}.CDF(mean/max(standardError, 1e-9))
}

// Adjust corrects p-values, 0 … 1, for their number (Y. Benjamini and Y. Hochberg, 1995): among
// tests with an adjusted value below 0.05 at most 1 in 20 is expected to be a false positive.
// The order is that of ps, which is not changed.
func Adjust(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted, least := make([]float64, len(ps)), 1.
	for rank := len(ps); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, ps[i]*float64(len(ps))/float64(rank))
		adjusted[i] = least
	}
	return adjusted
}
