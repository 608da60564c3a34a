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

// Groups are CPUs of one level in groups that the topology hides and times reveal, as where a virtual
// machine hides L3 caches. If it hides packages, too, there are groups of groups.
type Groups struct {
	Level   string        `json:"level"`
	CPUs    numa.CPUSet   `json:"cpus"`
	Groups  []numa.CPUSet `json:"groups"`
	Bytes   int           `json:"m_bytes"`
	Within  float64       `json:"within_median_ns"`  // pairs in one group, but in no smaller one
	Between float64       `json:"between_median_ns"` // pairs in two groups of the next larger group
}

const (
	// leastUnits is enough to tell groups from chance: six cores have ten divisions into two groups of
	// three, and 5,005 choices of their six pairs.
	leastUnits = 6
	// leastRatio is the ratio of times between groups to times within: times across caches are several
	// times as long, times across a mesh of cores some per cent longer.
	leastRatio = 1.2
	// overlap is the share of pairs within groups that may take as long as the fastest twentieth of
	// the pairs between groups.
	overlap = 0.05
	// leastApart is the difference of medians in standard deviations.
	leastApart = 4
	// One in a hundred permutations of the times may give equally distinct groups.
	permutations, byChance = 199, 2
	// mostNested is the largest depth of groups: siblings, caches, nodes and packages.
	mostNested = 4
)

// FindGroups finds the hidden groups in each set of CPUs of one topology level, by the times of the
// smallest message.
//
// Clusters are joined by average linkage of logarithmic times; CPUs at closer levels of the topology
// are one unit. The tree is cut at its largest leap in height among the cuts that leave no unit
// alone, and at further leaps of leastRatio. Groups are accepted if the median time between them,
// within the enclosing group, is leastRatio times the median within and leastApart standard
// deviations away, if the times hardly overlap, and if hardly any permutation of the times over the
// pairs gives equally distant groups: noise, too, has a best cut. If the host moves CPUs, they must
// be accepted in all states of the pairs, and always at both ends of the pairs' intervals.
func FindGroups(p *params.Pairs, known numa.Levels) (all []Groups) {
	level := lists.Index(p.Levels, func(l params.PairLevel) string { return l.Name })
	pairs := lists.ToMap(p.Pairs, func(q params.Pair) ([2]int, *params.Pair) { return [2]int{q.From, q.To}, &q })
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

// divide finds groups in CPUs whose pairs are at the level or closer, the smallest groups first. Two
// states of a pair are not two groups, so groups must be the same with the shortest and the longest
// time of each pair over its states, or over its interval if states are unknown.
func divide(p *params.Pairs, cpus numa.CPUSet, level int, pairs map[[2]int]*params.Pair) []Groups {
	found := divideBy(p, cpus, level, pairs, func(pair *params.Pair) float64 { return pair.Times[0].Center })
	for _, end := range []func([]float64) float64{slices.Min[[]float64], slices.Max[[]float64]} {
		if len(found) == 0 {
			break
		}
		confirmed := divideBy(p, cpus, level, pairs, func(pair *params.Pair) float64 {
			switch {
			case len(pair.States) > 0:
				return end(lists.Map(pair.States, func(s params.PairState) float64 { return s.Times[0].Center }))
			case pair.Times[0].Known():
				return end([]float64{pair.Times[0].Lo, pair.Times[0].Hi})
			}
			return pair.Times[0].Center
		})
		found = slices.DeleteFunc(found, func(g Groups) bool {
			return !slices.ContainsFunc(confirmed, func(o Groups) bool { return slices.EqualFunc(g.Groups, o.Groups, slices.Equal[numa.CPUSet]) })
		})
	}
	return found
}

// divideBy is divide with the given time of each pair.
func divideBy(p *params.Pairs, cpus numa.CPUSet, level int, pairs map[[2]int]*params.Pair, time func(*params.Pair) float64) (all []Groups) {
	var units []numa.CPUSet // CPUs at closer levels
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
			var logs []float64
			for _, x := range a {
				for _, y := range b {
					if pair := pairs[[2]int{min(x, y), max(x, y)}]; pair != nil && pair.Level == level && time(pair) > 0 {
						logs = append(logs, math.Log(time(pair)))
					}
				}
			}
			if len(logs) == 0 {
				return nil // not measured
			}
			times.set(i, j, fit.Median(logs).Center)
		}
	}
	cuts := times.cuts()
	random := rand.New(rand.NewPCG(1, 2)) // equal results for equal files
	chance := make([]int, len(cuts))      // permutations that are as distinct
	for n := 0; n < permutations && slices.ContainsFunc(chance, func(c int) bool { return c <= byChance }); n++ {
		random.Shuffle(len(times.pairs), func(i, j int) { times.pairs[i], times.pairs[j] = times.pairs[j], times.pairs[i] })
		apart := lists.Most(times.cuts(), func(cut division) float64 { return cut.apart() })
		for i, cut := range cuts {
			if apart >= cut.apart() {
				chance[i]++
			}
		}
	}
	for i, cut := range cuts {
		if chance[i] > byChance {
			continue
		}
		g := Groups{CPUs: cpus, Bytes: p.Sizes[0], Within: math.Exp(cut.within), Between: math.Exp(cut.between)}
		for _, members := range cut.groups {
			set := lists.Concat(members, func(u int) []int { return units[u] })
			g.Groups = append(g.Groups, numa.SetOf(set...))
		}
		slices.SortFunc(g.Groups, func(a, b numa.CPUSet) int { return a[0] - b[0] })
		all = append(all, g)
	}
	return all
}

