package fit

import (
	"errors"
	"fmt"
	"math"
)

// A Scalability is a fit of the universal scalability law (N. J. Gunther,
// "A General Theory of Computational Scalability Based on Rational Functions",
// arXiv:0808.1431): the throughput of τ transfers at once is
//
//	X(τ) = λτ/(1 + σ(τ−1) + κτ(τ−1))
type Scalability struct {
	Lambda Coefficient `json:"lambda"` // transfers a ns of an isolated one
	Sigma  Coefficient `json:"sigma"`  // contention: the share of a transfer that waits its turn
	Kappa  Coefficient `json:"kappa"`  // coherence: what each pair of transfers costs each other
	// Residual is the standard deviation of the times about the law, relative
	// to them: 0.02 for 2 %. It is 0 where there are no more times than
	// coefficients.
	Residual float64 `json:"residual"`
	N        int     `json:"n"` // times that went in
}

// A Coefficient is a fitted number.
type Coefficient struct {
	Value float64 `json:"value"`
	Error float64 `json:"error"`          // standard error, one standard deviation
	Held  bool    `json:"held,omitempty"` // at 0, since less would fit better: the law knows none below
}

// LeastTaus is how many τ the law needs: its coefficients are three, and a
// fourth shows how well they fit.
const LeastTaus = 4

// PoorResidual is what makes a fit poor.
const PoorResidual = 0.10

// ScalabilityOf fits the law to L(m,τ), the times of taus[i] transfers at once,
// in ns. Since X = τ/L, it says L = (1 + σ(τ−1) + κτ(τ−1))/λ, which is linear in
// 1/λ, σ/λ and κ/λ: the least squares of relative errors need no search. Neither
// σ nor κ becomes negative. It fails with fewer than LeastTaus times.
func ScalabilityOf(taus []int, L []float64) (Scalability, error) {
	if len(taus) != len(L) {
		return Scalability{}, fmt.Errorf("%d τ for %d times", len(taus), len(L))
	}
	if len(L) < LeastTaus {
		return Scalability{}, fmt.Errorf("too few τ for a fit: %d of at least %d", len(L), LeastTaus)
	}
	for _, t := range L {
		if !(t > 0) || math.IsInf(t, 0) {
			return Scalability{}, errors.New("a time of 0 has no throughput")
		}
	}
	// Of the fits with σ or κ or both at 0, the best that is allowed.
	var best *Scalability
	least := math.Inf(1)
	for _, terms := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		s, squares, allowed := regress(taus, L, terms)
		if allowed && squares < least {
			best, least = &s, squares
		}
		if allowed && len(terms) == 3 {
			break
		}
	}
	if best == nil {
		return Scalability{}, errors.New("the times fit no law")
	}
	return *best, nil
}

// regress fits L = a + b(τ−1) + cτ(τ−1), of which only some terms are free. It
// returns the sum of squares of relative errors, and whether the law allows it.
func regress(taus []int, L []float64, terms []int) (s Scalability, squares float64, allowed bool) {
	p := len(terms)
	row := func(i int) (x [3]float64) {
		t := float64(taus[i])
		all := [3]float64{1, t - 1, t * (t - 1)}
		for j, term := range terms {
			x[j] = all[term] / L[i]
		}
		return x
	}
	var normal, inverse [3][3]float64
	var right [3]float64
	for i := range L {
		x := row(i)
		for j := range p {
			right[j] += x[j] // times L/L
			for k := range p {
				normal[j][k] += x[j] * x[k]
			}
		}
	}
	if !invert(&normal, &inverse, p) {
		return s, 0, false
	}
	var beta [3]float64
	for j := range p {
		for k := range p {
			beta[j] += inverse[j][k] * right[k]
		}
	}
	for i := range L {
		x, r := row(i), 1.
		for j := range p {
			r -= x[j] * beta[j]
		}
		squares += r * r
	}
	var variance float64
	if len(L) > p {
		variance = squares / float64(len(L)-p)
	}
	a := beta[0]
	if !(a > 0) || math.IsInf(1/a, 0) {
		return s, 0, false
	}
	s = Scalability{
		Lambda:   Coefficient{Value: 1 / a, Error: math.Sqrt(variance*inverse[0][0]) / (a * a)},
		Sigma:    Coefficient{Held: true},
		Kappa:    Coefficient{Held: true},
		Residual: math.Sqrt(variance), N: len(L),
	}
	for j, term := range terms {
		if term == 0 {
			continue
		}
		q := beta[j] / a
		if !(q >= 0) || math.IsInf(q, 0) {
			return s, 0, false
		}
		// Error of the quotient b/a, to first order.
		v := variance * (inverse[j][j] - 2*q*inverse[0][j] + q*q*inverse[0][0]) / (a * a)
		*[]*Coefficient{nil, &s.Sigma, &s.Kappa}[term] = Coefficient{Value: q, Error: math.Sqrt(max(0, v))}
	}
	return s, squares, true
}

// invert inverts the upper left n × n of a positive definite matrix by Gauss and
// Jordan, after scaling its diagonal to 1.
func invert(m, inverse *[3][3]float64, n int) bool {
	var scale [3]float64
	var a [3][6]float64
	for i := range n {
		if !(m[i][i] > 0) {
			return false
		}
		scale[i] = 1 / math.Sqrt(m[i][i])
	}
	for i := range n {
		for j := range n {
			a[i][j] = m[i][j] * scale[i] * scale[j]
		}
		a[i][n+i] = 1
	}
	for i := range n {
		pivot := a[i][i] // of a positive definite matrix it needs no exchange of rows
		if !(pivot > 1e-13) {
			return false
		}
		for j := range 2 * n {
			a[i][j] /= pivot
		}
		for k := range n {
			if f := a[k][i]; k != i && f != 0 {
				for j := range 2 * n {
					a[k][j] -= f * a[i][j]
				}
			}
		}
	}
	for i := range n {
		for j := range n {
			inverse[i][j] = a[i][n+j] * scale[i] * scale[j]
		}
	}
	return true
}

// L is the time of a transfer under the law, in ns.
func (s Scalability) L(tau float64) float64 {
	return (1 + s.Sigma.Value*(tau-1) + s.Kappa.Value*tau*(tau-1)) / s.Lambda.Value
}

// Peak is the τ beyond which the law's throughput falls, +Inf if it never does.
func (s Scalability) Peak() float64 {
	if s.Kappa.Value == 0 {
		return math.Inf(1)
	}
	return max(1, math.Sqrt(max(0, 1-s.Sigma.Value)/s.Kappa.Value))
}

// Poor reports whether the law does not describe the times: they are off it by
// more than PoorResidual.
func (s Scalability) Poor() bool { return s.Residual > PoorResidual }
