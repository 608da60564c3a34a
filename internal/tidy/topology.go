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
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// A topology finds the cores of a node that share each level.
type topology struct {
	names  []string // of levels, the closest first
	within int      // number of levels within a node, the first ones
	level  map[string]int
	pairs  []Point        // messages with cores, within a node
	head   map[int]int    // by unit: number of cores that share it, from heads
	given  map[string]int // by level: number of consecutive cores that share it
}

// levelsOf are the levels of tables' rows, the closest first, with the groups of cores that share them. Groups
// are consecutive cores, as many as given, or as the head of a table says unless pairs of cores contradict
// it; else they come from pairs of cores, and groups without pairs are like the measured ones. Only the
// level of different nodes has no groups.
func levelsOf(tables []*Table, given map[string]int) (numa.Levels, error) {
	t := &topology{level: make(map[string]int), head: make(map[int]int), given: make(map[string]int)}
	if err := t.order(tables); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		level, known := t.spelt(name)
		if !known {
			return nil, fmt.Errorf("no row is of level %.40q: rows are of %s", name, strings.Join(t.names, ", "))
		}
		if t.given[level] > 0 {
			return nil, fmt.Errorf("level %s has two numbers of cores: give one", level)
		}
		t.given[level] = given[name]
	}
	for _, table := range tables {
		t.read(table.Head)
		for _, m := range table.Points {
			if m.From >= 0 && t.level[m.Level] < t.within {
				t.pairs = append(t.pairs, m)
			}
		}
	}
	for _, cores := range t.head {
		if cores > maxCores {
			return nil, fmt.Errorf("the head says that %d cores belong together, and no node has more than %d: correct it", cores, maxCores)
		}
	}
	levels, wrong := t.blocks()
	if wrong == nil {
		wrong = t.check(levels)
	}
	if wrong == nil || len(t.pairs) == 0 || len(given) > 0 {
		return levels, wrong
	}
	if levels, wrong = t.groups(); wrong == nil {
		wrong = t.check(levels)
	}
	return levels, wrong
}

// spelt is the level of a name, which may be spelt in another way: Across-Sockets for across_sockets.
func (t *topology) spelt(name string) (level string, known bool) {
	if _, known := t.level[name]; known {
		return name, true
	}
	for _, l := range t.names {
		if slices.Equal(words(l), words(name)) {
			return l, true
		}
	}
	return "", false
}

// order finds the levels and sorts them: by the meaning of their names, or by the time of the shortest
// message if a name has none. It fails for more than maxLevels.
func (t *topology) order(tables []*Table) error {
	all := lists.Concat(tables, func(t *Table) []Point { return t.Points })
	time := make(map[string]float64) // by level: of its shortest messages
	for _, points := range lists.Groups(all, func(p Point) string { return p.Level }) {
		least := slices.Min(lists.Map(points, func(p Point) int { return p.Bytes }))
		shortest := lists.Filter(points, func(p Point) bool { return p.Bytes == least })
		time[points[0].Level] = fit.Median(lists.Map(shortest, func(p Point) float64 { return p.Mean })).Center
	}
	if t.names = slices.Sorted(maps.Keys(time)); len(t.names) > maxLevels {
		return fmt.Errorf("rows are of %d levels, such as %s and %s: a machine has at most %d", len(t.names), t.names[0], t.names[1], maxLevels)
	}
	known := !slices.ContainsFunc(t.names, func(name string) bool { return relationOf(name).unit < 0 })
	slices.SortStableFunc(t.names, func(a, b string) int {
		ra, rb := relationOf(a), relationOf(b)
		if known || ra.between() || rb.between() {
			return cmp.Or(ra.order()-rb.order(), cmp.Compare(time[a], time[b]))
		}
		return cmp.Compare(time[a], time[b])
	})
	for i, name := range t.names {
		if t.level[name] = i; !relationOf(name).between() {
			t.within = i + 1
		}
	}
	return nil
}

