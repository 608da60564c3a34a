package fit

import (
	"fmt"
	"math"
)

// A Sum is a fit of times that are sums of terms, each a cost times a number of
// things that cost it.
type Sum struct {
	Costs []Coefficient `json:"costs_ns"` // of each term
	// Residual is the standard deviation of the times about the fit, relative to
	// them: 0.02 for 2 %. It is 0 where there are no more times than costs.
	Residual float64 `json:"residual"`
	N        int     `json:"n"` // times that went in
}

// mostTerms of a Sum.
const mostTerms = 3

// SumOf fits T[i] = Σ_j cost_j·terms[i][j] by least squares of relative errors.
// No cost becomes negative: those that would, and those that the numbers do not
// tell from others, later ones first, are held at 0. With T_n·N + T_c·N_c + T_e·S
// it is eq. (4) of usc-hpc-benchmarks-1999, with T_s + m·τ_d the cost of a disk,
// section 5.2.3. It fails where there are fewer times than terms.
func SumOf(terms [][]float64, T []float64) (Sum, error) {
	if len(terms) != len(T) || len(T) == 0 || len(terms[0]) > mostTerms {
		return Sum{}, fmt.Errorf("%d rows of terms for %d times", len(terms), len(T))
	}
	p := len(terms[0])
	if len(T) < p {
		return Sum{}, fmt.Errorf("too few times for a fit: %d of at least %d", len(T), p)
	}
	for _, t := range T {
		if !(t > 0) || math.IsInf(t, 0) {
			return Sum{}, fmt.Errorf("%g is no time to fit", t)
		}
	}
	var best Sum
	most, least := 0, math.Inf(1)
	// Of the fits with all costs, or the first that are free, the closest.
	for set := 1<<p - 1; set > 0; set-- {
		var free []int
		for j := range p {
			if set>>(p-1-j)&1 == 1 {
				free = append(free, j)
			}
		}
		if sum, squares, ok := sumOf(terms, T, free); ok && squares < least*(1-1e-9) {
			best, least, most = sum, squares, len(free)
		}
		if most == p {
			break
		}
	}
	if most == 0 {
		return Sum{}, fmt.Errorf("%d times fit no sum of costs", len(T))
	}
	return best, nil
}

// sumOf fits the terms that are free, and returns the sum of squares of relative
// errors. It is not ok where a cost is negative or cannot be told.
func sumOf(terms [][]float64, T []float64, free []int) (sum Sum, squares float64, ok bool) {
	var normal, inverse [3][3]float64
	var right, cost [3]float64
	for i, row := range terms {
		for j, a := range free {
			right[j] += row[a] / T[i]
			for k, b := range free {
				normal[j][k] += row[a] / T[i] * row[b] / T[i]
			}
		}
	}
	n := len(free)
	if !invert(&normal, &inverse, n) {
		return sum, 0, false
	}
	for j := range n {
		for k := range n {
			cost[j] += inverse[j][k] * right[k]
		}
		if !(cost[j] >= 0) || math.IsInf(cost[j], 0) {
			return sum, 0, false
		}
	}
	for i, row := range terms {
		r := 1.
		for j, a := range free {
			r -= cost[j] * row[a] / T[i]
		}
		squares += r * r
	}
	var variance float64
	if len(T) > n {
		variance = squares / float64(len(T)-n)
	}
	sum = Sum{Costs: make([]Coefficient, len(terms[0])), Residual: math.Sqrt(variance), N: len(T)}
	for j := range sum.Costs {
		sum.Costs[j].Held = true
	}
	for j, a := range free {
		sum.Costs[a] = Coefficient{Value: cost[j], Error: math.Sqrt(variance * inverse[j][j])}
	}
	return sum, squares, true
}

// Time is what the fit says of a row of terms.
func (l Sum) Time(terms ...float64) (t float64) {
	for j, c := range l.Costs {
		t += c.Value * terms[j]
	}
	return t
}