// distances are the logarithmic times of all pairs of n units.
type distances struct {
	n     int
	pairs []float64
}

func (d *distances) set(i, j int, v float64) { d.pairs[max(i, j)*(max(i, j)-1)/2+min(i, j)] = v }
func (d *distances) at(i, j int) float64     { return d.pairs[max(i, j)*(max(i, j)-1)/2+min(i, j)] }

// A division is groups with their rising times: within a group but not within a smaller one, and
// between groups of the same larger one.
type division struct {
	groups          [][]int
	leap            float64 // of the distance at which groups are joined
	in, out         []float64
	within, between float64 // their medians
}

// cuts are the distinct cuts at the largest leaps of distance that leave no unit alone, the smallest
// groups first.
func (d *distances) cuts() (cuts []division) {
	steps := d.joined()
	members, alone := slices.Repeat([]int{1}, d.n), d.n
	var before []int // steps that a cut may precede
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
		return slices.ContainsFunc(d.groups, func(o []int) bool { return len(o) == len(g) && slices.Contains(o, g[0]) })
	})
}

// A joining of two groups, each named by one member.
type joining struct {
	into, from int
	distance   float64 // mean of their pairs
}

// joined joins the two closest groups until one is left.
func (d *distances) joined() (steps []joining) {
	between, members := make([][]float64, d.n), slices.Repeat([]int{1}, d.n)
	left := lists.Indices(d.n)
	for i := range d.n {
		between[i] = make([]float64, d.n)
		for j := range d.n {
			if i != j {
				between[i][j] = d.at(i, j)
			}
		}
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

// after are the groups after some steps.
func (d *distances) after(steps []joining) (groups [][]int) {
	groups = lists.Map(lists.Indices(d.n), func(i int) []int { return []int{i} })
	for _, s := range steps {
		groups[s.into], groups[s.from] = slices.Concat(groups[s.into], groups[s.from]), nil
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })
}

// split gives each of nested cuts, the smallest groups first, its own times.
func (d *distances) split(cuts []division) {
	groups := make([][]int, len(cuts)) // by cut and member
	for c := range cuts {
		groups[c] = make([]int, d.n)
		for g, members := range cuts[c].groups {
			for _, i := range members {
				groups[c][i] = g
			}
		}
	}
	times := make([][]float64, len(cuts)+1) // of pairs that the first c cuts separate
	for i := range d.n {
		for j := range i {
			c := 0
			for c < len(cuts) && groups[c][i] != groups[c][j] {
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

// distinct reports whether times between groups are clearly longer than times within.
func (d *division) distinct() bool {
	return d.between-d.within >= math.Log(leastRatio) && d.apart() >= leastApart && d.overlap() <= overlap
}

// overlap is the share of times within groups that are not below the fastest twentieth of the times
// between.
func (d *division) overlap() float64 {
	least := d.out[len(d.out)/20]
	below, _ := slices.BinarySearch(d.in, least)
	return 1 - float64(below)/float64(len(d.in))
}

// apart is the difference of the medians in standard deviations of the larger spread.
func (d *division) apart() float64 {
	return (d.between - d.within) / max(deviation(d.in), deviation(d.out), fit.LeastSpread)
}

// deviation estimates the standard deviation of rising values from the span of the middle four
// fifths, so that single outliers do not count.
func deviation(v []float64) float64 {
	const span = 2.563 // of a normal distribution, in standard deviations
	return (v[len(v)-1-len(v)/10] - v[len(v)/10]) / span
}

// String is a sentence.
func (g Groups) String() string {
	const most = 12 // groups listed one by one
	sets := lists.Map(g.Groups, func(s numa.CPUSet) string { return s.String() })
	if n := len(sets); n > most {
		sets = []string{sets[0], sets[1], sets[2] + " … " + sets[n-1]}
	}
	return fmt.Sprintf("The %d CPUs %v of one level (%s) fall into %d groups by their times, %s: %s takes %s ns within a group and %s ns between two; the topology does not say so.",
		g.CPUs.Len(), g.CPUs, g.Level, len(g.Groups), strings.Join(sets, " and "), transfer(g.Bytes), digits(g.Within), digits(g.Between))
}
