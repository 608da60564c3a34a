package fit

import (
	"fmt"
	"math"

	"github.com/taulop/taulop/internal/lists"
)

// A Sum is a fit of times that are linear combinations of terms.
type Sum struct {
	Costs []Coefficient `json:"costs_ns"` // of each term
	// Residual is the relative standard deviation of the times about the fit: 0.02 for 2 %; 0 if there are
	// no more times than costs.
	Residual float64 `json:"residual"`
	N        int     `json:"n"` // number of times
}

// mostTerms of a Sum.
const mostTerms = 3

// SumOf fits T[i] = Σ_j cost_j·terms[i][j] by least squares of relative errors. Costs that would be negative
// are held at 0, and so are costs of linearly dependent terms, later ones first. T_n·N + T_c·N_c + T_e·S is
// eq. (4) of usc-hpc-benchmarks-1999, T_s + m·τ_d is the cost of a disk, section 5.2.3. It fails with fewer
// times than terms.
func SumOf(terms [][]float64, T []float64) (Sum, error) {
	r, err := closest(terms, T, 1)
	if err != nil {
		return Sum{}, err
	}
	sum := Sum{Residual: math.Sqrt(r.variance), N: len(T)}
	for j := range terms[0] {
		sum.Costs = append(sum.Costs, Coefficient{Value: r.cost[j], Error: math.Sqrt(r.covariance[j][j]), Held: !r.free[j]})
	}
	return sum, nil
}

// A regression is a least squares fit of relative errors.
type regression struct {
	free       [mostTerms]bool // other costs are held at 0
	cost       [mostTerms]float64
	covariance [mostTerms][mostTerms]float64
	squares    float64 // sum of squared relative errors
	variance   float64 // of relative errors
}

// closest is the regression with all terms free or, if that has a negative cost or is singular, the one
// with the least squares among those with some terms held at 0. A set of free terms is a number whose
// highest bit is the first term; last is the last set to try. It fails with fewer times than terms, and for a
// time of 0.
func closest(terms [][]float64, T []float64, last int) (best regression, err error) {
	if len(terms) != len(T) || len(T) == 0 || len(terms[0]) > mostTerms {
		return best, fmt.Errorf("%d rows of terms for %d times", len(terms), len(T))
	}
	p, ok := len(terms[0]), false
	if len(T) < p {
		return best, fmt.Errorf("too few times for a fit: %d of at least %d", len(T), p)
	}
	for _, t := range T {
		if !(t > 0) || math.IsInf(t, 0) {
			return best, fmt.Errorf("%g is no time to fit", t)
		}
	}
	all := 1<<p - 1
	for set := all; set >= last; set-- {
		var free []int
		for j := range p {
			if set>>(p-1-j)&1 == 1 {
				free = append(free, j)
			}
		}
		if r, allowed := regress(terms, T, free); allowed && (!ok || r.squares < best.squares*(1-1e-9)) {
			best, ok = r, true
		}
		if ok && set == all {
			break
		}
	}
	if !ok {
		return best, fmt.Errorf("%d times fit no sum of costs", len(T))
	}
	return best, nil
}

// regress is not ok if a cost is negative or the terms are linearly dependent.
func regress(terms [][]float64, T []float64, free []int) (r regression, ok bool) {
	normal, right := make([][]float64, len(terms[0])), make([]float64, len(free))
	for j := range normal {
		normal[j] = make([]float64, len(normal))
	}
	for i, row := range terms {
		for j, a := range free {
			right[j] += row[a] / T[i]
			for _, b := range free {
				normal[a][b] += row[a] / T[i] * row[b] / T[i]
			}
		}
	}
	inverse, ok := inverted(normal, free)
	if !ok {
		return r, false
	}
	for j, a := range free {
		for k := range free {
			r.cost[a] += inverse[j][k] * right[k]
		}
		if !(r.cost[a] >= 0) || math.IsInf(r.cost[a], 0) {
			return r, false
		}
	}
	for i, row := range terms {
		e := 1.
		for _, a := range free {
			e -= r.cost[a] * row[a] / T[i]
		}
		r.squares += e * e
	}
	if len(T) > len(free) {
		r.variance = r.squares / float64(len(T)-len(free))
	}
	for j, a := range free {
		r.free[a] = true
		for k, b := range free {
			r.covariance[a][b] = r.variance * inverse[j][k]
		}
	}
	return r, true
}

// inverted is the inverse of some rows and columns of a positive definite matrix, by Gauss-Jordan
// elimination after scaling the diagonal to 1. It is not ok for linearly dependent rows.
func inverted(m [][]float64, rows []int) (inverse [][]float64, ok bool) {
	n := len(rows)
	a, scale := make([][]float64, n), make([]float64, n)
	for i, r := range rows {
		if !(m[r][r] > 0) {
			return nil, false
		}
		scale[i] = 1 / math.Sqrt(m[r][r])
	}
	for i, r := range rows {
		a[i] = make([]float64, 2*n)
		for j, c := range rows {
			a[i][j] = m[r][c] * scale[i] * scale[j]
		}
		a[i][n+i] = 1
	}
	for i := range n {
		pivot := a[i][i] // positive definite matrices need no row exchanges
		if !(pivot > 1e-13) {
			return nil, false
		}
		for j := range a[i] {
			a[i][j] /= pivot
		}
		for k := range n {
			if f := a[k][i]; k != i && f != 0 {
				for j := range a[k] {
					a[k][j] -= f * a[i][j]
				}
			}
		}
	}
	inverse = make([][]float64, n)
	for i := range n {
		inverse[i] = a[i][n:]
		for j := range n {
			inverse[i][j] *= scale[i] * scale[j]
		}
	}
	return inverse, true
}

// A Line is a fit of T = T_s + m·τ_d, eq. (5) of D. Kang et al., "Benchmarking of
// HPC Systems", CENG 99-07, 1999: a startup, and a time for each of m bytes.
type Line struct {
	Startup Coefficient `json:"startup_ns"`  // T_s
	PerByte Coefficient `json:"ns_per_byte"` // τ_d
	// Residual and N are as in Sum.
	Residual float64 `json:"residual"`
	N        int     `json:"n"`
}

// LeastSizes is the least number of sizes: two for the coefficients, and one to show how well they fit.
const LeastSizes = 3

// LineOf fits a line to the times of messages of ms[i] bytes, in ns, by least squares of relative errors:
// absolute errors of long messages, in ms, would hide a startup of 1 µs. Coefficients are at least 0. It
// fails with fewer than LeastSizes sizes, and for a time of 0.
func LineOf(ms []int, times []float64) (Line, error) {
	sizes := lists.Rising(ms)
	if len(sizes) < LeastSizes {
		return Line{}, fmt.Errorf("too few sizes for a fit: %d of at least %d", len(sizes), LeastSizes)
	}
	sum, err := SumOf(lists.Map(ms, func(m int) []float64 { return []float64{1, float64(m)} }), times)
	if err != nil {
		return Line{}, err
	}
	return Line{Startup: sum.Costs[0], PerByte: sum.Costs[1], Residual: sum.Residual, N: sum.N}, nil
}

// At is the line's time of a message of m bytes, in ns.
func (l Line) At(m int) float64 { return l.Startup.Value + float64(m)*l.PerByte.Value }
