package pairs

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Groups are CPUs of one level that their times divide further: an EPYC that does not show its
// L3 caches, or a virtual machine that hides them. One that hides packages, too, has groups of
// groups.
type Groups struct {
	Level   string        `json:"level"`
	CPUs    numa.CPUSet   `json:"cpus"`
	Groups  []numa.CPUSet `json:"groups"`
	Bytes   int           `json:"m_bytes"`
	Within  float64       `json:"within_median_ns"`  // pairs of one group, and of no smaller one
	Between float64       `json:"between_median_ns"` // pairs of two, and of no larger one
}

// What makes groups.
const (
	// leastUnits are enough for chance to be told from groups: of six cores there are
	// ten ways to make two groups of three, and 5,005 ways to choose their six pairs.
	leastUnits = 6
	// leastRatio is of times between groups to times within: caches that are not shared cost
	// several times as much, a mesh of cores some per cent.
	leastRatio = 1.2
	// overlap is the share of pairs within that may take as long as the fastest twentieth of
	// the pairs between.
	overlap = 0.05
	// leastApart is by how many standard deviations medians differ.
	leastApart = 4
	// One in a hundred permutations of the times may make groups as distinct.
	permutations, byChance = 199, 2
	// mostNested of groups in groups: siblings, caches, nodes and packages.
	mostNested = 4
)

// FindGroups finds the hidden groups of each set of CPUs that the topology calls alike, by the
// times of the smallest message.
//
// CPUs are joined by average linkage of their logarithmic times; CPUs that the topology calls
// closer are joined before. The tree is cut where its heights leap most, among the cuts that
// leave two or more in every group, and where else they leap by leastRatio. Groups stand if the
// median between them, within the groups that enclose them, is leastRatio times the median
// within and leastApart standard deviations away, if both hardly overlap, and if hardly any
// permutation of the same times over the pairs makes groups as far apart: the cut is the best
// of many, and noise has a best cut, too. They must stand in all of the pairs' states, where
// the host moves CPUs, and at both ends of their intervals.
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
			for _, g := range divide(p, cpus.And(p.CPUs), at, pairs) {
				g.Level = l.Name
				all = append(all, g)
			}
		}
	}
	return all
}

// divide looks for groups of a set of CPUs, all of whose pairs are at a level or closer; the
// smallest come first. Two states of one pair are not two groups: groups must stand with what
// each pair takes at least and at most, in its states or, where they were not told, within its
// interval.
func divide(p *params.Pairs, cpus numa.CPUSet, level int, pairs map[[2]int]*params.Pair) []Groups {
	all := divideBy(p, cpus, level, pairs, func(pair *params.Pair) float64 { return pair.Times[0].Center })
	for _, end := range []func([]float64) float64{slices.Min[[]float64], slices.Max[[]float64]} {
		if len(all) == 0 {
			break
		}
		same := divideBy(p, cpus, level, pairs, func(pair *params.Pair) float64 {
			switch {
			case len(pair.States) > 0:
				return end(lists.Map(pair.States, func(s params.PairState) float64 { return s.Times[0].Center }))
			case pair.Times[0].Known():
				return end([]float64{pair.Times[0].Lo, pair.Times[0].Hi})
			}
			return pair.Times[0].Center
		})
		all = slices.DeleteFunc(all, func(g Groups) bool {
			return !slices.ContainsFunc(same, func(o Groups) bool { return slices.EqualFunc(g.Groups, o.Groups, slices.Equal[numa.CPUSet]) })
		})
	}
	return all
}

