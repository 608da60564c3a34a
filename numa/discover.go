package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/sysfs"
)

// Discover reads the machine from the sys and proc directories below root: "/" is the running
// machine, any other directory holds a copy of the two from another machine. What is missing
// there is listed in Machine.Unknown, and as little as possible is assumed; an error means that
// not even the CPUs could be found.
func Discover(root string) (*Machine, error) {
	files, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("no machine to read in %s: %w", root, err)
	}
	defer files.Close()
	t := tree{sysfs.Tree{FS: files.FS()}}
	if root == "/" {
		affinity, err := affinityOf(0)
		if err != nil {
			return nil, err
		}
		m, err := t.machine(affinity)
		if err == nil && len(m.Caches) == 0 {
			m.askCPUs()
		}
		return m, err
	}
	m, err := t.machine(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	return m, nil
}

// A tree has the kernel's sys and proc directories in it.
type tree struct{ sysfs.Tree }

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
)

// machine reads the tree. affinity is what the scheduler allows the process if the tree is the
// running machine's, else nil.
func (t tree) machine(affinity CPUSet) (*Machine, error) {
	m := &Machine{}
	online := t.online(affinity)
	if len(online) == 0 {
		return nil, errors.New("no online CPU found: " + cpuDir + " is missing or empty; name a directory that holds the sys and proc of a machine")
	}
	if !t.exists(cpuDir) {
		m.unknown("cores, packages and caches are unknown because %s cannot be read: every CPU counts as a core of its own in one package", cpuDir)
	}
	t.cpus(m, online)
	t.nodes(m)
	t.caches(m, online)
	if err := t.allow(m, online, affinity); err != nil {
		return m, err
	}
	m.Kinds, m.Quota = t.kinds(m.Allowed), t.quota()
	return m, nil
}

func (m *Machine) unknown(format string, args ...any) {
	m.Unknown = append(m.Unknown, fmt.Sprintf(format, args...))
}

// online falls back from the kernel's list to the CPUs' directories, then to the counters in
// proc/stat, then to the affinity.
func (t tree) online(affinity CPUSet) CPUSet {
	if set := t.set(cpuDir+"/online", ""); len(set) > 0 {
		return set
	}
	var set CPUSet
	for _, cpu := range t.numbered(cpuDir, "cpu") {
		if t.Text(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "online")) != "0" {
			set = append(set, cpu)
		}
	}
	if len(set) > 0 {
		return set
	}
	for line := range strings.Lines(t.Text("proc/stat")) {
		name, _, _ := strings.Cut(line, " ")
		if digits, found := strings.CutPrefix(name, "cpu"); found && digits != "" {
			if cpu, err := parseCPU(digits); err == nil {
				set = append(set, cpu)
			}
		}
	}
	if len(set) > 0 {
		return SetOf(set...)
	}
	return affinity
}

