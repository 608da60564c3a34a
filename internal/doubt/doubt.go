// Package doubt warns of unreliable numbers in a parameter file: machines that changed during the
// measurement, slow CPUs, data in caches, times that break the model's bounds.
//
// Its opinion: a doubt goes beyond the intervals, and says what to do about it.
package doubt

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// Of are all doubts about a file's cells.
func Of(f *params.File) (all []error) {
	all = slices.Concat(Unequal(f), AllTaken(f), Drifts(f), OfMemory(f), some(Steady(f), f.OneWorker()))
	if broken := Bounds(f.Transfers()); len(broken) > 0 {
		all = append(all, broken[0])
		if more := len(broken) - 1; more > 0 {
			all = append(all, fmt.Errorf("eq. (8) is also broken in %s. The model has L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ); predictions take both as measured", printable.Count(more, "more place")))
		}
	}
	told := make(map[string]bool) // channels may share one o(m)
	for _, policy := range f.Plan.Policies {
		for _, off := range f.Plan.Caches {
			if below := f.BelowZero(params.Selection{Placement: policy, OffCache: off}); below != nil && !told[below.Error()] {
				all, told[below.Error()] = append(all, below), true
			}
		}
	}
	return all
}

// some are the doubts that there are.
func some(doubts ...error) []error {
	return lists.Filter(doubts, func(doubt error) bool { return doubt != nil })
}

// mostInCache is the share of off-cache data that may be in a cache. Of buffers of twice the size of the
// caches a quarter is in them, of four times mostly less than a twentieth, but up to a tenth seems to be where
// other guests use the memory, too.
const mostInCache = 0.20

// InCache is an error if data measured as off cache were in a cache; nil if not, or if it is unknown.
func InCache(f *params.File) error {
	typical := f.Loads()
	if len(typical) == 0 || typical[0].InCache() <= mostInCache {
		return nil
	}
	worst, more := typical[0], ""
	if n := len(lists.Filter(typical, func(l params.Loads) bool { return l.InCache() > mostInCache })) - 1; n > 0 {
		more = fmt.Sprintf(", and in %d more", n)
	}
	return fmt.Errorf("data were in a cache, not off cache, in placement %s, τ = %d%s: a cache held %.0f %% of the next messages' data; a read took %.0f ns, from memory %.0f ns: perhaps the machine has more cache than its kernel says, or more memory must be free for larger buffers",
		worst.Placement, worst.Tau, more, 100*worst.InCache(), worst.Next, worst.Flushed)
}

// leastBent is the least excess over the line of smaller τ that AllTaken reports.
const leastBent = 0.05

// AllTaken reports L at τ = n, all allowed CPUs, if it is above the line through n−1 and the τ before,
// beyond the intervals: then other processes, or this program itself, used a worker's CPU.
func AllTaken(f *params.File) (all []error) {
	n := f.Provenance.Allowed.Len()
	for _, t := range f.Transfers() {
		last := len(t.Cells) - 1
		if t.Bytes != f.Plan.SegmentBytes || last < 2 || t.Cells[last].Tau != n || t.Cells[last-1].Tau != n-1 {
			continue
		}
		before, less, most := t.Cells[last-2], t.Cells[last-1].Segment(), t.Cells[last].Segment()
		if !less.Known() || !most.Known() || !before.Time.Known() {
			continue
		}
		step := 1 / float64(n-1-before.Tau)
		line := less.Center + step*(less.Center-before.Segment().Center)
		if highest := less.Hi + step*(less.Hi-before.Segment().Lo); most.Lo > highest && most.Center > (1+leastBent)*line {
			all = append(all, fmt.Errorf("%s, %s, m = %d: L of τ = %d is %.0f %% above what τ = %d and %d suggest; it leaves no CPU for what else runs, so trust τ = %d more",
				t.Setup, params.Where(t.Placement, t.OffCache), t.Bytes, n, 100*(most.Center/line-1), before.Tau, n-1, n-1))
		}
	}
	return all
}
