package params

import (
	"fmt"
	"slices"
)

// Table is what τ-Lop needs to know of one channel: L(m,τ) and o(m).
type Table struct {
	Transfers Curve     // L(m,τ)
	Overheads []float64 // o(m) for each of the curve's sizes, in seconds
	Lacking   error     // which cells a sweep has not measured yet, so that their sizes are not here; nil: none
	Doubt     error     // of a file of text that may have been cut in its last number; nil: none
}

// L is the time of one transfer of m bytes while tau of them are active, in
// seconds, and whether it was extrapolated; see Curve.
func (t *Table) L(m, tau int) (seconds float64, extrapolated bool) {
	return t.Transfers.At(m, tau)
}

// O is the overhead o(m) in seconds, before the first byte moves. Below the smallest size it is
// constant. It grows in steps, so beyond the largest size it is constant, too, and counts as
// extrapolated.
func (t *Table) O(m int) (seconds float64, extrapolated bool) {
	sizes := t.Transfers.Sizes
	i, measured := slices.BinarySearch(sizes, m)
	switch {
	case measured:
		return t.Overheads[i], false
	case i == 0:
		return t.Overheads[0], false
	case i == len(sizes):
		return t.Overheads[i-1], true
	}
	return line(sizes[i-1], t.Overheads[i-1], sizes[i], t.Overheads[i], m), false
}

func (t *Table) check() error {
	if err := t.Transfers.check(); err != nil {
		return err
	}
	if len(t.Overheads) != len(t.Transfers.Sizes) {
		return fmt.Errorf("%d overheads for %d sizes", len(t.Overheads), len(t.Transfers.Sizes))
	}
	for i, v := range t.Overheads {
		if err := checkTime(v); err != nil {
			return fmt.Errorf("overhead of size %d: %w", t.Transfers.Sizes[i], err)
		}
	}
	return nil
}