// Patterns of heads: cores of a unit, a unit's number of cores, a number of sockets with some cores each, and
// a number of sockets.
const unitWord = `(L[123](?: cache)?|CCX|CCD|NUMA(?:[ -]?(?:node|domain))?|socket|package|processor|node)s?`

var (
	coresPer  = regexp.MustCompile(`(?i)\b(\d{1,5})[ -]cores? ?(?:per|/|an?|share an?|in an?|(?:in |on )?each|on an?) ?` + unitWord + `\b((?:\s*\([^)]*\))?(?:\s*= one ` + unitWord + `)*)`)
	alsoOne   = regexp.MustCompile(`(?i)= one ` + unitWord)
	perUnit   = regexp.MustCompile(`(?i)\bcores?(?:\(s\))?[ _]?(?:per|/)[ _]?` + unitWord + `\s*[:=]\s*(\d{1,5})\b`)
	unitsOf   = regexp.MustCompile(`(?i)\b` + unitWord + ` (?:of|with|has|have) (\d{1,5}) cores\b`)
	socketsOf = regexp.MustCompile(`(?i)\b(\d{1,2})(?: sockets?| CPUs?)? ?[x×] ?[^,()]*?(?:,\s*)?\b(\d{1,4})(?: |-)cores?\b`)
	sockets   = regexp.MustCompile(`(?i)\b(?:(\d{1,2})(?: sockets|-sockets?)|(two|dual|double)[ -]sockets?|(four|quad)[ -]sockets?)\b|\bsocket\(s\)\s*:\s*(\d{1,2})\b`)
)

// read reads numbers of cores from a head: "16 cores per NUMA node", "12 cores share an L3 = one NUMA node =
// one socket", "64 cores/socket", "(128 cores a node)", "2 x 28-core", "2 sockets of 64 cores", and lscpu's
// "Core(s) per socket: 64".
func (t *topology) read(head []string) {
	say := func(unit int, cores string) {
		if t.head[unit] == 0 {
			t.head[unit] = number(cores)
		}
	}
	for _, line := range head {
		for _, found := range coresPer.FindAllStringSubmatch(line, -1) {
			say(relationOf(found[2]).unit, found[1])
			for _, also := range alsoOne.FindAllStringSubmatch(found[3], -1) {
				say(relationOf(also[1]).unit, found[1])
			}
		}
		for _, found := range slices.Concat(perUnit.FindAllStringSubmatch(line, -1), unitsOf.FindAllStringSubmatch(line, -1)) {
			say(relationOf(found[1]).unit, found[2])
		}
	}
	count := 0 // of sockets
	for _, line := range head {
		if found := socketsOf.FindStringSubmatch(line); found != nil {
			say(socket, found[2])
			count = cmp.Or(count, number(found[1]))
		}
		if found := sockets.FindStringSubmatch(line); found != nil && count == 0 {
			switch count = number(found[1] + found[4]); {
			case found[2] != "":
				count = 2
			case found[3] != "":
				count = 4
			}
		}
	}
	if t.head[node] == 0 {
		t.head[node] = count * t.head[socket]
	}
}

// number is the value of digits; 0 if there are none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// blocks are levels of consecutive cores, as many as given or as the head says.
func (t *topology) blocks() (numa.Levels, error) {
	blocks := make([]numa.CPUSet, len(t.names))
	most := 0
	for i, name := range t.names[:t.within] {
		size := cmp.Or(t.given[name], t.size(i, most))
		switch {
		case size == 0:
			return nil, t.unplaced(name)
		case size > maxCores || most > 0 && (size <= most || size%most != 0):
			return nil, fmt.Errorf("level %s: groups of %d cores are not made of groups of %d", name, size, most)
		}
		blocks[i], most = lists.Indices(size), size
	}
	return t.levels(blocks, most)
}

