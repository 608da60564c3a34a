// Package params holds the τ-Lop parameters of a machine, and reads and writes their files. It knows
// neither how they are measured nor how models use them.
package params

import (
	"fmt"
	"slices"
)

// Curve is a time over message sizes m and numbers τ of concurrent actions. It is interpolated linearly
// between measured points and extrapolated beyond them:
//
//   - m below the smallest size has that size's time, which is all
//     overhead and synchronisation there;
//   - m above the largest size is on the line through the last two sizes,
//     but not below the last; with one size, time is proportional to m;
//   - τ below the smallest has the smallest one's time;
//   - τ above the largest, n, is on the line through the last two columns,
//     but within the bounds of eq. (8): t(m,n), and (τ/n)·t(m,n) of a serial
//     channel. With one column it is the upper bound.
type Curve struct {
	Sizes []int       // m in bytes, rising
	Taus  []int       // τ, rising; nil: a single column holds for any τ
	Times [][]float64 // for each size and each τ, in seconds
}

// At returns the time in seconds at m bytes and tau, and whether it is extrapolated.
func (c *Curve) At(m, tau int) (seconds float64, extrapolated bool) {
	if len(c.Taus) == 0 {
		return c.column(0, m)
	}
	i, j := around(c.Taus, tau)
	last, beyond := c.column(j, m)
	if i == j && tau <= c.Taus[j] {
		return last, beyond || tau < c.Taus[j]
	}
	serial := last * float64(tau) / float64(c.Taus[j])
	if i == j {
		return serial, true
	}
	before, _ := c.column(i, m)
	seconds = line(c.Taus[i], before, c.Taus[j], last, tau)
	if tau < c.Taus[j] {
		return seconds, beyond
	}
	return min(max(seconds, last), serial), true
}

// column is the time at m bytes in the i-th column.
func (c *Curve) column(i, m int) (seconds float64, extrapolated bool) {
	low, high := around(c.Sizes, m)
	last := c.Times[high][i]
	switch {
	case low == high && m <= c.Sizes[high]:
		return last, m < c.Sizes[high]
	case low == high:
		return last * float64(m) / float64(c.Sizes[high]), true
	}
	seconds = line(c.Sizes[low], c.Times[low][i], c.Sizes[high], last, m)
	if m < c.Sizes[high] {
		return seconds, false
	}
	return max(seconds, last), true
}

// line is the line through two points, at x.
func line(x0 int, y0 float64, x1 int, y1 float64, x int) float64 {
	return y0 + float64(x-x0)*(y1-y0)/float64(x1-x0)
}

// Table has τ-Lop's parameters of one channel: L(m,τ) and o(m).
type Table struct {
	Transfers Curve     // L(m,τ)
	Overheads []float64 // o(m) for each of the curve's sizes, in seconds
	Lacking   error     // cells that a sweep has not measured yet; the table leaves their sizes out
	Doubt     error     // the text file may have been cut in its last number
}

// L is the time of a transfer of m bytes while tau are active, in seconds, and whether it is extrapolated;
// see Curve.
func (t *Table) L(m, tau int) (seconds float64, extrapolated bool) { return t.Transfers.At(m, tau) }

// O is the overhead o(m) in seconds, before the first byte moves. Below the smallest size it is constant;
// beyond the largest, too, because it grows in steps, but there it counts as extrapolated.
func (t *Table) O(m int) (seconds float64, extrapolated bool) {
	sizes := t.Transfers.Sizes
	return levelOff(sizes, t.Overheads, m), m > sizes[len(sizes)-1]
}

// levelOff is a value at m, interpolated between those of rising sizes, and constant before and beyond them.
func levelOff(sizes []int, values []float64, m int) float64 {
	low, high := around(sizes, m)
	if low == high || m > sizes[high] {
		return values[high]
	}
	return line(sizes[low], values[low], sizes[high], values[high], m)
}

// Zero reports whether the time at m bytes and tau comes from a time of 0. Published files have such
// times, which were too short for the measurement: times there, and up to the next point, are unknown.
func (c *Curve) Zero(m, tau int) bool {
	low, high := around(c.Sizes, m)
	first, last := 0, 0
	if len(c.Taus) > 0 {
		first, last = around(c.Taus, tau)
	}
	return slices.ContainsFunc(c.Times[low:high+1], func(row []float64) bool { return slices.Contains(row[first:last+1], 0) })
}

// around are the indices of the values that At takes the line through for v; the same one where a value is v,
// before the first, and of one value.
func around(values []int, v int) (low, high int) {
	i, found := slices.BinarySearch(values, v)
	switch n := len(values); {
	case found || i == 0 || n == 1:
		return min(i, n-1), min(i, n-1)
	case i == n:
		return n - 2, n - 1
	}
	return i - 1, i
}

// Zeros says which times of a table of transfers are 0; "" if there are none.
func (c *Curve) Zeros() string {
	first, n := "", 0
	for row, times := range c.Times {
		for i, v := range times {
			if v == 0 {
				if n++; n == 1 {
					first = fmt.Sprintf("L(%d,%d)", c.Sizes[row], append(slices.Clone(c.Taus), 1)[i])
				}
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return first + " is 0"
	}
	return fmt.Sprintf("%s and %d more times are 0", first, n-1)
}
