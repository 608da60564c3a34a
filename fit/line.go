package fit

import (
	"fmt"
	"math"

	"github.com/taulop/taulop/internal/lists"
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
	terms := lists.Map(ms, func(m int) []float64 { return []float64{1, float64(m)} })
	sum, err := SumOf(terms, times)
	if err != nil {
		return Line{}, err
	}
	return Line{Startup: sum.Costs[0], PerByte: sum.Costs[1], Residual: sum.Residual, N: sum.N}, nil
}

// At is what the line says of a message of m bytes, in ns.
func (l Line) At(m int) float64 { return l.Startup.Value + float64(m)*l.PerByte.Value }
