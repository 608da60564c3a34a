package params

import (
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
)

// What tells looks while something slows a core from others. Sums of undisturbed cores take the same
// within a few per cent; a thread of another guest on the same core makes them take 1.1 to 2 times as
// long.
const (
	slowFrom     = 1.15 // times what sums take undisturbed
	steadyWithin = 1.05 // times it are most of the undisturbed
)

// split puts a state of slowed cores behind each state in which sums took now and then longer than
// else. Its share of the state's time is that of samples.
func split(states []State, modes []fit.Mode, looks []Look, alone float64) (all []State) {
	for i, state := range states {
		var took []float64
		for _, l := range looks {
			if l.Computed > 0 && fit.ModeOf(modes, l.Before) == i && fit.ModeOf(modes, l.After) == i {
				took = append(took, l.Computed)
			}
		}
		slow, share := slowedFrom(took, alone)
		if all = append(all, state); share > 0 {
			slowed := State{NS: state.NS, Above: state.Above, Share: round(share*state.Share, 4), Slow: round(slow, 4)}
			all[len(all)-1].Share, all[len(all)-1].Lasts = round((1-share)*state.Share, 4), 0
			all = append(all, slowed)
		}
	}
	return all
}

// slowedFrom is the time of sums from which on something slowed a core, and the share of times at or
// above; 0 where nothing did for as long as a state has to last. Sums that never took as little as on a
// core alone were slowed all the time.
func slowedFrom(took []float64, alone float64) (slow, share float64) {
	slices.Sort(took)
	fastest := lowest(took)
	if always := slowFrom * alone; alone > 0 && len(took) > 0 && (fastest > always || fastest == 0) {
		if share = 1 - shareBelow(took, always); 1-share < fit.LeastShare {
			return always, 1
		}
	}
	slow = slowFrom * fastest
	steady := shareBelow(took, slow)
	if fastest == 0 || 1-steady < fit.LeastShare || shareBelow(took, steadyWithin*fastest) < 0.8*steady {
		return 0, 0
	}
	return slow, 1 - steady
}

func shareBelow(rising []float64, v float64) float64 {
	n, _ := slices.BinarySearch(rising, v)
	return float64(n) / float64(len(rising))
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
