package numa

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/sysfs"
)

// Discover reads the machine from the sys and proc directories below root: "/"
// is the machine that the program runs on, any other directory holds a copy of
// those two from another machine. What is missing there is assumed as little as
// possible and listed in Machine.Unknown; an error means that not even the CPUs
// could be found.
func Discover(root string) (*Machine, error) {
	files, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("no machine to read in %s: %w", root, err)
	}
	defer files.Close()
	t := tree{sysfs.Tree{FS: files.FS()}}
	if root == "/" {
		affinity, err := affinity()
		if err != nil {
			return nil, err
		}
		return t.machine(affinity)
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

// machine reads all. affinity is what the scheduler allows the process when the
// tree is that of the running machine, else nil.
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

// online falls back from the kernel's list to the directories of the CPUs, from
// those to the counters in proc/stat, and from those to the affinity.
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
	cores, alone := t.siblings(online, "core_cpus", "thread_siblings")
	packages, outside := t.siblings(online, "package_cpus", "core_siblings")
	id := make(map[int]int)  // by CPU, as the kernel numbers its package
	own := make(map[int]int) // package by that number
	for _, cpu := range online {
		if n, known := t.number(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology/physical_package_id")); known && n >= 0 {
			id[cpu] = n
		}
	}
	number := make([]int, len(packages))
	for i, cpus := range packages {
		number[i] = -1
		for _, cpu := range cpus {
			if n, known := id[cpu]; known && number[i] < 0 {
				if _, taken := own[n]; !taken {
					own[n], number[i] = i, n
				}
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

// siblings are the sets that CPUs say they belong to, each CPU in the first that has it,
// and the CPUs that are in none.
func (t tree) siblings(online CPUSet, names ...string) (sets []CPUSet, others CPUSet) {
	in := make(map[int]bool)
	for _, cpu := range online {
		set := t.shared(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology"), names...).And(online)
		if in[cpu] || len(set) == 0 {
			continue
		}
		set = slices.DeleteFunc(union(set, cpu), func(sibling int) bool { return in[sibling] })
		for _, sibling := range set {
			in[sibling] = true
		}
		sets = append(sets, set)
	}
	return sets, slices.DeleteFunc(slices.Clone(online), func(cpu int) bool { return in[cpu] })
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

// allowedNodes are those whose memory the process may use; none if nobody says.
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

func (t tree) caches(m *Machine, online CPUSet) {
	seen := make(map[string]bool)
	held := make(map[string]bool) // level, type and CPU
	add := func(cache Cache) {
		if key := fmt.Sprint(cache.Level, cache.Type, cache.CPUs); !seen[key] {
			seen[key] = true
			m.Caches = append(m.Caches, cache)
		}
		for _, cpu := range cache.CPUs {
			held[fmt.Sprint(cache.Level, cache.Type, cpu)] = true
		}
	}
	var alone []Cache // of which it is not said who shares them, each with its CPU
	for _, cpu := range online {
		dir := path.Join(cpuDir, fmt.Sprint("cpu", cpu), "cache")
		for _, index := range t.numbered(dir, "index") {
			dir := path.Join(dir, fmt.Sprint("index", index))
			level, known := t.number(dir + "/level")
			if !known {
				continue
			}
			shared := t.shared(dir, "shared_cpu").And(online)
			cache := Cache{
				Level: level,
				Type:  printable.Name(t.Text(dir + "/type")),
				Bytes: parseSize(t.Text(dir + "/size")),
				CPUs:  union(shared, cpu),
			}
			cache.LineBytes, _ = t.number(dir + "/coherency_line_size")
			if len(shared) == 0 {
				alone = append(alone, cache)
				continue
			}
			add(cache)
		}
	}
	var unsaid CPUSet
	for _, cache := range alone {
		cpu := cache.CPUs[0]
		if held[fmt.Sprint(cache.Level, cache.Type, cpu)] {
			continue // another CPU says that it shares it
		}
		of, _ := m.CPU(cpu)
		cache.CPUs = nil
		for _, c := range m.CPUs {
			if c.Core == of.Core {
				cache.CPUs = append(cache.CPUs, c.ID)
			}
		}
		unsaid = append(unsaid, cpu)
		add(cache)
	}
	if len(unsaid) > 0 {
		m.unknown("what shares the caches of CPUs %v is unknown because neither shared_cpu_map nor shared_cpu_list in their cache folders can be read: each core counts as having them for itself", SetOf(unsaid...))
	}
	slices.SortStableFunc(m.Caches, func(a, b Cache) int {
		return cmp.Or(a.Level-b.Level, a.CPUs[0]-b.CPUs[0], strings.Compare(a.Type, b.Type))
	})
	if len(m.Caches) == 0 && t.exists(cpuDir) {
		m.unknown("caches are unknown because the CPUs in %s have none", cpuDir)
	}
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

// shared reads the first of several sets of which the kernel has some. All have
// a mask and only newer kernels the list too, so the mask comes first.
func (t tree) shared(dir string, names ...string) CPUSet {
	for _, name := range names {
		base := path.Join(dir, name)
		for _, mask := range []string{base, base + "_map"} {
			if set, err := ParseMask(t.Text(mask)); err == nil && len(set) > 0 {
				return set
			}
		}
		if set := t.set(base+"_list", ""); len(set) > 0 {
			return set
		}
	}
	return nil
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

func union(set CPUSet, cpu int) CPUSet {
	if set.Contains(cpu) {
		return set
	}
	return SetOf(append(slices.Clone(set), cpu)...)
}

// parseSize reads a cache's size, "512K"; 0 when it is none.
func parseSize(text string) int {
	shift := 0
	if n := len(text); n > 0 {
		if shift = 10 * (1 + strings.IndexByte("KMG", text[n-1])); shift > 0 {
			text = text[:n-1]
		}
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(n) << shift
}
