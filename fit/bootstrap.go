package fit

import "math"

// LeastReplicates is the least number of replicates for a bootstrap interval.
const LeastReplicates = 3

// Bootstrapped returns the centre with a 95 % interval from bootstrap values of it. replicates is the number
// of sessions, or of launches of one session, that were resampled. Logarithms are assumed to be normally
// distributed; Student's quantile and the factor √(n/(n−1)) correct for few replicates (Davison and
// Hinkley, "Bootstrap Methods and their Application", sections 2.3 and 5.2). The interval is unknown for
// fewer than LeastReplicates and for values not above 0.
func Bootstrapped(center float64, drawn []float64, replicates int) Estimate {
	e := Unbounded(center)
	e.N = replicates
	if v, known := (Drawn{Center: center, Values: drawn, Replicates: replicates}).variance(); known {
		half := quantile(v.df, 1-(1-Confidence)/2) * math.Sqrt(v.variance)
		e.Lo, e.Hi = center*math.Exp(-half), center*math.Exp(half)
	}
	return e
}

// Drawn is a quantity and its bootstrap values, as in Bootstrapped.
type Drawn struct {
	Center     float64
	Values     []float64
	Replicates int
	// Sessions is the number of sessions if their launches were resampled, so that Values lack the
	// variation between sessions. 0: sessions were resampled.
	Sessions int
}

// variance is the variance of the logarithm; unknown for too few replicates.
func (d Drawn) variance() (v part, known bool) {
	variance, known := logVariance(d.Values)
	if !known || d.Replicates < LeastReplicates || !(d.Center > 0) {
		return v, false
	}
	n := float64(d.Replicates)
	return part{variance * n / (n - 1), n - 1}, true
}

// CompareDrawn tests the ratio of b to a as Compare does, for two quantities with independent bootstrap
// values.
func (t Test) CompareDrawn(a, b Drawn) Difference {
	va, known := a.variance()
	vb, knownB := b.variance()
	if !known || !knownB {
		return Difference{Ratio: b.Center / a.Center, Hi: math.Inf(1), P: 1, Visible: math.Inf(1)}
	}
	parts := []part{va, vb}
	for _, d := range []Drawn{a, b} {
		if d.Sessions > 0 && t.Drift > 0 {
			parts = append(parts, part{t.Drift * t.Drift / float64(d.Sessions), driftWeight})
		}
	}
	return t.difference(math.Log(b.Center/a.Center), parts)
}
