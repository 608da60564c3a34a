package fit

import (
	"errors"
	"fmt"
	"math"

	"github.com/taulop/taulop/internal/lists"
)

// A Scalability is a fit of the universal scalability law (N. J. Gunther,
// "A General Theory of Computational Scalability Based on Rational Functions",
// arXiv:0808.1431): the throughput of τ transfers at once is
//
//	X(τ) = λτ/(1 + σ(τ−1) + κτ(τ−1))
type Scalability struct {
	Lambda Coefficient `json:"lambda"` // transfers a ns of an isolated one
	Sigma  Coefficient `json:"sigma"`  // contention: the serial share of a transfer
	Kappa  Coefficient `json:"kappa"`  // coherence: the cost of each pair of transfers
	// Residual is the relative standard deviation of the times about the law: 0.02 for 2 %; 0 if there
	// are no more times than coefficients.
	Residual float64 `json:"residual"`
	N        int     `json:"n"` // number of times
}

// A Coefficient is a fitted number.
type Coefficient struct {
	Value float64 `json:"value"`
	Error float64 `json:"error"`          // standard error
	Held  bool    `json:"held,omitempty"` // held at 0, because it would be negative
}

// LeastTaus is the least number of τ: three for the coefficients, and one to show how well they fit.
const LeastTaus = 4

// PoorResidual is the residual above which a fit is poor.
const PoorResidual = 0.10

// ScalabilityOf fits the law to L(m,τ), the times of taus[i] transfers at once, in ns. Since X = τ/L, the
// law is L = (1 + σ(τ−1) + κτ(τ−1))/λ, which is linear in 1/λ, σ/λ and κ/λ: least squares of relative
// errors need no search. σ and κ are at least 0. It fails with fewer than LeastTaus times.
func ScalabilityOf(taus []int, L []float64) (Scalability, error) {
	if len(L) < LeastTaus {
		return Scalability{}, fmt.Errorf("too few τ for a fit: %d of at least %d", len(L), LeastTaus)
	}
	terms := lists.Map(taus, func(tau int) []float64 { return []float64{1, float64(tau - 1), float64(tau) * float64(tau-1)} })
	r, err := closest(terms, L, 0b100) // 1/λ is always free
	if err != nil {
		return Scalability{}, err
	}
	a := r.cost[0]
	if !(a > 0) || math.IsInf(max(1, r.cost[1], r.cost[2])/a, 0) {
		return Scalability{}, errors.New("the times fit no law")
	}
	share := func(j int) Coefficient { // with the error of a quotient, to first order
		q := r.cost[j] / a
		v := (r.covariance[j][j] - 2*q*r.covariance[0][j] + q*q*r.covariance[0][0]) / (a * a)
		return Coefficient{Value: q, Error: math.Sqrt(max(0, v)), Held: !r.free[j]}
	}
	return Scalability{
		Lambda: Coefficient{Value: 1 / a, Error: math.Sqrt(r.covariance[0][0]) / (a * a)},
		Sigma:  share(1), Kappa: share(2),
		Residual: math.Sqrt(r.variance), N: len(L),
	}, nil
}

// Poor reports whether the residual is above PoorResidual.
func (s Scalability) Poor() bool { return s.Residual > PoorResidual }
