package tidy

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// units are what levels' names say that two cores share, the closest first.
var units = []*regexp.Regexp{
	regexp.MustCompile(`smt|sibling|same_core`), regexp.MustCompile(`(^|[^a-z])l1`), regexp.MustCompile(`(^|[^a-z])l2`), regexp.MustCompile(`(^|[^a-z])l3|ccx|llc|same_cache`),
	regexp.MustCompile(`ccd|cluster|die|tile`), regexp.MustCompile(`numa`), regexp.MustCompile(inside + `(socket|package|chip)`),
	regexp.MustCompile(`socket|package|chip|` + inside + `node`), regexp.MustCompile(`node|network|rack|switch`),
}

// inside is how names say that two cores are within one unit.
const inside = `(same|one|on|intra|within|inside|local|single)[_.-]?`

// between is the index of units of ranks on different nodes.
var between = len(units) - 1

// unitOf is the index of what a level's name says, −1 of names that say nothing.
func unitOf(level string) int {
	return slices.IndexFunc(units, func(r *regexp.Regexp) bool { return r.MatchString(strings.ToLower(level)) })
}

// A topology finds which cores of a node share what.
type topology struct {
	names []string // of levels, from the closest on
	level map[string]int
	pairs []Message // with cores, within a node
	head  map[int]int
	given map[string]int
}

// levelsOf are the levels that tables have rows of, from the closest on, with the cores that
// share them: as many in a row as given says, or as the head of a table says if no pair of
// cores contradicts, else what pairs of cores tell, the other groups of the node being like
// those that were measured. Only the level of different nodes has none.
func levelsOf(tables []*Table, given map[string]int) (numa.Levels, error) {
	t := &topology{level: make(map[string]int), head: make(map[int]int), given: given}
	t.order(tables)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, there := t.level[name]; !there {
			return nil, fmt.Errorf("no row is of level %.40q: rows are of %s", name, strings.Join(t.names, ", "))
		}
	}
	for _, table := range tables {
		t.read(table.Head)
		for _, m := range table.Messages {
			if m.From >= 0 && unitOf(m.Level) != between {
				t.pairs = append(t.pairs, m)
			}
		}
	}
	for _, cores := range t.head {
		if cores > maxCores {
			return nil, fmt.Errorf("the head says that %d cores belong together, and no node has more than %d: correct it", cores, maxCores)
		}
	}
	levels, unknown := t.blocks()
	wrong := unknown
	if wrong == nil {
		wrong = t.check(levels)
	}
	if wrong == nil || len(given) > 0 && len(t.pairs) == 0 {
		return levels, wrong
	}
	if len(t.pairs) == 0 || len(given) > 0 {
		return nil, wrong
	}
	levels, err := t.groups()
	if err != nil {
		return nil, err
	}
	return levels, t.check(levels)
}

// order finds the levels and orders them: by what their names say, else by the time of the
// shortest message.
func (t *topology) order(tables []*Table) {
	shortest := make(map[string]map[int][]float64)
	add := func(level string, m int, ns float64) {
		if shortest[level] == nil {
			shortest[level] = make(map[int][]float64)
		}
		shortest[level][m] = append(shortest[level][m], ns)
	}
	for _, table := range tables {
		for _, m := range table.Messages {
			add(m.Level, m.Bytes, m.NS)
		}
		for _, f := range table.Fanouts {
			add(f.Level, f.Bytes, f.Mean)
		}
		for _, s := range table.Streams {
			add(s.Level, s.Bytes, s.Gap)
		}
	}
	time := func(level string) float64 {
		return fit.Median(shortest[level][slices.Min(slices.Collect(maps.Keys(shortest[level])))]).Center
	}
	t.names = slices.Sorted(maps.Keys(shortest))
	told := !slices.ContainsFunc(t.names, func(name string) bool { return unitOf(name) < 0 })
	slices.SortStableFunc(t.names, func(a, b string) int {
		ua, ub := unitOf(a), unitOf(b)
		if told || ua == between || ub == between {
			return cmp.Or(ua-ub, cmp.Compare(time(a), time(b)))
		}
		return cmp.Compare(time(a), time(b))
	})
	for i, name := range t.names {
		t.level[name] = i
	}
}

var (
	coresPer  = regexp.MustCompile(`(?i)\b(\d{1,5}) cores (?:per|an?|share an?|in an?|in each|on an?) (L[123]|NUMA node|socket|package|node)\b((?:\s*\([^)]*\))?(?:\s*= one (?:L[123]|NUMA node|socket|package|node))*)`)
	alsoOne   = regexp.MustCompile(`(?i)= one (L[123]|NUMA node|socket|package|node)`)
	soManyOf  = regexp.MustCompile(`(?i)\b(\d{1,2}) x [^,()]*?(?:,\s*)?\b(\d{1,4})(?: |-)cores?\b`)
	unitsSaid = map[string][]string{
		"l1": {"l1"}, "l2": {"l2"}, "l3": {"l3"}, "numa node": {"numa"},
		"socket": {"same_socket"}, "package": {"same_socket"}, "node": {"same_node"},
	}
)

// read takes what a head says of cores: "16 cores per NUMA node", "12 cores share an L3 = one
// NUMA node = one socket", "(128 cores a node)", "2 x 28-core".
func (t *topology) read(head []string) {
	say := func(unit string, cores int) {
		if u := unitOf(unitsSaid[strings.ToLower(unit)][0]); t.head[u] == 0 {
			t.head[u] = cores
		}
	}
	for _, line := range head {
		for _, found := range coresPer.FindAllStringSubmatch(line, -1) {
			cores, _ := strconv.Atoi(found[1])
			say(found[2], cores)
			for _, also := range alsoOne.FindAllStringSubmatch(found[3], -1) {
				say(also[1], cores)
			}
		}
	}
	for _, line := range head {
		if found := soManyOf.FindStringSubmatch(line); found != nil {
			sockets, _ := strconv.Atoi(found[1])
			cores, _ := strconv.Atoi(found[2])
			say("socket", cores)
			say("node", sockets*cores)
		}
	}
}

