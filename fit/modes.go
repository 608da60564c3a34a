package fit

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/mathx"
)

// A Mode is a range of values round which they gather.
type Mode struct {
	Center float64 // the median of its values
	Above  float64 // it begins here, and ends where the next one does; 0: the first
	Share  float64 // of all values
}

// What tells two modes apart.
const (
	// LeastApart is the least ratio of a mode's centre to the one before it.
	LeastApart = 1.4
	// LeastShare is the least share of all values in a mode.
	LeastShare = 0.03
	// valleyError bounds the probability that a valley is an accident. It is small because the
	// valley is looked for where values are fewest.
	valleyError = 1e-5
)

// Modes finds the modes of values above 0, in rising order; one if no two can be told apart,
// none without values. Two modes are LeastApart apart, each has LeastShare of the values, and
// between them lies a significant valley: a window of it holds so few values, compared with a
// window of the lower mode, that a density without a valley would give as few with probability
// valleyError (a binomial test of each valley, after Minnotte, "Nonparametric testing of the
// existence of modes", Ann. Statist. 25, 1997).
func Modes(values []float64) []Mode {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	d := newDensity(sorted)
	peaks := d.peaks()
	for len(peaks) > 1 {
		// The pair with the shallowest valley first: what is no mode is part of its neighbour.
		weakest, depth := -1, math.Inf(1)
		for i := range len(peaks) - 1 {
			if d.apart(peaks, i) {
				continue
			}
			if at := d.depth(peaks[i], peaks[i+1]); weakest < 0 || at < depth {
				weakest, depth = i, at
			}
		}
		if weakest < 0 {
			break
		}
		lower := weakest
		if d.smooth[peaks[weakest+1]] < d.smooth[peaks[weakest]] {
			lower++
		}
		peaks = slices.Delete(peaks, lower, lower+1)
	}
	return d.modes(peaks)
}

// binsApart is how many bins LeastApart has: windows are two of them.
const binsApart = 8

// A density is a histogram of logarithms.
type density struct {
	sorted []float64
	first  float64 // logarithm at which bin 0 begins
	width  float64
	counts []int
	smooth []float64
}

func newDensity(sorted []float64) *density {
	d := &density{sorted: sorted, width: math.Log(LeastApart) / binsApart}
	const most = 1 << 12 // bins, of values that are 10^74 apart
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

// peaks are the bins where the density is highest, between lower ones.
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

// valley is the bin between two peaks where the density is lowest, the middle one of several.
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

// depth of the valley between two peaks, as the ratio of the lower one to it.
func (d *density) depth(a, b int) float64 {
	return min(d.smooth[a], d.smooth[b]) / max(d.smooth[d.valley(a, b)], 1e-9)
}

// apart reports whether the i-th peak and the next are modes of their own.
func (d *density) apart(peaks []int, i int) bool {
	modes := d.modes(peaks)
	if modes[i+1].Center < LeastApart*modes[i].Center || min(modes[i].Share, modes[i+1].Share) < LeastShare {
		return false
	}
	a, b := peaks[i], peaks[i+1]
	lower := a
	if d.smooth[b] < d.smooth[a] {
		lower = b
	}
	few, many := d.window(d.valley(a, b)), d.window(lower)
	if few+many == 0 {
		return false
	}
	// The probability of so few of both in the valley, where each is there with 1/2.
	return few < many && mathx.BetaInc(0.5, float64(many), float64(few+1)) <= valleyError
}

// window counts the values in a bin, and half of those in its neighbours.
func (d *density) window(bin int) int {
	n := 2 * d.counts[bin]
	for _, at := range [...]int{bin - 1, bin + 1} {
		if at >= 0 && at < len(d.counts) {
			n += d.counts[at]
		}
	}
	return n / 2
}

// modes returns the modes at the given peaks.
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

// ModeOf is the index of the mode that a value belongs to.
func ModeOf(modes []Mode, v float64) int {
	return max(0, sort.Search(len(modes), func(i int) bool { return modes[i].Above > v })-1)
}