// divideBy divides by what pairs are said to take.
func divideBy(p *params.Pairs, cpus numa.CPUSet, level int, pairs map[[2]int]*params.Pair, time func(*params.Pair) float64) (all []Groups) {
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
		return nil
	}
	times := &distances{len(units), make([]float64, len(units)*(len(units)-1)/2)}
	for i, a := range units {
		for j, b := range units[:i] {
			var of []float64
			for _, x := range a {
				for _, y := range b {
					if pair := pairs[[2]int{min(x, y), max(x, y)}]; pair != nil && pair.Level == level && time(pair) > 0 {
						of = append(of, math.Log(time(pair)))
					}
				}
			}
			if len(of) == 0 {
				return nil // not all were measured
			}
			times.set(i, j, fit.Median(of).Center)
		}
	}
	cuts := times.cuts()
	random := rand.New(rand.NewPCG(1, 2)) // the same file says the same
	chance := make([]int, len(cuts))
	for n := 0; n < permutations && slices.ContainsFunc(chance, func(c int) bool { return c <= byChance }); n++ {
		random.Shuffle(len(times.of), func(i, j int) { times.of[i], times.of[j] = times.of[j], times.of[i] })
		apart := 0.0
		for _, by := range times.cuts() {
			apart = max(apart, by.apart())
		}
		for i, of := range cuts {
			if apart >= of.apart() {
				chance[i]++
			}
		}
	}
	for i, of := range cuts {
		if chance[i] > byChance {
			continue
		}
		g := Groups{CPUs: cpus, Bytes: p.Sizes[0], Within: math.Exp(of.within), Between: math.Exp(of.between)}
		for _, members := range of.groups {
			var set numa.CPUSet
			for _, u := range members {
				set = append(set, units[u]...)
			}
			g.Groups = append(g.Groups, numa.SetOf(set...))
		}
		slices.SortFunc(g.Groups, func(a, b numa.CPUSet) int { return a[0] - b[0] })
		all = append(all, g)
	}
	return all
}

// distances are logarithmic times between every two of n.
type distances struct {
	n  int
	of []float64
}

func (d *distances) set(i, j int, v float64) { d.of[max(i, j)*(max(i, j)-1)/2+min(i, j)] = v }
func (d *distances) at(i, j int) float64     { return d.of[max(i, j)*(max(i, j)-1)/2+min(i, j)] }

// A division is groups with the times within them, except within smaller groups that they are
// made of, and between them, except between larger groups; both rising.
type division struct {
	groups          [][]int
	leap            float64 // of the distance at which groups are joined
	in, out         []float64
	within, between float64 // their medians
}

