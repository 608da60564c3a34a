package fit

import "math"

// LeastReplicates are the fewest that an interval of drawn replicates needs.
const LeastReplicates = 3

// Bootstrapped is the centre with the 95 % interval that drawn says: what the quantity
// is under replicates that were drawn again with replacement, of so many (sessions, or
// launches of one). Logarithms are taken as normal, and Student's quantile and the factor
// √(n/(n−1)) make up for few of them (Davison and Hinkley, "Bootstrap Methods and their
// Application", sections 2.3 and 5.2). It is unknown of fewer than LeastReplicates, and where
// a value is not above 0.
func Bootstrapped(center float64, drawn []float64, replicates int) Estimate {
	e := Estimate{Center: center, Lo: math.Inf(-1), Hi: math.Inf(1), N: replicates}
	if replicates < LeastReplicates || len(drawn) < 2 || !(center > 0) {
		return e
	}
	logs := make([]float64, len(drawn))
	for i, v := range drawn {
		if !(v > 0) {
			return e
		}
		logs[i] = math.Log(v)
	}
	n := float64(replicates)
	_, variance := moments(logs)
	half := quantile(n-1, 1-(1-Confidence)/2) * math.Sqrt(variance*n/(n-1))
	e.Lo, e.Hi = center*math.Exp(-half), center*math.Exp(half)
	return e
}
