package decimal

import (
	"cmp"
	"math"
	"slices"
)

// Shares rounds shares to multiples of 1/steps whose sum is the rounded sum of the shares, by the largest
// remainder method.
func Shares(shares []float64, steps int) []float64 {
	rounded, order, sum, left := make([]float64, len(shares)), make([]int, len(shares)), 0., 0.
	for i, share := range shares {
		order[i], rounded[i] = i, math.Floor(share*float64(steps))
		sum, left = sum+share, left-rounded[i]
	}
	remainder := func(i int) float64 { return shares[i]*float64(steps) - rounded[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder(b), remainder(a)) })
	for _, i := range order[:max(0, int(left+math.Round(sum*float64(steps))))] {
		rounded[i]++
	}
	for i := range rounded {
		rounded[i] /= float64(steps)
	}
	return rounded
}
