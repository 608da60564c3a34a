package fit

import (
	"errors"
	"fmt"
	"math"
)

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

// LineOf fits a line to the times of messages of ms[i] bytes, in ns, by least
// squares of relative errors: a startup of a microsecond would not show beside the
// milliseconds of a long message. Neither coefficient becomes negative. It fails
// with fewer than LeastSizes sizes, and for a time of 0.
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
	l, allowed := line(ms, times, []int{0, 1})
	if allowed {
		return l, nil
	}
	// One coefficient would fit best below 0, so the better of the fits without it.
	var best *Line
	for _, terms := range [][]int{{0}, {1}} {
		if l, allowed := line(ms, times, terms); allowed && (best == nil || l.Residual < best.Residual) {
			best = &l
		}
	}
	if best == nil {
		return Line{}, errors.New("the times fit no line")
	}
	return *best, nil
}

// line fits those of the terms T_s (0) and m·τ_d (1) that are free, and tells whether
// none is negative.
func line(ms []int, times []float64, terms []int) (l Line, allowed bool) {
	p := len(terms)
	row := func(i int) (x [2]float64) {
		all := [2]float64{1, float64(ms[i])}
		for j, term := range terms {
			x[j] = all[term] / times[i]
		}
		return x
	}
	var normal, inverse [3][3]float64
	var right, beta [2]float64
	for i := range times {
		x := row(i)
		for j := range p {
			right[j] += x[j] // times T/T
			for k := range p {
				normal[j][k] += x[j] * x[k]
			}
		}
	}
	if !invert(&normal, &inverse, p) {
		return l, false
	}
	for j := range p {
		for k := range p {
			beta[j] += inverse[j][k] * right[k]
		}
	}
	var squares float64
	for i := range times {
		x, r := row(i), 1.
		for j := range p {
			r -= x[j] * beta[j]
		}
		squares += r * r
	}
	variance := squares / float64(len(times)-p)
	l = Line{Startup: Coefficient{Held: true}, PerByte: Coefficient{Held: true}, Residual: math.Sqrt(variance), N: len(times)}
	for j, term := range terms {
		if !(beta[j] >= 0) || math.IsInf(beta[j], 0) {
			return l, false
		}
		*[]*Coefficient{&l.Startup, &l.PerByte}[term] = Coefficient{Value: beta[j], Error: math.Sqrt(variance * inverse[j][j])}
	}
	return l, true
}

// At is what the line says of a message of m bytes, in ns.
func (l Line) At(m int) float64 { return l.Startup.Value + float64(m)*l.PerByte.Value }
