package params

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// What tells samples that something slowed from others. Sums of undisturbed cores take the same within
// a few per cent; a thread of another guest on the same core makes them take 1.1 to 2 times as long.
const (
	slowFrom     = 1.15 // times what sums take undisturbed
	steadyWithin = 1.05 // times it are most of the undisturbed
	leastSteady  = 8    // undisturbed launches that a cell is to be left: an interval takes six
)

// slow finds the states in which sums are now and then slower than else.
func slow(states []State, modes []fit.Mode, looks []Look) {
	for i := range states {
		var took []float64
		byLaunch := make(map[int][]float64)
		for _, l := range looks {
			if l.Computed > 0 && fit.ModeOf(modes, l.Before) == i && fit.ModeOf(modes, l.After) == i {
				took = append(took, l.Computed)
				byLaunch[l.Launch] = append(byLaunch[l.Launch], l.Computed)
			}
		}
		slices.Sort(took)
		fastest := lowest(took)
		slower := slowFrom * fastest
		steady := shareBelow(took, slower)
		if fastest == 0 || 1-steady < fit.LeastShare || shareBelow(took, steadyWithin*fastest) < 0.8*steady {
			continue
		}
		launches := 0. // undisturbed, that a cell is to expect
		for _, of := range byLaunch {
			launches += shareBelow(of, slower)
		}
		if states[i].Slowed = round(1-steady, 4); launches >= leastSteady {
			states[i].Slow = round(slower, 4)
		}
	}
}

func shareBelow(values []float64, v float64) float64 {
	return float64(len(lists.Filter(values, func(of float64) bool { return of < v }))) / float64(len(values))
}

// lowest is where the first of rising values gather: a share of fit.LeastShare of them, and five, within
// 3 %. 0: nowhere.
func lowest(rising []float64) float64 {
	n := max(5, int(math.Ceil(fit.LeastShare*float64(len(rising)))))
	for i := range len(rising) - n + 1 {
		if rising[i+n-1] <= 1.03*rising[i] {
			return rising[i]
		}
	}
	return 0
}

// slowed tells a sample during which something slowed a worker's core.
func (f *File) slowed(x Sample) bool {
	if x.Computed == 0 || x.Watch < 1 || int(x.Watch) > len(f.Watches) {
		return false
	}
	w := &f.Watches[x.Watch-1]
	return len(w.States) > 0 && w.slowed(x)
}

// counts tells which samples of a cell do: those that nothing slowed; all where there are none.
func (f *File) counts(samples []Sample) func(Sample) bool {
	steady := func(s Sample) bool { return !f.slowed(s) }
	if slices.ContainsFunc(samples, steady) {
		return steady
	}
	return func(Sample) bool { return true }
}

func (w *Watch) slowed(x Sample) bool {
	s := &w.States[w.At(float64(x.Before))]
	return s.Slow > 0 && float64(x.Computed) >= s.Slow
}

// Slowed says in how many samples of two workers something slowed a core, and what became of them; nil:
// in none.
func (f *File) Slowed() error {
	samples, slowed, aside := 0, 0., 0
	for i := range f.Cells {
		for _, x := range f.Cells[i].Samples {
			if x.Computed == 0 || x.Watch < 1 || len(f.Watches[x.Watch-1].States) == 0 {
				continue
			}
			w := &f.Watches[x.Watch-1]
			samples++
			slowed += w.States[w.At(float64(x.Before))].Slowed
			if w.slowed(x) {
				aside++
			}
		}
	}
	if slowed == 0 {
		return nil
	}
	share := slowed / float64(samples)
	text := fmt.Sprintf("sums took a core longer than else in %.0f %% of %d samples of two workers, as where another guest of the host has a thread on it", 100*share, samples)
	if float64(aside) >= share/2*float64(samples) {
		return fmt.Errorf("%s: %d are set aside, and times are of undisturbed cores", text, aside)
	}
	return fmt.Errorf("%s: too many to set all aside, so times are of slowed cores too: measure longer, or when the host's other guests are quiet", text)
}
