package fit

import "math"

// LeastReplicates are the fewest that an interval of drawn replicates needs.
const LeastReplicates = 3

// Bootstrapped returns the centre with a 95 % interval from values drawn with replacement.
// replicates is the number of sessions, or of launches of one session. It assumes that
// logarithms are normal; Student's quantile and the factor √(n/(n−1)) correct for few
// replicates (Davison and Hinkley, "Bootstrap Methods and their Application", sections 2.3 and
// 5.2). The interval is unknown for fewer than LeastReplicates and for values not above 0.
func Bootstrapped(center float64, drawn []float64, replicates int) Estimate {
	e := Estimate{Center: center, Lo: math.Inf(-1), Hi: math.Inf(1), N: replicates}
	v, known := Drawn{Center: center, Values: drawn, Replicates: replicates}.variance()
	if !known {
		return e
	}
	half := quantile(v.df, 1-(1-Confidence)/2) * math.Sqrt(v.variance)
	e.Lo, e.Hi = center*math.Exp(-half), center*math.Exp(half)
	return e
}

// Drawn is a quantity as Bootstrapped takes it: its value, and its values under replicates drawn again.
type Drawn struct {
	Center     float64
	Values     []float64
	Replicates int
	// Sessions is the number of sessions whose launches were drawn: Values then lack what
	// another hour changes. 0: sessions were drawn.
	Sessions int
}

// variance is the variance of the logarithm; known is false for too few replicates.
func (d Drawn) variance() (v part, known bool) {
	variance, known := logVariance(d.Values)
	if !known || d.Replicates < LeastReplicates || !(d.Center > 0) {
		return v, false
	}
	n := float64(d.Replicates)
	return part{variance * n / (n - 1), n - 1}, true
}

// CompareDrawn tests the ratio of b to a as Compare does, where each is known by what
// follows from replicates that were drawn again, independently of the other's.
func (t Test) CompareDrawn(a, b Drawn) Difference {
	va, known := a.variance()
	vb, too := b.variance()
	if !known || !too {
		return Difference{Ratio: b.Center / a.Center, Hi: math.Inf(1), P: 1, Visible: math.Inf(1)}
	}
	parts := []part{va, vb}
	for _, of := range []Drawn{a, b} {
		if of.Sessions > 0 && t.Drift > 0 {
			parts = append(parts, part{t.Drift * t.Drift / float64(of.Sessions), driftWeight})
		}
	}
	return t.difference(math.Log(b.Center/a.Center), parts)
}
