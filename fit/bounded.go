package fit

import (
	"fmt"
	"math"
)

// An Unknown is a cost that Bounded found.
type Unknown struct {
	Coefficient
	Determined bool // its error is less than half of it, or the times would have it beyond its bound
}

// Bounded fits T[i] = Σ_j cost_j·terms[i][j] by least squares of errors relative to scale[i],
// each cost from 0 to most[j]: the non-negative least squares of Lawson and Hanson, Solving
// Least Squares Problems, 1974, chapter 23, with upper bounds as in Stark and Parker's BVLS,
// 1995. It sets each cost in turn to its best value while the others stay, until none changes;
// costs that the times do not determine keep their value from first;
// standard errors are given for costs that are not at a bound. It fails for slices of different
// lengths and for a scale of 0.
func Bounded(terms [][]float64, T, scale, first, most []float64) (all []Unknown, err error) {
	n := len(first)
	if len(terms) != len(T) || len(scale) != len(T) || len(T) == 0 || len(most) != n {
		return nil, fmt.Errorf("%d rows of terms for %d times, %d bounds for %d costs", len(terms), len(T), len(most), n)
	}
	normal, right := make([][]float64, n), make([]float64, n)
	for j := range normal {
		normal[j] = make([]float64, n)
	}
	for i, row := range terms {
		if !(scale[i] > 0) || math.IsInf(scale[i], 0) || len(row) != n {
			return nil, fmt.Errorf("%d terms for %d costs, relative to %g", len(row), n, scale[i])
		}
		for j := range n {
			right[j] += row[j] / scale[i] * T[i] / scale[i]
			for k := range n {
				normal[j][k] += row[j] / scale[i] * row[k] / scale[i]
			}
		}
	}
	cost := make([]float64, n)
	for j := range cost {
		cost[j] = min(max(first[j], 0), most[j])
	}
	const rounds, still = 20000, 1e-10
	for range rounds {
		moved := 0.0
		for j := range n {
			if !(normal[j][j] > 0) {
				continue
			}
			gradient := right[j]
			for k := range n {
				gradient -= normal[j][k] * cost[k]
			}
			next := min(max(cost[j]+gradient/normal[j][j], 0), most[j])
			moved = max(moved, math.Abs(next-cost[j])*math.Sqrt(normal[j][j]))
			cost[j] = next
		}
		if moved < still*math.Sqrt(float64(len(T))) {
			break
		}
	}
	all = make([]Unknown, n)
	var free []int
	for j := range n {
		all[j] = Unknown{Coefficient: Coefficient{Value: cost[j], Held: true}}
		if normal[j][j] > 0 && cost[j] > 0 && cost[j] < most[j] {
			free = append(free, j)
		}
	}
	var squares float64
	for i, row := range terms {
		e := T[i] / scale[i]
		for j := range n {
			e -= cost[j] * row[j] / scale[i]
		}
		squares += e * e
	}
	if len(T) <= len(free) {
		return all, nil
	}
	variance := squares / float64(len(T)-len(free))
	for j := range n { // at a bound: how far the times pull beyond it
		gradient := right[j]
		for k := range n {
			gradient -= normal[j][k] * cost[k]
		}
		all[j].Determined = normal[j][j] > 0 && math.Abs(gradient) > 2*math.Sqrt(variance*normal[j][j])
	}
	const ridge = 1e-9 // costs that the times do not tell apart have large errors
	inverse, _ := inverted(normal, free, ridge)
	for at, j := range free {
		all[j].Held = false
		all[j].Error = math.Sqrt(variance * inverse[at][at])
		all[j].Determined = all[j].Error < all[j].Value/2
	}
	return all, nil
}
