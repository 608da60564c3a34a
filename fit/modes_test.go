package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

// At most 1 % of sets of unimodal looks have a second mode.
func TestOneMode(t *testing.T) {
	wrong := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		values := make([]float64, 20+int(math.Exp(9*r.Float64())))
		noise, tail := 0.01+0.2*r.Float64(), 0.05*r.Float64()
		for i := range values {
			values[i] = 60 * math.Exp(noise*r.NormFloat64())
			if r.Float64() < tail { // interrupted
				values[i] *= 1 + 3*r.ExpFloat64()
			}
			if seed%2 == 0 { // a clock of 1 ns over 16 flags
				values[i] = math.Round(16*values[i]) / 16
			}
		}
		if modes := Modes(values); len(modes) != 1 {
			wrong++
			t.Logf("seed %d: %d values, noise %.2f, tail %.2f: %+v", seed, len(values), noise, tail, modes)
		}
	}
	check.AtMost(t, wrong, 10, "of 1000, those with more than one mode")
}

// Modes are found in mixtures of two and of three components, with shares from 5 to 95 %.
func TestModes(t *testing.T) {
	wrong := 0
	const runs = 300
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 4))
		centers := []float64{28 * math.Exp(r.Float64())}
		for range 1 + r.IntN(2) {
			centers = append(centers, centers[len(centers)-1]*(1.6+3*r.Float64()))
		}
		shares, total := make([]float64, len(centers)), 0.
		for i := range shares {
			shares[i] = 0.05 + r.Float64()
			total += shares[i]
		}
		var values []float64
		for range 600 + r.IntN(3000) {
			x, at := r.Float64()*total, 0
			for x > shares[at] && at < len(shares)-1 {
				x -= shares[at]
				at++
			}
			values = append(values, centers[at]*math.Exp(0.06*r.NormFloat64()))
		}
		modes := Modes(values)
		right := len(modes) == len(centers)
		for i := 0; right && i < len(modes); i++ {
			right = math.Abs(modes[i].Center/centers[i]-1) < 0.03 && math.Abs(modes[i].Share-shares[i]/total) < 0.05
			right = right && ModeOf(modes, centers[i]) == i
		}
		if !right && len(modes) > 0 {
			wrong++
			t.Logf("seed %d: %d values of %v with %v: %+v", seed, len(values), centers, shares, modes)
		}
	}
	check.AtMost(t, wrong, runs/50, "wrong of %d", runs)
	check.Empty(t, Modes(nil), "modes of nothing")
	modes := Modes([]float64{5, 5, 5})
	check.True(t, len(modes) == 1 && modes[0] == (Mode{5, 0, 1}), "of one value: %v", modes)
}