// cpus groups by the kernel's sibling sets and not by its numbers: core_id is unique only
// within a package, and on some machines not even there; physical_package_id is unique only
// within a book of a mainframe, and −1 where firmware does not number packages.
func (t tree) cpus(m *Machine, online CPUSet) {
	id := t.ids(online, "physical_package_id") // by CPU, as the kernel numbers its package
	cores, alone := t.siblings(m, online, "core_id", []map[int]int{t.ids(online, "core_id"), id}, "core_cpus", "thread_siblings")
	packages, outside := t.siblings(m, online, "physical_package_id", []map[int]int{id}, "package_cpus", "core_siblings")
	own := make(map[int]int) // package by that number
	number := make([]int, len(packages))
	for i, cpus := range packages {
		number[i] = -1
		if n, known := mostly(id, cpus); known {
			if _, taken := own[n]; !taken {
				own[n], number[i] = i, n
			}
		}
	}
	for _, cpu := range outside { // of no set: by number alone, else all in one package
		n := id[cpu]
		if _, known := own[n]; !known {
			own[n] = len(packages)
			packages, number = append(packages, nil), append(number, n)
		}
		packages[own[n]] = append(packages[own[n]], cpu)
	}
	next := 0
	for i := range packages {
		for ; number[i] < 0; next++ {
			if _, taken := own[next]; !taken {
				own[next], number[i] = i, next
			}
		}
	}
	if len(alone) > 0 && t.exists(cpuDir) {
		m.unknown("cores of CPUs %v are unknown because neither core_cpus nor thread_siblings in their topology folders can be read: each counts as a core of its own", alone)
	}
	if len(outside) > 0 && t.exists(cpuDir) {
		m.unknown("packages of CPUs %v are unknown because neither package_cpus nor core_siblings in their topology folders can be read: physical_package_id is believed where it is there", outside)
	}
	for _, cpu := range alone {
		cores = append(cores, CPUSet{cpu})
	}
	slices.SortFunc(cores, func(a, b CPUSet) int { return a[0] - b[0] })
	at := make(map[int]CPU)
	for i, cpus := range cores {
		for thread, cpu := range cpus {
			at[cpu] = CPU{ID: cpu, Core: i, Thread: thread}
		}
	}
	for i, cpus := range packages {
		for _, cpu := range cpus {
			c := at[cpu]
			c.Package = number[i]
			at[cpu] = c
		}
	}
	for _, cpu := range online {
		m.CPUs = append(m.CPUs, at[cpu])
	}
}

// ids are the numbers in a file of each CPU's topology folder, where it has one from 0 on.
func (t tree) ids(online CPUSet, file string) map[int]int {
	ids := make(map[int]int)
	for _, cpu := range online {
		if n, known := t.number(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology", file)); known && n >= 0 {
			ids[cpu] = n
		}
	}
	return ids
}

