package chart

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// numbered reports whether the choice says of which number to draw profiles.
func (f figure) numbered(all []profile) bool {
	if len(f.Taus) > 0 {
		return true
	}
	numbers := func(of []profile) int {
		return len(distinct(of, func(p profile) []int { return []int{p.Number} }))
	}
	return slices.ContainsFunc(f.Variants, func(word string) bool {
		return numbers(lists.Filter(all, func(p profile) bool { return p.is(word) })) < numbers(all)
	})
}

// largest are the profiles of the largest number that all machines have, or all profiles.
func (f figure) largest(of []profile) []profile {
	number := func(p profile) int { return p.Number }
	lines := lists.Filter(of, func(p profile) bool { return len(p.Points) > 1 })
	numbers := common(lines, number, len(f.machines))
	if len(numbers) == 0 {
		return of
	}
	return lists.Filter(of, func(p profile) bool { return number(p) == numbers[len(numbers)-1] })
}

// fewTaus are powers of two and the largest τ of one machine, the smallest and the
// largest common τ of several.
func fewTaus(of []profile, machines int) []int {
	taus := common(of, func(p profile) int { return p.Tau }, machines)
	if len(taus) < 2 {
		return taus
	}
	last := taus[len(taus)-1]
	if machines > 1 {
		return []int{taus[0], last}
	}
	return slices.DeleteFunc(taus, func(tau int) bool { return tau&(tau-1) != 0 && tau != last })
}

// common are the values, rising, common to the profiles of all machines.
func common(of []profile, value func(profile) int, machines int) []int {
	return slices.DeleteFunc(distinct(of, func(p profile) []int { return []int{value(p)} }), func(v int) bool {
		having := lists.Filter(of, func(p profile) bool { return value(p) == v })
		return len(lists.Unique(lists.Map(having, machineOf))) < machines
	})
}

// fewVariants of a panel are drawn under their own names. More would hide each other.
const fewVariants = 3

// tellApart reports whether every variant gets a line: those that are chosen, as far
// as a chart goes, and few of one machine.
func (f figure) tellApart(of []profile) bool {
	if len(f.Variants) > 0 {
		lines := lists.Unique(lists.Map(of, func(p profile) string { return p.Line }))
		return len(lines)*len(f.machines) <= MaxLines
	}
	return len(f.machines) == 1 && !slices.ContainsFunc(variants(of), func(v []profile) bool { return len(v) > fewVariants })
}

// variants are the profiles that differ in nothing else.
func variants(of []profile) (groups [][]profile) {
	for _, p := range of {
		i := slices.IndexFunc(groups, func(g []profile) bool {
			q := g[0]
			return q.machine == p.machine && q.Panel == p.Panel && q.Where == p.Where
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

const medianVariant = "median variant"

// represented are the quickest, the median and the slowest variant of each panel;
// of several machines the median alone.
func represented(of []profile, machines int) (few []profile) {
	for _, group := range variants(of) {
		common := distinct(group, profile.sizes)
		for _, p := range group {
			common = slices.DeleteFunc(common, func(m int) bool { return !slices.Contains(p.sizes(), m) })
		}
		pace := func(p profile) (sum float64) { // a long message does not count for more than a short one
			for _, q := range p.Points {
				if slices.Contains(common, q.X) {
					sum += math.Log(q.Y.Center)
				}
			}
			return sum
		}
		slices.SortStableFunc(group, func(a, b profile) int { return cmp.Compare(pace(a), pace(b)) })
		n := len(group)
		for i := range group {
			group[i].of = n
		}
		median := group[(n-1)/2]
		median.role = medianVariant
		if machines > 1 || n == 1 {
			few = append(few, median)
			continue
		}
		group[0].role, group[n-1].role = "quickest variant", "slowest variant"
		if few = append(few, group[0]); n > 2 {
			few = append(few, median)
		}
		few = append(few, group[n-1])
	}
	return few
}
