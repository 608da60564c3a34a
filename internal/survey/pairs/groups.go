package pairs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Groups are CPUs of one level that their times divide further: an EPYC whose L3
// caches are not told, or a virtual machine that hides them.
type Groups struct {
	Level   string        `json:"level"`
	CPUs    numa.CPUSet   `json:"cpus"`
	Groups  []numa.CPUSet `json:"groups"`
	Bytes   int           `json:"m_bytes"`
	Within  float64       `json:"within_median_ns"`  // pairs of one group
	Between float64       `json:"between_median_ns"` // pairs of two
}

// What makes groups.
const (
	// leastUnits are enough for chance to be told from groups: of six cores there are
	// ten ways to make two groups of three, and 5,005 ways to choose their six pairs.
	leastUnits = 6
	// leastRatio of times between groups to those within: caches that are not shared
	// cost several times as much, and the way over a mesh of cores some per cent.
	leastRatio = 1.2
	// overlap is the share of pairs within that may take as long as the fastest
	// twentieth of those between.
	overlap = 0.05
	// leastApart is by how many standard deviations medians differ.
	leastApart = 4
	// One in a hundred permutations of the times may make groups as distinct.
	permutations, byChance = 199, 2
)

// FindGroups are the hidden groups of each set of CPUs that the topology takes for
// alike, by the times of the least message alone.
//
// CPUs are joined by average linkage of their logarithmic times; what the topology says
// to be closer is joined before. The tree is cut where its heights leap most, among the
// cuts that leave two or more in every group. The groups stand if the median between
// them is leastRatio times that within and leastApart standard deviations from it, if
// both hardly overlap, and if hardly any permutation of the same times over the pairs
// makes groups as far apart: the cut is the best of many, and of noise alone one is the
// best, too.
func FindGroups(p *params.Pairs, known numa.Levels) (all []Groups) {
	level := make(map[string]int)
	for i, l := range p.Levels {
		level[l.Name] = i
	}
	pairs := make(map[[2]int]*params.Pair)
	for i := range p.Pairs {
		pairs[[2]int{p.Pairs[i].From, p.Pairs[i].To}] = &p.Pairs[i]
	}
	for _, l := range known {
		at, measured := level[l.Name]
		if !measured {
			continue
		}
		for _, cpus := range l.Groups {
			if g, found := divide(p, cpus.And(p.CPUs), at, pairs); found {
				g.Level = l.Name
				all = append(all, g)
			}
		}
	}
	return all
}

