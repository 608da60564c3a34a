package params

import (
	"fmt"
)

// leastBent is how far above the line of smaller τ a transfer must be to be worth a
// word, beyond the intervals.
const leastBent = 0.05

// AllTaken says where τ = n, all CPUs that may be used, is farther off than the line through n−1
// and the τ before suggests: other work, this program's included, is then on a worker's CPU.
func (f *File) AllTaken() (all []error) {
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
			all = append(all, fmt.Errorf("%s, %s, m = %d: L of τ = %d is %.0f %% above what τ = %d and %d suggest, because no CPU is left for what else runs: trust τ = %d more",
				t.Setup, where(t.Placement, t.OffCache), t.Bytes, n, 100*(most.Center/line-1), before.Tau, n-1, n-1))
		}
	}
	return all
}