// levels divide all cores of a node into groups like one of each level; nil: it has no groups.
func (t *topology) levels(like []numa.CPUSet, cores int) (levels numa.Levels, err error) {
	for i, name := range t.names {
		l := numa.Level{Name: name, Groups: []numa.CPUSet{}}
		if like[i] != nil {
			if l.Groups, err = alike(like[i], cores); err != nil {
				return nil, fmt.Errorf("level %s: %w: %w", name, err, ErrUnplaced)
			}
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// size is the number of cores at a level or closer, more than inner, by the head; 0: unknown. Cores in two
// units share the largest unit that is closer than the next level and of known size.
func (t *topology) size(level, inner int) int {
	r := relationOf(t.names[level])
	if r.unit < 0 || !r.apart {
		return t.head[r.unit]
	}
	largest := node
	if level+1 < t.within {
		next := relationOf(t.names[level+1])
		if largest = next.unit; !next.apart {
			largest--
		}
	}
	for unit := largest; unit > r.unit; unit-- {
		if cores := t.head[unit]; cores > inner {
			return cores
		}
	}
	return 0
}

// unplaced is the error for a level whose cores are unknown.
func (t *topology) unplaced(name string) error {
	if relationOf(name).unit < 0 {
		return fmt.Errorf("level %s: nothing says which cores share it, neither columns src_core and dst_core, nor its name, which has none of the words core, l2, l3, ccd, numa, socket, node and network: %w", name, ErrUnplaced)
	}
	return fmt.Errorf("level %s: nothing says which cores share it: %w", name, ErrUnplaced)
}

// check refuses levels that a pair of cores contradicts.
func (t *topology) check(levels numa.Levels) error {
	for _, m := range t.pairs {
		level := levels.Of(m.From, m.To)
		if m.From == m.To || level == t.level[m.Level] {
			continue
		}
		shared := "nothing"
		if level >= 0 {
			shared = levels[level].Name
		}
		return fmt.Errorf("cores %d and %d are at level %s in line %d, and as other rows or numbers of cores have it at %s: %w", m.From, m.To, m.Level, m.Line, shared, ErrUnplaced)
	}
	return nil
}

// groups are the levels' groups by pairs of cores: the connected components of pairs at the level or closer,
// by union-find. Cores without pairs are in groups like the largest one.
func (t *topology) groups() (numa.Levels, error) {
	measured := lists.Rising(lists.Concat(t.pairs, func(m Point) []int { return []int{m.From, m.To} }))
	parent := lists.Indices(slices.Max(measured) + 1)
	root := func(core int) int {
		for parent[core] != core {
			parent[core] = parent[parent[core]]
			core = parent[core]
		}
		return core
	}
	largest := make([]numa.CPUSet, len(t.names)) // of each level
	inner := 1
	cores := max(len(parent), t.head[node])
	for i, name := range t.names[:t.within] {
		last := i == t.within-1 // the node
		for _, m := range t.pairs {
			if t.level[m.Level] == i {
				parent[root(max(m.From, m.To))] = root(min(m.From, m.To))
			}
		}
		found := lists.Groups(lists.Indices(len(parent)), root)
		group := numa.CPUSet(slices.MaxFunc(found, func(a, b []int) int { return len(a) - len(b) })) // the first of the largest
		if len(group) <= inner {
			return nil, fmt.Errorf("level %s: no row says which cores share it: %w", name, ErrUnplaced)
		}
		if core, outside := open(group, measured); !last && core >= 0 {
			return nil, fmt.Errorf("level %s: cores %d and %d do not share it, and no row says which of those between do, such as core %d: %w", name, group[0], outside, core, ErrUnplaced)
		}
		if last {
			cores = (cores + inner - 1) / inner * inner
			group = lists.Indices(cores)
		}
		largest[i], inner = group, len(group)
	}
	return t.levels(largest, cores)
}

// open is a core without rows before the first measured core outside of a group, and the latter; core −1: rows
// tell where the group ends.
func open(group numa.CPUSet, measured []int) (core, outside int) {
	next := lists.Find(measured, func(c int) bool { return c > group[0] && !slices.Contains(group, c) })
	for core = group[0]; next != nil && core < *next; core++ {
		if !slices.Contains(measured, core) {
			return core, *next
		}
	}
	return -1, 0
}

// alike divides all cores of a node into groups like the first.
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
