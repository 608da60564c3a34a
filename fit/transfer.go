package fit

import "math"

// Transfer is L(S,τ) from l(k,τ), the time of a message of k segments with consecutive transfers each: 1 in
// bcast and ping, 2 in ring (taulop-2015, section 5, Figs. 18–20: l = k·L and l = 2k·L).
func Transfer(l Estimate, k, transfers int) Estimate {
	return l.Scale(1 / (float64(k) * float64(transfers)))
}

// Slope is b of the line l = a + b·k, fitted to the messages l[i] of k[i] segments by least squares of
// relative errors (weights 1/l²), since errors of times are proportional to them. Divided by the transfers
// per segment it is L(S,τ) without the fixed cost of a message. It needs two different k.
func Slope(k []int, l []Estimate) Estimate {
	if len(k) != len(l) || len(k) < 2 {
		return Median(nil)
	}
	var w, wk, wkk float64
	for i, e := range l {
		v := 1 / (e.Center * e.Center)
		w += v
		wk += v * float64(k[i])
		wkk += v * float64(k[i]) * float64(k[i])
	}
	det := w*wkk - wk*wk
	if !(det > 0) {
		return Median(nil)
	}
	// b = Σ coef·l. Messages are measured one after another, so their errors are independent: squares add.
	s := Estimate{N: l[0].N}
	var lo, hi float64
	for i, e := range l {
		coef := (w*float64(k[i]) - wk) / det / (e.Center * e.Center)
		s.Center += coef * e.Center
		down, up := e.Center-e.Lo, e.Hi-e.Center
		if coef < 0 {
			down, up = up, down
		}
		lo += coef * coef * down * down
		hi += coef * coef * up * up
		s.N = min(s.N, e.N)
	}
	s.Lo, s.Hi = s.Center-math.Sqrt(lo), s.Center+math.Sqrt(hi)
	return s
}

// Copy is c(S,τ) = L(S,τ) − y(τ) (taulop-2015, section 3.1).
func Copy(L, y Estimate) Estimate { return L.Sub(y) }

// Concurrency is the memory concurrency A(τ) = τ·L(S,1)/L(S,τ), the number of transfers that the memory
// carries at once: 1 for a serial channel, τ for a perfect one. Its interval is unknown if one of theirs is.
func Concurrency(tau int, L1, Ltau Estimate) Estimate { return L1.Div(Ltau).Scale(float64(tau)) }

// Bounds are p-values of L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ), eq. (8): of the lower bound, which fails if Aτ transfers
// cost less than τ, and of the upper, which fails if they cost more than A times τ transfers. They are 1 within
// the intervals.
func Bounds(a int, Ltau, LAtau Estimate) (below, above float64) {
	return exceeds(Ltau, LAtau), exceeds(LAtau, Ltau.Scale(float64(a)))
}

// exceeds is the one-sided p-value of a ≤ b by Welch's test on logarithms, with standard errors from the halves
// of the 95 % intervals between them; 1 where the intervals overlap or are unknown.
func exceeds(a, b Estimate) float64 {
	if !(a.Lo > b.Hi) {
		return 1
	}
	if a.Lo == a.Center && b.Hi == b.Center || !(b.Center > 0) {
		return 0
	}
	var parts []part
	for _, half := range []struct {
		of    Estimate
		width float64
	}{{a, math.Log(a.Center / a.Lo)}, {b, math.Log(b.Hi / b.Center)}} {
		n := half.of.N
		if half.of.Sessions > 1 {
			n = half.of.Sessions
		}
		df := float64(max(1, n-1))
		se := half.width / quantile(df, 1-(1-Confidence)/2)
		parts = append(parts, part{se * se, df})
	}
	return Test{}.difference(math.Log(a.Center/b.Center), parts).P / 2
}
