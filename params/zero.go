package params

import (
	"fmt"
	"slices"
)

// Zero tells whether the time at m bytes and tau comes from one that is 0. Published
// files have such times: they were too short for what measured them, so that nothing
// is known there, nor between there and the next.
func (c *Curve) Zero(m, tau int) bool {
	rows, columns := around(c.Sizes, m), []int{0}
	if len(c.Taus) > 0 {
		columns = around(c.Taus, tau)
	}
	for _, row := range rows {
		for _, column := range columns {
			if c.Times[row][column] == 0 {
				return true
			}
		}
	}
	return false
}

// around are the indices of the values that At takes a value from.
func around(values []int, v int) []int {
	i, found := slices.BinarySearch(values, v)
	switch n := len(values); {
	case found, i == 0:
		return []int{i}
	case i < n:
		return []int{i - 1, i}
	case n == 1:
		return []int{0}
	default:
		return []int{n - 2, n - 1}
	}
}

// Zeros says where a table of transfers has times of 0; it is empty where it has none.
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