// blocks are levels of as many cores in a row as is given, or as the head says.
func (t *topology) blocks() (levels numa.Levels, err error) {
	sizes := make([]int, len(t.names))
	most := 0
	for i, name := range t.names {
		unit := unitOf(name)
		if unit == between {
			continue
		}
		sizes[i] = t.head[unit]
		if given, there := t.given[name]; there {
			sizes[i] = given
		}
		switch {
		case sizes[i] == 0:
			return nil, fmt.Errorf("level %s: nothing says which cores share it: %w", name, ErrUnplaced)
		case sizes[i] > maxCores || most > 0 && (sizes[i] <= most || sizes[i]%most != 0):
			return nil, fmt.Errorf("level %s: groups of %d cores are not made of groups of %d", name, sizes[i], most)
		}
		most = sizes[i]
	}
	for i, name := range t.names {
		l := numa.Level{Name: name, Groups: []numa.CPUSet{}}
		for first := 0; sizes[i] > 0 && first < most; first += sizes[i] {
			var g numa.CPUSet
			for core := range sizes[i] {
				g = append(g, first+core)
			}
			l.Groups = append(l.Groups, g)
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// check refuses levels that a pair of cores contradicts.
func (t *topology) check(levels numa.Levels) error {
	for _, m := range t.pairs {
		of := levels.Of(m.From, m.To)
		if m.From == m.To || of == t.level[m.Level] {
			continue
		}
		shared := "nothing"
		if of >= 0 {
			shared = levels[of].Name
		}
		return fmt.Errorf("cores %d and %d are at level %s in line %d, and as other rows or numbers of cores have it at %s: %w", m.From, m.To, m.Level, m.Line, shared, ErrUnplaced)
	}
	return nil
}

// groups are those that pairs of cores tell: at a level, cores that are connected by pairs of
// it or of closer ones. Cores of which there are no pairs are in groups like the first one.
func (t *topology) groups() (levels numa.Levels, err error) {
	most := 0
	for _, m := range t.pairs {
		most = max(most, m.From, m.To)
	}
	parent := make([]int, most+1)
	for core := range parent {
		parent[core] = core
	}
	root := func(core int) int {
		for parent[core] != core {
			parent[core] = parent[parent[core]]
			core = parent[core]
		}
		return core
	}
	firsts := make([]numa.CPUSet, len(t.names)) // of each level the largest group that rows tell
	inner, last := 1, t.last()
	cores := max(most+1, t.head[unitOf("same_node")])
	for i, name := range t.names {
		if unitOf(name) == between {
			continue
		}
		for _, m := range t.pairs {
			if t.level[m.Level] == i {
				parent[root(max(m.From, m.To))] = root(min(m.From, m.To))
			}
		}
		found := make(map[int]numa.CPUSet)
		for core := range parent {
			found[root(core)] = append(found[root(core)], core)
		}
		var first numa.CPUSet
		for _, g := range found {
			if len(g) > len(first) || len(g) == len(first) && g[0] < first[0] {
				first = g
			}
		}
		if len(first) <= inner {
			return nil, fmt.Errorf("level %s: no row says which cores share it: %w", name, ErrUnplaced)
		}
		if u, o := t.open(first); i != last && u >= 0 {
			return nil, fmt.Errorf("level %s: cores %d and %d do not share it, and no row says which of those between do, such as core %d: %w", name, first[0], o, u, ErrUnplaced)
		}
		if i == last { // the node
			cores = (cores + inner - 1) / inner * inner
			for first = nil; len(first) < cores; {
				first = append(first, len(first))
			}
		}
		firsts[i], inner = first, len(first)
	}
	for i, name := range t.names {
		l := numa.Level{Name: name, Groups: []numa.CPUSet{}}
		if firsts[i] != nil {
			if l.Groups, err = alike(firsts[i], cores); err != nil {
				return nil, fmt.Errorf("level %s: %w: %w", name, err, ErrUnplaced)
			}
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// open is a core that no row has, before the first core that rows have outside of a group; −1
// where the group's end follows from rows.
func (t *topology) open(group numa.CPUSet) (core, outside int) {
	measured := make(map[int]bool)
	outside = maxCores + 1
	for _, m := range t.pairs {
		for _, c := range []int{m.From, m.To} {
			if measured[c] {
				continue
			}
			measured[c] = true
			if c > group[0] && !slices.Contains(group, c) {
				outside = min(outside, c)
			}
		}
	}
	if outside > maxCores {
		return -1, outside
	}
	for core = group[0]; core < outside; core++ {
		if !measured[core] {
			return core, outside
		}
	}
	return -1, outside
}

// last is the farthest level within a node.
func (t *topology) last() (last int) {
	for i, name := range t.names {
		if unitOf(name) != between {
			last = i
		}
	}
	return last
}

// alike are groups as one of them for all cores of a node.
func alike(first numa.CPUSet, cores int) (groups []numa.CPUSet, err error) {
	taken := make([]bool, cores)
	for core := range cores {
		if taken[core] {
			continue
		}
		var g numa.CPUSet
		for _, member := range first {
			at := member - first[0] + core
			if at >= cores || taken[at] {
				return nil, fmt.Errorf("groups like cores %v do not make up %s", first, printable.Count(cores, "core"))
			}
			taken[at] = true
			g = append(g, at)
		}
		groups = append(groups, g)
	}
	return groups, nil
}
