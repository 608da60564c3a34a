package chart

import (
	"maps"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// numbered reports whether the choice determines the numbers of profiles.
func (f figure) numbered(all []profile) bool {
	return len(f.Taus) > 0 || slices.ContainsFunc(f.Variants, func(word string) bool {
		called := lists.Filter(all, func(p profile) bool { return p.is(word) })
		return len(distinct(called, numberOf)) < len(distinct(all, numberOf))
	})
}

func numberOf(p profile) int { return p.Number }

// largest are the profiles of the largest number that all machines have, or all if there is none.
func (f figure) largest(of []profile) []profile {
	lines := lists.Filter(of, func(p profile) bool { return len(p.Points) > 1 })
	numbers := common(lines, numberOf, len(f.machines))
	if len(numbers) == 0 {
		return of
	}
	return lists.Filter(of, func(p profile) bool { return p.Number == numbers[len(numbers)-1] })
}

// few are the profiles of the chosen τ. The default is most of these at the most: the powers of two and the
// largest τ of one machine, or the smallest and the largest common τ of several; of one the largest.
func (f figure) few(of []profile, machines, most int) []profile {
	if len(f.Taus) > 0 {
		return of
	}
	taus := common(of, tauOf, machines)
	switch n := len(taus); {
	case n > 1 && most == 1:
		taus = taus[n-1:]
	case n > 1 && machines > 1:
		taus = []int{taus[0], taus[n-1]}
	default:
		taus = lists.Spread(slices.DeleteFunc(taus, func(tau int) bool { return tau&(tau-1) != 0 && tau != taus[n-1] }), most)
	}
	return lists.Filter(of, func(p profile) bool { return slices.Contains(taus, p.Tau) })
}

// common are the values that profiles of all machines have, rising.
func common(of []profile, value func(profile) int, machines int) []int {
	return slices.DeleteFunc(distinct(of, value), func(v int) bool {
		having := lists.Filter(of, func(p profile) bool { return value(p) == v })
		return len(lists.Unique(lists.Map(having, machineOf))) < machines
	})
}

// fewVariants is the number of variants of a panel that are lines of their own.
const fewVariants = 3

// tellApart reports whether every variant is a line of its own: chosen ones up to MaxLines, else few of
// one machine.
func (f figure) tellApart(of []profile) bool {
	if len(f.Variants) > 0 {
		lines := lists.Unique(lists.Map(of, func(p profile) string { return p.Line }))
		return len(lines)*len(f.machines) <= MaxLines
	}
	panels := lists.Groups(of, func(p profile) string { return p.Panel })
	return len(f.machines) == 1 && !slices.ContainsFunc(panels, func(variants []profile) bool { return len(variants) > fewVariants })
}

// Median is the name of the median of lines.
const Median = "median of all"

// crowd is the median of lines, then the lines, thin unless they are in out, and the band of a robust
// standard deviation about the median, at every X where enough lines (least) have a value.
func crowd(median Series, lines []Series, least int, out []string) (all []Series, about Band) {
	at := make(map[float64][]float64)
	for _, l := range lines {
		for _, p := range l.Points {
			at[p.X] = append(at[p.X], p.Y.Center)
		}
	}
	for _, x := range slices.Sorted(maps.Keys(at)) {
		if len(at[x]) < least {
			continue
		}
		s := fit.NewSpread(at[x])
		median.Points = append(median.Points, Point{x, exactly(s.Median)})
		about.X, about.Lo, about.Hi = append(about.X, x), append(about.Lo, max(s.Least, s.Median-s.Deviation)), append(about.Hi, s.Median+s.Deviation)
	}
	all = []Series{median}
	for _, l := range lines {
		l.Points = lists.Map(l.Points, func(p Point) Point { return Point{p.X, exactly(p.Y.Center)} })
		if i := slices.Index(out, l.Of); i >= 0 {
			l.Colour, l.Style = i, i+1
		} else {
			l.Colour, l.Faint = median.Colour, true
		}
		all = append(all, l)
	}
	return all, about
}