// cuts are the distinct cuts before the greatest leaps in the distance of joining that leave no
// CPU alone, the smallest groups first.
func (d *distances) cuts() (cuts []division) {
	steps := d.joined()
	members, alone := slices.Repeat([]int{1}, d.n), d.n
	var before []int // steps
	leap := func(i int) float64 { return steps[i].distance - steps[i-1].distance }
	for i, s := range steps {
		if alone == 0 && leap(i) > 0 {
			before = append(before, i)
		}
		for _, g := range []int{s.into, s.from} {
			if members[g] == 1 {
				alone--
			}
		}
		members[s.into] += members[s.from]
	}
	slices.SortStableFunc(before, func(i, j int) int { return cmp.Compare(leap(j), leap(i)) })
	for _, i := range before {
		if len(cuts) == mostNested || len(cuts) > 0 && leap(i) < math.Log(leastRatio) {
			break
		}
		c := division{groups: d.after(steps[:i]), leap: leap(i)}
		at, _ := slices.BinarySearchFunc(cuts, len(c.groups), func(o division, n int) int { return n - len(o.groups) })
		if (at == 0 || c.joins(cuts[at-1])) && (at == len(cuts) || cuts[at].joins(c)) {
			cuts = slices.Insert(cuts, at, c)
		}
	}
	for len(cuts) > 0 {
		d.split(cuts)
		worst := -1
		for i := range cuts {
			if !cuts[i].distinct() && (worst < 0 || cuts[i].leap < cuts[worst].leap) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		cuts = slices.Delete(cuts, worst, worst+1)
	}
	return cuts
}

// joins reports whether each group is made of several smaller ones.
func (d *division) joins(smaller division) bool {
	return !slices.ContainsFunc(smaller.groups, func(g []int) bool {
		return slices.ContainsFunc(d.groups, func(of []int) bool { return len(of) == len(g) && slices.Contains(of, g[0]) })
	})
}

// A joining of two groups, each named by one member.
type joining struct {
	into, from int
	distance   float64 // mean of their pairs
}

// joined joins the two closest until all are one.
func (d *distances) joined() (steps []joining) {
	between, members := make([][]float64, d.n), slices.Repeat([]int{1}, d.n)
	var left []int
	for i := range d.n {
		between[i] = make([]float64, d.n)
		for j := range d.n {
			if i != j {
				between[i][j] = d.at(i, j)
			}
		}
		left = append(left, i)
	}
	nearest := make([]int, d.n)
	look := func(i int) {
		nearest[i] = -1
		for _, j := range left {
			if j != i && (nearest[i] < 0 || between[i][j] < between[i][nearest[i]]) {
				nearest[i] = j
			}
		}
	}
	for _, i := range left {
		look(i)
	}
	for len(left) > 1 {
		a := slices.MinFunc(left, func(i, j int) int { return cmp.Compare(between[i][nearest[i]], between[j][nearest[j]]) })
		b := nearest[a]
		steps = append(steps, joining{a, b, between[a][b]})
		left = slices.DeleteFunc(left, func(i int) bool { return i == b })
		na, nb := float64(members[a]), float64(members[b])
		for _, i := range left {
			mean := (na*between[a][i] + nb*between[b][i]) / (na + nb)
			between[a][i], between[i][a] = mean, mean
		}
		members[a] += members[b]
		for _, i := range left {
			if i == a || nearest[i] == a || nearest[i] == b {
				look(i)
			}
		}
	}
	return steps
}

// after are the groups that steps make.
func (d *distances) after(steps []joining) (groups [][]int) {
	of := make([][]int, d.n)
	for i := range of {
		of[i] = []int{i}
	}
	for _, s := range steps {
		of[s.into], of[s.from] = slices.Concat(of[s.into], of[s.from]), nil
	}
	return slices.DeleteFunc(of, func(g []int) bool { return len(g) == 0 })
}

// split gives each of nested cuts, the smallest groups first, the times that are its own.
func (d *distances) split(cuts []division) {
	of := make([][]int, len(cuts)) // groups, by cut and member
	for c := range cuts {
		of[c] = make([]int, d.n)
		for g, members := range cuts[c].groups {
			for _, i := range members {
				of[c][i] = g
			}
		}
	}
	times := make([][]float64, len(cuts)+1) // of pairs that the first c cuts part
	for i := range d.n {
		for j := range i {
			c := 0
			for c < len(cuts) && of[c][i] != of[c][j] {
				c++
			}
			times[c] = append(times[c], d.at(i, j))
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	for c := range cuts {
		cut := &cuts[c]
		cut.in, cut.out = times[c], times[c+1]
		cut.within, cut.between = fit.Median(cut.in).Center, fit.Median(cut.out).Center
	}
}

// distinct reports whether times between are longer than times within beyond doubt, and hardly
// any as short.
func (d *division) distinct() bool {
	return d.between-d.within >= math.Log(leastRatio) && d.apart() >= leastApart && d.overlap() <= overlap
}

// overlap is the share of times within that are not below the fastest twentieth of the times
// between.
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
	const most = 12 // groups that are told one by one
	sets := lists.Map(g.Groups, func(s numa.CPUSet) string { return s.String() })
	if n := len(sets); n > most {
		sets = []string{sets[0], sets[1], sets[2] + " … " + sets[n-1]}
	}
	return fmt.Sprintf("The %d CPUs %v of one level (%s) fall into %d groups by their times, %s: %s takes %s ns within a group and %s ns between two; the topology does not say so.",
		g.CPUs.Len(), g.CPUs, g.Level, len(g.Groups), strings.Join(sets, " and "), transfer(g.Bytes), digits(g.Within), digits(g.Between))
}
