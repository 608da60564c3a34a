package fit

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/mathx"
)

// A Mode is a range of values around a peak of their density.
type Mode struct {
	Center float64 // median of its values
	Above  float64 // lower bound; the next mode's is the upper one; 0: the first mode
	Share  float64 // of all values
}

// Conditions for two modes.
const (
	// LeastApart is the least ratio of a mode's centre to the one before it.
	LeastApart = 1.4
	// LeastShare is the least share of all values in a mode.
	LeastShare = 0.03
	// valleyError is the significance level of a valley. It is small because the valley is chosen where
	// the density is lowest.
	valleyError = 1e-5
)

// Modes finds the modes of values above 0, ascending; one if there is no significant valley, none without
// values. Two modes have a ratio of LeastApart or more, LeastShare of the values each, and a significant
// valley between them. A binomial test compares the counts in two windows, at the valley and at the lower
// peak: with equal densities the valley's would be as low with a probability of at most valleyError (after
// Minnotte, "Nonparametric testing of the existence of modes", Ann. Statist. 25, 1997).
func Modes(values []float64) []Mode {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	d := newDensity(sorted)
	peaks := d.peaks()
	for {
		// Merge the pair with the shallowest valley first.
		modes, weakest, depth := d.modes(peaks), -1, math.Inf(1)
		for i := range len(peaks) - 1 {
			if d.apart(peaks, modes, i) {
				continue
			}
			if at := d.depth(peaks[i], peaks[i+1]); weakest < 0 || at < depth {
				weakest, depth = i, at
			}
		}
		if weakest < 0 {
			return modes
		}
		lower := weakest
		if d.smooth[peaks[weakest+1]] < d.smooth[peaks[weakest]] {
			lower++
		}
		peaks = slices.Delete(peaks, lower, lower+1)
	}
}

// binsApart is the number of bins in LeastApart. Windows are two bins wide.
const binsApart = 8

// A density is a histogram of logarithms.
type density struct {
	sorted []float64
	first  float64 // lower bound of bin 0
	width  float64 // of a bin
	counts []int
	smooth []float64 // counts, smoothed by a triangular kernel of five bins
}

func newDensity(sorted []float64) *density {
	d := &density{sorted: sorted, width: math.Log(LeastApart) / binsApart}
	const most = 1 << 12 // bins: a range of 10^74
	low, high := math.Log(sorted[0]), math.Log(sorted[len(sorted)-1])
	d.first = low - d.width
	d.counts = make([]int, min(int((high-d.first)/d.width)+2, most))
	for _, v := range sorted {
		d.counts[min(int((math.Log(v)-d.first)/d.width), len(d.counts)-1)]++
	}
	d.smooth = make([]float64, len(d.counts))
	for i := range d.counts {
		for j, weight := range [...]float64{1, 2, 3, 2, 1} {
			if at := i + j - 2; at >= 0 && at < len(d.counts) {
				d.smooth[i] += weight / 9 * float64(d.counts[at])
			}
		}
	}
	return d
}

// peaks are the bins of local maxima of the density, the middle bin of a plateau.
func (d *density) peaks() (peaks []int) {
	for i := 0; i < len(d.smooth); {
		end := i + 1
		for end < len(d.smooth) && d.smooth[end] == d.smooth[i] {
			end++
		}
		if d.smooth[i] > 0 && (i == 0 || d.smooth[i-1] < d.smooth[i]) && (end == len(d.smooth) || d.smooth[end] < d.smooth[i]) {
			peaks = append(peaks, (i+end-1)/2)
		}
		i = end
	}
	return peaks
}

// valley is the bin of the lowest density between two peaks, the middle bin of a plateau.
func (d *density) valley(a, b int) int {
	least, from, to := math.Inf(1), a, a
	for i := a; i <= b; i++ {
		switch {
		case d.smooth[i] < least:
			least, from, to = d.smooth[i], i, i
		case d.smooth[i] == least && to == i-1:
			to = i
		}
	}
	return (from + to) / 2
}

// depth is the ratio of the lower one of two peaks to the valley between them.
func (d *density) depth(a, b int) float64 {
	return min(d.smooth[a], d.smooth[b]) / max(d.smooth[d.valley(a, b)], 1e-9)
}

// apart reports whether the i-th peak and the next satisfy the conditions for two modes.
func (d *density) apart(peaks []int, modes []Mode, i int) bool {
	if modes[i+1].Center < LeastApart*modes[i].Center || min(modes[i].Share, modes[i+1].Share) < LeastShare {
		return false
	}
	a, b := peaks[i], peaks[i+1]
	lower := a
	if d.smooth[b] < d.smooth[a] {
		lower = b
	}
	few, many := d.window(d.valley(a, b)), d.window(lower)
	// The binomial probability that at most few of few+many values are in the valley's window, 1/2 each.
	return few < many && mathx.BetaInc(0.5, float64(many), float64(few+1)) <= valleyError
}

// window counts the values in a bin, and half of the values in its neighbours.
func (d *density) window(bin int) int {
	n := 2 * d.counts[bin]
	for _, at := range [...]int{bin - 1, bin + 1} {
		if at >= 0 && at < len(d.counts) {
			n += d.counts[at]
		}
	}
	return n / 2
}

// modes are the modes at the given peaks, divided at the valleys.
func (d *density) modes(peaks []int) (modes []Mode) {
	from, above := 0, 0.
	for i := range peaks {
		to, next := len(d.sorted), math.Inf(1)
		if i+1 < len(peaks) {
			next = math.Exp(d.first + d.width*(float64(d.valley(peaks[i], peaks[i+1]))+0.5))
			to = sort.SearchFloat64s(d.sorted, next)
		}
		m := Mode{Above: above, Share: float64(to-from) / float64(len(d.sorted))}
		if to > from {
			m.Center = middle(d.sorted[from:to])
		}
		modes = append(modes, m)
		from, above = to, next
	}
	return modes
}

// ModeOf is the index of a value's mode.
func ModeOf(modes []Mode, v float64) int {
	return max(0, sort.Search(len(modes), func(i int) bool { return modes[i].Above > v })-1)
}
