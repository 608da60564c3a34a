package fit

import (
	"fmt"
	"math"

	"github.com/taulop/taulop/internal/lists"
)

// A Sum is a fit of times that are sums of terms, each a cost times a number of things that cost it.
type Sum struct {
	Costs []Coefficient `json:"costs_ns"` // of each term
	// Residual is the standard deviation of the times about the fit, relative to
	// them: 0.02 for 2 %. It is 0 where there are no more times than costs.
	Residual float64 `json:"residual"`
	N        int     `json:"n"` // times that went in
}

// mostTerms of a Sum.
const mostTerms = 3

// SumOf fits T[i] = Σ_j cost_j·terms[i][j] by least squares of relative errors. Costs that
// would be negative, and costs that the numbers cannot tell from others, later ones first, are
// held at 0. With T_n·N + T_c·N_c + T_e·S it is eq. (4) of usc-hpc-benchmarks-1999, with T_s +
// m·τ_d the cost of a disk, section 5.2.3. It fails with fewer times than terms.
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
	r, ok := closest(terms, T, 1)
	if !ok {
		return Sum{}, fmt.Errorf("%d times fit no sum of costs", len(T))
	}
	sum := Sum{Residual: math.Sqrt(r.variance), N: len(T)}
	for j := range p {
		sum.Costs = append(sum.Costs, Coefficient{Value: r.cost[j], Error: math.Sqrt(r.covariance[j][j]), Held: !r.free[j]})
	}
	return sum, nil
}

// A regression is what least squares of relative errors say of the costs of terms.
type regression struct {
	free       [mostTerms]bool // the others' costs are held at 0
	cost       [mostTerms]float64
	covariance [mostTerms][mostTerms]float64
	squares    float64 // sum of the relative errors' squares
	variance   float64 // of the relative errors
}

// closest is the regression with all terms free or, if that has a negative cost or is
// undetermined, the closest one with some terms held. A set of terms is a number, its highest
// bit the first term; last is the last set tried.
func closest(terms [][]float64, T []float64, last int) (best regression, ok bool) {
	p := len(terms[0])
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
	return best, ok
}

// regress is not ok where a cost is negative or cannot be told.
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
	inverse, ok := inverted(normal, free, 0)
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

// inverted is the inverse of some rows and columns of a positive definite matrix, by Gauss
// and Jordan, after scaling its diagonal to 1. It is not ok where rows depend on each other,
// unless a ridge, which is added to that diagonal, gives them large numbers.
func inverted(m [][]float64, of []int, ridge float64) (inverse [][]float64, ok bool) {
	n := len(of)
	a, scale := make([][]float64, n), make([]float64, n)
	for i, r := range of {
		if !(m[r][r] > 0) {
			return nil, false
		}
		scale[i] = 1 / math.Sqrt(m[r][r])
	}
	for i, r := range of {
		a[i] = make([]float64, 2*n)
		for j, c := range of {
			a[i][j] = m[r][c] * scale[i] * scale[j]
		}
		a[i][i] += ridge
		a[i][n+i] = 1
	}
	for i := range n {
		pivot := a[i][i] // of a positive definite matrix it needs no exchange of rows
		if !(pivot > 1e-13) {
			if ridge == 0 {
				return nil, false
			}
			pivot = 1e-13
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
	// Residual is the standard deviation of the times about the line, relative to
	// them: 0.02 for 2 %. It is 0 where there are no more times than coefficients.
	Residual float64 `json:"residual"`
	N        int     `json:"n"` // times that went in
}

// LeastSizes is how many sizes a line needs: its coefficients are two, and a third
// shows how well they fit.
const LeastSizes = 3

// LineOf fits a line to the times of messages of ms[i] bytes, in ns, by least squares of relative
// errors: a startup of a microsecond would not show beside the milliseconds of a long message. Neither
// coefficient becomes negative. It fails with fewer than LeastSizes sizes, and for a time of 0.
func LineOf(ms []int, times []float64) (Line, error) {
	if len(ms) != len(times) {
		return Line{}, fmt.Errorf("%d sizes for %d times", len(ms), len(times))
	}
	sizes := make(map[int]bool)
	for i, t := range times {
		if !(t > 0) || math.IsInf(t, 0) {
			return Line{}, fmt.Errorf("a message of %d bytes takes %g ns: no line has a relative error there", ms[i], t)
		}
		sizes[ms[i]] = true
	}
	if len(sizes) < LeastSizes {
		return Line{}, fmt.Errorf("too few sizes for a fit: %d of at least %d", len(sizes), LeastSizes)
	}
	terms := lists.Map(ms, func(m int) []float64 { return []float64{1, float64(m)} })
	sum, err := SumOf(terms, times)
	if err != nil {
		return Line{}, err
	}
	return Line{Startup: sum.Costs[0], PerByte: sum.Costs[1], Residual: sum.Residual, N: sum.N}, nil
}

// At is what the line says of a message of m bytes, in ns.
func (l Line) At(m int) float64 { return l.Startup.Value + float64(m)*l.PerByte.Value }