// divide looks for groups of a set of CPUs, all of whose pairs are at a level or closer.
func divide(p *params.Pairs, cpus numa.CPUSet, level int, pairs map[[2]int]*params.Pair) (g Groups, found bool) {
	var units []numa.CPUSet // CPUs that the topology has closer together
	for _, cpu := range cpus {
		i := slices.IndexFunc(units, func(u numa.CPUSet) bool {
			pair := pairs[[2]int{u[0], cpu}]
			return pair != nil && pair.Level < level
		})
		if i < 0 {
			units = append(units, numa.CPUSet{cpu})
		} else {
			units[i] = append(units[i], cpu)
		}
	}
	if len(units) < leastUnits {
		return g, false
	}
	times := newDistances(len(units))
	for i, a := range units {
		for j, b := range units[:i] {
			var of []float64
			for _, x := range a {
				for _, y := range b {
					if pair := pairs[[2]int{min(x, y), max(x, y)}]; pair != nil && pair.Level == level && pair.Times[0].Center > 0 {
						of = append(of, math.Log(pair.Times[0].Center))
					}
				}
			}
			if len(of) == 0 {
				return g, false // not all were measured
			}
			times.set(i, j, fit.Median(of).Center)
		}
	}
	best, ok := times.cut()
	if !ok || !best.distinct() {
		return g, false
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same file says the same
	chance := 0
	for range permutations {
		random.Shuffle(len(times.of), func(i, j int) { times.of[i], times.of[j] = times.of[j], times.of[i] })
		if by, ok := times.cut(); ok && by.distinct() && by.apart() >= best.apart() {
			if chance++; chance > byChance {
				return g, false
			}
		}
	}
	g = Groups{CPUs: cpus, Bytes: p.Sizes[0], Within: math.Exp(best.within), Between: math.Exp(best.between)}
	for _, of := range best.groups {
		var set numa.CPUSet
		for _, u := range of {
			set = append(set, units[u]...)
		}
		g.Groups = append(g.Groups, numa.SetOf(set...))
	}
	slices.SortFunc(g.Groups, func(a, b numa.CPUSet) int { return a[0] - b[0] })
	return g, true
}

// distances are logarithmic times between every two of n.
type distances struct {
	n  int
	of []float64
}

func newDistances(n int) *distances { return &distances{n, make([]float64, n*(n-1)/2)} }

func (d *distances) set(i, j int, v float64) { d.of[max(i, j)*(max(i, j)-1)/2+min(i, j)] = v }
func (d *distances) at(i, j int) float64     { return d.of[max(i, j)*(max(i, j)-1)/2+min(i, j)] }

// A division is groups with the times within and between them, both rising.
type division struct {
	groups          [][]int
	in, out         []float64
	within, between float64 // their medians
}

// cut joins the two closest until all are one, and returns the groups before the
// greatest leap in the distance at which that happens.
func (d *distances) cut() (best division, found bool) {
	groups := make([][]int, d.n)
	between := make([][]float64, d.n) // mean distance of two groups
	for i := range groups {
		groups[i], between[i] = []int{i}, make([]float64, d.n)
		for j := range d.n {
			if i != j {
				between[i][j] = d.at(i, j)
			}
		}
	}
	leap, last := 0.0, math.Inf(1)
	var chosen [][]int
	for len(groups) > 1 {
		a, b := 0, 1
		for i := range groups {
			for j := range i {
				if between[i][j] < between[a][b] {
					a, b = j, i
				}
			}
		}
		height := between[a][b]
		alone := slices.ContainsFunc(groups, func(g []int) bool { return len(g) == 1 })
		if !alone && height-last > leap {
			leap, chosen = height-last, slices.Clone(groups)
		}
		last = height
		na, nb := float64(len(groups[a])), float64(len(groups[b]))
		for i := range groups {
			mean := (na*between[a][i] + nb*between[b][i]) / (na + nb)
			between[a][i], between[i][a] = mean, mean
		}
		groups[a] = slices.Concat(groups[a], groups[b])
		groups = slices.Delete(groups, b, b+1)
		between = slices.Delete(between, b, b+1)
		for i := range between {
			between[i] = slices.Delete(between[i], b, b+1)
		}
	}
	if chosen == nil {
		return best, false
	}
	best.groups = chosen
	of := make([]int, d.n)
	for g, members := range chosen {
		for _, i := range members {
			of[i] = g
		}
	}
	for i := range d.n {
		for j := range i {
			if of[i] == of[j] {
				best.in = append(best.in, d.at(i, j))
			} else {
				best.out = append(best.out, d.at(i, j))
			}
		}
	}
	slices.Sort(best.in)
	slices.Sort(best.out)
	best.within, best.between = fit.Median(best.in).Center, fit.Median(best.out).Center
	return best, true
}

// distinct tells whether times between are longer than those within beyond doubt, and
// hardly any as short.
func (d *division) distinct() bool {
	return d.between-d.within >= math.Log(leastRatio) && d.apart() >= leastApart && d.overlap() <= overlap
}

// overlap is the share of times within that are not below the fastest twentieth of
// those between.
func (d *division) overlap() float64 {
	least := d.out[len(d.out)/20]
	below, _ := slices.BinarySearch(d.in, least)
	return 1 - float64(below)/float64(len(d.in))
}

// apart is by how many standard deviations the medians differ, of the larger spread.
func (d *division) apart() float64 {
	return (d.between - d.within) / max(deviation(d.in), deviation(d.out), fit.LeastSpread)
}

// deviation is the standard deviation of rising values, were they normally distributed,
// from what four fifths of them span: an outlier does not count, a few of another kind
// do.
func deviation(v []float64) float64 {
	const span = 2.563 // standard deviations, of a normal distribution
	return (v[len(v)-1-len(v)/10] - v[len(v)/10]) / span
}

// String is a sentence.
func (g Groups) String() string {
	var sets []string
	for _, s := range g.Groups {
		sets = append(sets, s.String())
	}
	return fmt.Sprintf("The %d CPUs %v of one level (%s) fall into %d groups by their times, %s: %s takes %s ns within a group and %s ns between two; the topology does not say so.",
		g.CPUs.Len(), g.CPUs, g.Level, len(g.Groups), strings.Join(sets, " and "), transfer(g.Bytes), digits(g.Within), digits(g.Between))
}
