package decimal

import (
	"cmp"
	"math"
	"slices"
)

// Shares rounds shares to whole steps of 1/steps that add up to what the shares do, rounded: the
// largest remainders go up.
func Shares(of []float64, steps int) []float64 {
	rounded, order, sum, left := make([]float64, len(of)), make([]int, len(of)), 0., 0.
	for i, share := range of {
		order[i], rounded[i] = i, math.Floor(share*float64(steps))
		sum, left = sum+share, left-rounded[i]
	}
	rest := func(i int) float64 { return of[i]*float64(steps) - rounded[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest(b), rest(a)) })
	for _, i := range order[:max(0, int(left+math.Round(sum*float64(steps))))] {
		rounded[i]++
	}
	for i := range rounded {
		rounded[i] /= float64(steps)
	}
	return rounded
}