// siblings are the sets that the CPUs' files state, see agree, and the CPUs in none. It warns
// of CPUs whose files, or whose number in idFile, the first of ids, contradict them.
func (t tree) siblings(m *Machine, online CPUSet, idFile string, ids []map[int]int, names ...string) (sets []CPUSet, others CPUSet) {
	var all []claim
	for _, cpu := range online {
		dir := path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology")
		for _, name := range names {
			all = append(all, t.claims(cpu, path.Join(dir, name), path.Join(dir, name+"_list"), online)...)
		}
	}
	sets = m.agree(all, ids...)
	id := ids[0]
	others = slices.Clone(online)
	for _, set := range sets {
		others = slices.DeleteFunc(others, set.Contains)
		most, _ := mostly(id, set)
		for _, cpu := range set {
			if n, known := id[cpu]; known && n != most {
				m.unknown("%s says %d, and others of CPUs %v, which share it, say %d: these are believed",
					path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology", idFile), n, set, most)
			}
		}
	}
	return sets, others
}

// mostly is the number that most CPUs of a set have, of several the first; known is false where
// none has one.
func mostly(id map[int]int, set CPUSet) (most int, known bool) {
	count := make(map[int]int)
	for _, cpu := range set {
		if n, has := id[cpu]; has {
			count[n]++
		}
	}
	for _, cpu := range set {
		if n, has := id[cpu]; has && (!known || count[n] > count[most]) {
			most, known = n, true
		}
	}
	return most, known
}

// A claim is what a file of a CPU says: the online CPUs that share something, itself among them.
type claim struct {
	cpu  int
	file string
	set  CPUSet
}

// claims returns the claims of a mask and of a list. The kernel has both; older kernels have
// the mask alone.
func (t tree) claims(cpu int, mask, list string, online CPUSet) (all []claim) {
	add := func(file string, set CPUSet, err error) {
		if set = set.And(online); err == nil && len(set) > 0 {
			all = append(all, claim{cpu, file, SetOf(append(slices.Clone(set), cpu)...)})
		}
	}
	set, err := ParseMask(t.Text(mask))
	add(mask, set, err)
	set, err = ParseList(t.Text(list))
	add(list, set, err)
	return all
}

// agree puts each CPU into the set that most of the claims with it make; among several, into
// one whose CPUs have the same ids, then into the largest. It warns of claims that it does not
// believe, in one sentence for all files of a name. Sets rise by their first CPUs; CPUs without
// a claim are in none.
func (m *Machine) agree(all []claim, ids ...map[int]int) (sets []CPUSet) {
	type choice struct {
		CPUSet
		votes int
		one   bool // of each id
	}
	differ := func(set CPUSet) func(id map[int]int) bool {
		return func(id map[int]int) bool {
			most, _ := mostly(id, set)
			return slices.ContainsFunc(set, func(cpu int) bool { n, known := id[cpu]; return known && n != most })
		}
	}
	said := make(map[string]*choice)
	keys := make([]string, len(all))
	for i, c := range all {
		keys[i] = c.set.String()
		of := said[keys[i]]
		if of == nil {
			of = &choice{CPUSet: c.set, one: !slices.ContainsFunc(ids, differ(c.set))}
			said[keys[i]] = of
		}
		of.votes++
	}
	better := func(a, b *choice) bool {
		switch {
		case a.votes != b.votes:
			return a.votes > b.votes
		case a.one != b.one:
			return a.one
		}
		return len(a.CPUSet) > len(b.CPUSet)
	}
	in := make(map[int]*choice)
	for _, key := range slices.Sorted(maps.Keys(said)) {
		of := said[key]
		for _, cpu := range of.CPUSet {
			if before := in[cpu]; before == nil || better(of, before) {
				in[cpu] = of
			}
		}
	}
	members := make(map[*choice]CPUSet)
	for _, cpu := range slices.Sorted(maps.Keys(in)) {
		members[in[cpu]] = append(members[in[cpu]], cpu)
	}
	first := make(map[string]int) // claim that is not believed, by the name of its file
	others := make(map[string]CPUSet)
	for i, c := range all {
		if of := in[c.cpu]; of == said[keys[i]] && len(members[of]) == len(c.set) {
			continue
		}
		name := path.Base(c.file)
		if _, there := first[name]; !there {
			first[name] = i
		} else {
			others[name] = append(others[name], c.cpu)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(first)) {
		c, too := all[first[name]], ""
		if len(others[name]) > 0 {
			too = fmt.Sprintf("; so it is with those of CPUs %v", SetOf(others[name]...))
		}
		m.unknown("%s says that CPU %d shares with CPUs %v, and most files say with %v: they are believed%s", c.file, c.cpu, c.set, members[in[c.cpu]], too)
	}
	sets = slices.Collect(maps.Values(members))
	slices.SortFunc(sets, func(a, b CPUSet) int { return a[0] - b[0] })
	return sets
}

// nodes reads the NUMA nodes and gives every CPU one.
func (t tree) nodes(m *Machine) {
	ids := t.numbered(nodeDir, "node")
	if online := t.set(nodeDir+"/online", ""); len(online) > 0 {
		ids = ids.And(online)
	}
	if len(ids) == 0 {
		total, available, _ := t.memory()
		m.Nodes = []Node{{CPUs: m.Online(), MemoryBytes: total, FreeBytes: available, Distances: map[int]int{0: 10}}}
		m.unknown("NUMA nodes are unknown because %s has none: all CPUs and all memory count as node 0", nodeDir)
		return
	}
	home := make(map[int]int) // node by CPU
	var alone CPUSet          // nodes without distances
	var shared CPUSet         // CPUs of several nodes, as faulty firmware has them
	for _, id := range ids {
		dir := path.Join(nodeDir, fmt.Sprint("node", id))
		node := Node{ID: id}
		for _, cpu := range t.set(dir+"/cpulist", dir+"/cpumap").And(m.Online()) {
			if _, taken := home[cpu]; taken {
				shared = append(shared, cpu)
				continue
			}
			home[cpu] = id
			node.CPUs = append(node.CPUs, cpu)
		}
		var known bool
		node.MemoryBytes, node.FreeBytes, known = t.nodeMemory(dir)
		if !known {
			m.unknown("memory of node %d is unknown because %s/meminfo cannot be read: no buffer is placed there while another node is known to have memory", id, dir)
		}
		node.Distances = t.distances(dir, ids)
		if node.Distances == nil && len(ids) > 1 {
			alone = append(alone, id)
		}
		m.Nodes = append(m.Nodes, node)
	}
	if len(alone) > 0 {
		m.unknown("distances of node %v are unknown because the file distance in %s does not have one for each of the %d nodes: all others count as equally far", alone, nodeDir, len(ids))
	}
	if len(shared) > 0 {
		m.unknown("the node of CPUs %v is unknown because several nodes in %s have them: they count as CPUs of the first", SetOf(shared...), nodeDir)
	}
	var homeless CPUSet
	for i := range m.CPUs {
		cpu := &m.CPUs[i]
		var found bool
		if cpu.Node, found = home[cpu.ID]; !found {
			cpu.Node = ids[0]
			homeless = append(homeless, cpu.ID)
		}
	}
	if len(homeless) > 0 {
		m.Nodes[0].CPUs = SetOf(append(m.Nodes[0].CPUs, homeless...)...)
		m.unknown("CPUs %v belong to no NUMA node: they count as CPUs of node %d", homeless, ids[0])
	}
}

// allowedNodes are the nodes whose memory the process may use; none if unknown.
func (t tree) allowedNodes() CPUSet {
	mems, err := ParseList(maps.Collect(t.Fields("proc/self/status", ":"))["Mems_allowed_list"])
	if err != nil || len(mems) == 0 {
		return t.cpuset("mems")
	}
	return mems
}

// distances are in the order of the online nodes.
func (t tree) distances(dir string, ids CPUSet) map[int]int {
	fields := strings.Fields(t.Text(dir + "/distance"))
	if len(fields) != len(ids) {
		return nil
	}
	distances := make(map[int]int)
	for i, field := range fields {
		distance, err := strconv.Atoi(field)
		if err != nil || distance <= 0 {
			return nil
		}
		distances[ids[i]] = distance
	}
	return distances
}

// allow keeps to the affinity where there is one, and to what the cpuset says.
func (t tree) allow(m *Machine, online, affinity CPUSet) error {
	status := maps.Collect(t.Fields("proc/self/status", ":"))
	m.Allowed = online
	if affinity != nil {
		m.Allowed = m.Allowed.And(affinity)
	} else if set, err := ParseList(status["Cpus_allowed_list"]); err == nil && len(set) > 0 {
		m.Allowed = m.Allowed.And(set)
	}
	if len(m.Allowed) == 0 {
		return fmt.Errorf("none of the online CPUs %v may be used: the affinity is %v; widen it with taskset", online, affinity)
	}
	// The scheduler keeps the affinity within the cpuset, so a cpuset that
	// leaves nothing is one that is not ours.
	if cpus := t.cpuset("cpus"); len(cpus.And(m.Allowed)) > 0 {
		m.Allowed = cpus.And(m.Allowed)
	}
	mems := t.allowedNodes()
	for i := range m.Nodes {
		m.Nodes[i].Forbidden = len(mems) > 0 && !mems.Contains(m.Nodes[i].ID)
	}
	return nil
}

func (t tree) exists(name string) bool {
	_, err := fs.Stat(t, name)
	return err == nil
}

func (t tree) number(name string) (n int, known bool) {
	n, err := strconv.Atoi(t.Text(name))
	return n, err == nil
}

// set reads a CPU list, or where that is missing or empty a mask.
func (t tree) set(list, mask string) CPUSet {
	if set, err := ParseList(t.Text(list)); err == nil && len(set) > 0 {
		return set
	}
	set, _ := ParseMask(t.Text(mask))
	return set
}

// numbered lists the numbers of the entries that are named so: cpu0, cpu1, …
func (t tree) numbered(dir, name string) CPUSet {
	entries, err := fs.ReadDir(t, dir)
	if err != nil {
		return nil
	}
	var set CPUSet
	for _, entry := range entries {
		if digits, found := strings.CutPrefix(entry.Name(), name); found {
			if n, err := parseCPU(digits); err == nil {
				set = append(set, n)
			}
		}
	}
	return SetOf(set...)
}
