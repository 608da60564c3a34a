// Package doubt says what speaks against the numbers of a parameter file: a machine that was not
// the same all the time, CPUs and caches that were not as they should be, times that break the
// model's bounds.
//
// Its opinion: a doubt goes beyond the intervals, and says what to do about it.
package doubt

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/params"
)

// Of are what follows from a file's cells and speaks against some of them.
func Of(f *params.File) (all []error) {
	all = slices.Concat(Unequal(f), AllTaken(f), Drifts(f), OfMemory(f))
	if of := Steady(f); of != nil {
		all = append(all, of)
	}
	if of := f.OneWorker(); of != nil {
		all = append(all, of)
	}
	if broken := Bounds(f.Transfers()); len(broken) > 0 {
		all = append(all, broken[0])
		if more := len(broken) - 1; more > 0 {
			all = append(all, fmt.Errorf("and so in %d more places. The model has L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ); predictions take both as measured", more))
		}
	}
	told := make(map[string]bool) // several may have the o(m) of one
	for _, policy := range f.Plan.Policies {
		for _, off := range f.Plan.Caches {
			if below := f.BelowZero(params.Selection{Placement: policy, OffCache: off}); below != nil && !told[below.Error()] {
				all, told[below.Error()] = append(all, below), true
			}
		}
	}
	return all
}

// mostInCache is what may be in a cache off cache. Of buffers of twice what caches hold a
// quarter is, of four times mostly less than a twentieth.
const mostInCache = 0.15

// InCache is an error if data measured as off cache were in a cache; nil where they were not, or it
// is unknown.
func InCache(f *params.File) error {
	typical := f.Loads()
	if len(typical) == 0 || typical[0].InCache() <= mostInCache {
		return nil
	}
	var where []string
	for _, l := range typical {
		if l.InCache() > mostInCache {
			where = append(where, fmt.Sprintf("placement %s, τ = %d", l.Placement, l.Tau))
		}
	}
	more := ""
	if n := len(where) - 1; n > 0 {
		more = fmt.Sprintf(", and in %d more", n)
	}
	worst := typical[0]
	return fmt.Errorf("what is called off cache is not, in %s%s: a cache held %.0f %% of what messages came to next, of which a read took %.0f ns, and from memory %.0f ns: perhaps the machine has more cache than its kernel says, or more memory must be free for larger buffers",
		where[0], more, 100*worst.InCache(), worst.Next, worst.Flushed)
}

// leastBent is how far above the line of smaller τ a transfer must be to be worth a
// word, beyond the intervals.
const leastBent = 0.05

// AllTaken says where τ = n, all CPUs that may be used, is farther off than the line through n−1
// and the τ before suggests: other work, this program's included, is then on a worker's CPU.
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
