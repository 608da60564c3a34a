package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// An Interval is a range of message sizes with the same cheapest algorithms.
type Interval struct {
	From, To     int     // bytes, both within
	Cheapest     []int   // indices; several if at From their costs were equal within the margin
	Advantage    float64 // largest ratio of the best other cost to theirs; 1 without others
	Extrapolated bool    // some cost is, of any algorithm
	Unknown      bool    // some cost is, so none is the cheapest
}

// Cheapest finds the cheapest of several costs for all message sizes between two. A cheapest algorithm
// stays until another one is cheaper by more than the margin, a fraction: costs rise in steps of
// segments, at which nearly equal algorithms would alternate. Likewise an interval begins with all
// algorithms within the margin of the best. It compares sizes 1/64 of an octave apart, and bisects
// between neighbours that differ, so it can miss a narrower change.
func Cheapest(from, to int, margin float64, costs func(m int) ([]Cost, error)) ([]Interval, error) {
	var intervals []Interval
	var now Interval
	for _, m := range sizesBetween(from, to) {
		cs, err := costs(m)
		if err != nil {
			return nil, err
		}
		for now.From > 0 && !now.holds(cs, margin) {
			low, high, at := now.To, m, cs // high: the first size where it no longer holds
			for high-low > 1 {
				middle := low + (high-low)/2
				if cs, err = costs(middle); err != nil {
					return nil, err
				}
				if now.holds(cs, margin) {
					low = middle
				} else {
					high, at = middle, cs
				}
			}
			now.To = high - 1
			intervals = append(intervals, now)
			now = newInterval(high, at, margin)
			if cs, err = costs(m); err != nil {
				return nil, err
			}
		}
		if now.From == 0 {
			now = newInterval(m, cs, margin)
		}
		now.include(m, cs)
	}
	return append(intervals, now), nil
}

// newInterval begins with the algorithms within the margin of the least cost.
func newInterval(m int, costs []Cost, margin float64) Interval {
	in := Interval{From: m, Advantage: 1}
	if in.Unknown = anyUnknown(costs); in.Unknown {
		in.To = m
		return in
	}
	most := leastOf(costs) * (1 + max(margin, 1e-9))
	in.Cheapest = lists.Filter(lists.Indices(len(costs)), func(i int) bool { return costs[i].Seconds <= most })
	in.include(m, costs)
	return in
}

// holds tells whether no algorithm is cheaper by more than the margin.
func (in *Interval) holds(costs []Cost, margin float64) bool {
	if unknown := anyUnknown(costs); unknown || in.Unknown {
		return unknown == in.Unknown
	}
	most := leastOf(costs) * (1 + max(margin, 1e-9))
	return !slices.ContainsFunc(in.Cheapest, func(i int) bool { return costs[i].Seconds > most })
}

func (in *Interval) include(m int, costs []Cost) {
	if in.To = m; in.Unknown {
		return
	}
	worst, next := 0.0, math.Inf(1)
	for i, c := range costs {
		in.Extrapolated = in.Extrapolated || c.Extrapolated
		if slices.Contains(in.Cheapest, i) {
			worst = max(worst, c.Seconds)
		} else {
			next = min(next, c.Seconds)
		}
	}
	if worst > 0 && !math.IsInf(next, 1) {
		in.Advantage = max(in.Advantage, next/worst)
	}
}

func anyUnknown(costs []Cost) bool {
	return slices.ContainsFunc(costs, func(c Cost) bool { return c.Unknown })
}

func leastOf(costs []Cost) float64 {
	return slices.MinFunc(costs, func(a, b Cost) int { return cmp.Compare(a.Seconds, b.Seconds) }).Seconds
}

// sizesBetween are 64 sizes an octave, at small sizes all, with both ends.
func sizesBetween(from, to int) []int {
	var sizes []int
	for m := float64(from); m < float64(to); {
		sizes = append(sizes, int(m))
		m = max(math.Floor(m)+1, m*math.Exp2(1./64))
	}
	return append(sizes, to)
}
