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

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/sysfs"
)

// Discover reads the machine from the directories sys and proc below root: "/" is the running
// machine, any other directory holds a copy from another machine. Machine.Unknown lists missing
// facts and the assumptions made in their place; an error means that no CPU was found.
func Discover(root string) (*Machine, error) {
	files, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("no machine to read in %s: %w", root, err)
	}
	defer files.Close()
	t := tree{Tree: sysfs.Tree{FS: files.FS()}}
	if root == "/" {
		affinity, err := affinityOf(0)
		if err != nil {
			return nil, err
		}
		m, err := t.machine(affinity)
		if err == nil && len(m.Caches) == 0 {
			m.readCPUID()
		}
		return m, err
	}
	m, err := t.machine(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	return m, nil
}

// A tree contains the kernel's directories sys and proc.
type tree struct {
	sysfs.Tree
	refused *[]string // if not nil, collects files with lists of CPUs that cannot be read, and why
}

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
)

// machine reads the tree. affinity is the process's if the tree is the running machine's, else
// nil. The scheduler leaves only online CPUs in it, whereas a container's sys may hide some.
func (t tree) machine(affinity CPUSet) (*Machine, error) {
	m := &Machine{}
	t.refused = new([]string)
	online := SetOf(append(t.online(), affinity...)...)
	if len(online) == 0 {
		return nil, errors.New("no online CPU found: " + cpuDir + " is missing or empty; name a directory that holds the sys and proc of a machine")
	}
	if !t.exists(cpuDir) {
		m.unknown("cores, packages and caches are unknown because %s cannot be read: every CPU counts as a core of its own in one package", cpuDir)
	}
	t.cpus(m, online)
	t.nodes(m)
	t.caches(m, online)
	t.allow(m, affinity)
	m.Kinds, m.Quota = t.kinds(m.Allowed), t.quota()
	if files := *t.refused; len(files) > 0 {
		more := printable.If(len(files) > 1, fmt.Sprintf(" (%s in all)", printable.Count(len(files), "such file")))
		m.unknown("%s%s", files[0], more)
	}
	return m, nil
}

func (m *Machine) unknown(format string, args ...any) {
	m.Unknown = append(m.Unknown, fmt.Sprintf(format, args...))
}

// online falls back from the kernel's list to the CPUs' directories, then to the counters in
// proc/stat.
func (t tree) online() CPUSet {
	if set := t.set(cpuDir+"/online", ""); len(set) > 0 {
		return set
	}
	set := lists.Filter(t.numbered(cpuDir, "cpu"), func(cpu int) bool {
		return t.Text(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "online")) != "0"
	})
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
	return SetOf(set...)
}

// cpus groups CPUs by the kernel's sibling sets rather than its numbers: core_id is unique only
// within a package, and on some machines not even there; physical_package_id is unique only
// within a book of a mainframe, and −1 where firmware does not number packages.
func (t tree) cpus(m *Machine, online CPUSet) {
	packageIDs, coreIDs := t.ids(online, "physical_package_id"), t.ids(online, "core_id")
	cores, coreless := lists.Map(online, func(cpu int) CPUSet { return CPUSet{cpu} }), CPUSet(nil)
	if !t.modules(coreIDs) {
		cores, coreless = t.siblings(m, online, "core_id", []map[int]int{coreIDs, packageIDs}, "core_cpus", "thread_siblings")
	}
	packages, unpackaged := t.siblings(m, online, "physical_package_id", []map[int]int{packageIDs}, "package_cpus", "core_siblings")
	packageOf, taken := make(map[int]int), make(map[int]bool)
	number := func(n int, cpus ...int) {
		taken[n] = true
		for _, cpu := range cpus {
			packageOf[cpu] = n
		}
	}
	var unnumbered []CPUSet
	for _, cpus := range packages {
		if n, _, known := mostly(packageIDs, cpus); known && !taken[n] {
			number(n, cpus...)
		} else {
			unnumbered = append(unnumbered, cpus)
		}
	}
	for _, cpu := range unpackaged { // by number alone, else all in package 0
		number(packageIDs[cpu], cpu)
	}
	next := 0
	for _, cpus := range unnumbered {
		for taken[next] {
			next++
		}
		number(next, cpus...)
	}
	if len(coreless) > 0 && t.exists(cpuDir) {
		m.unknown("cores of CPUs %v are unknown because neither core_cpus nor thread_siblings in their topology folders can be read: each counts as a core of its own", coreless)
	}
	if len(unpackaged) > 0 && t.exists(cpuDir) {
		m.unknown("packages of CPUs %v are unknown because neither package_cpus nor core_siblings in their topology folders can be read: physical_package_id is believed where it is there", unpackaged)
	}
	cores = append(cores, lists.Map(coreless, func(cpu int) CPUSet { return CPUSet{cpu} })...)
	slices.SortFunc(cores, func(a, b CPUSet) int { return a[0] - b[0] })
	for i, cpus := range cores {
		for thread, cpu := range cpus {
			m.CPUs = append(m.CPUs, CPU{ID: cpu, Core: i, Thread: thread, Package: packageOf[cpu]})
		}
	}
	slices.SortFunc(m.CPUs, func(a, b CPU) int { return a.ID - b.ID })
}

// modules reports whether what the kernel calls SMT siblings are two cores of a module, as on AMD's
// families 21 and 22, where they have numbers of their own.
func (t tree) modules(coreIDs map[int]int) bool {
	info := maps.Collect(t.Fields("proc/cpuinfo", ":"))
	if info["vendor_id"] != "AuthenticAMD" || !slices.Contains([]string{"21", "22"}, info["cpu family"]) {
		return false
	}
	siblings := t.set(cpuDir+"/cpu0/topology/thread_siblings_list", cpuDir+"/cpu0/topology/thread_siblings")
	return len(siblings) > 1 && coreIDs[siblings[0]] != coreIDs[siblings[1]]
}

// ids are the numbers ≥ 0 in a file of the CPUs' topology folders, by CPU.
func (t tree) ids(online CPUSet, file string) map[int]int {
	ids := make(map[int]int)
	for _, cpu := range online {
		if n, known := t.number(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology", file)); known && n >= 0 {
			ids[cpu] = n
		}
	}
	return ids
}

// siblings returns the sets that agree makes of the named files, and the CPUs in none. It warns
// of CPUs whose number in idFile, ids[0], differs from the others' of their set.
func (t tree) siblings(m *Machine, online CPUSet, idFile string, ids []map[int]int, names ...string) (sets []CPUSet, others CPUSet) {
	var all []claim
	for _, cpu := range online {
		dir := path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology")
		for _, name := range names {
			all = append(all, t.claims(cpu, path.Join(dir, name), path.Join(dir, name+"_list"), online)...)
		}
	}
	sets = m.agree(all, ids...)
	others = slices.Clone(online)
	for _, set := range sets {
		others = slices.DeleteFunc(others, set.Contains)
		most, odd, _ := mostly(ids[0], set)
		for _, cpu := range odd {
			m.unknown("%s says %d, but most of CPUs %v, which share it, say %d and are believed",
				path.Join(cpuDir, fmt.Sprint("cpu", cpu), "topology", idFile), ids[0][cpu], set, most)
		}
	}
	return sets, others
}

// mostly is the commonest number of a set's CPUs, the first of equally common ones, and the CPUs with
// another number; known is false where no CPU has a number.
func mostly(ids map[int]int, set CPUSet) (most int, odd CPUSet, known bool) {
	numbered := lists.Filter(set, func(cpu int) bool { _, has := ids[cpu]; return has })
	count := lists.Counts(numbered, func(cpu int) int { return ids[cpu] })
	if len(numbered) == 0 {
		return 0, nil, false
	}
	most = ids[slices.MaxFunc(numbered, func(a, b int) int { return count[ids[a]] - count[ids[b]] })]
	return most, lists.Filter(numbered, func(cpu int) bool { return ids[cpu] != most }), true
}

// A claim is the content of one CPU's file: the online CPUs that share a core, package or cache,
// the CPU itself included.
type claim struct {
	cpu  int
	file string
	set  CPUSet
}

// claims reads a mask and a list. Older kernels have the mask alone.
func (t tree) claims(cpu int, mask, list string, online CPUSet) (all []claim) {
	add := func(file string, set CPUSet) {
		if set = set.And(online); len(set) > 0 {
			all = append(all, claim{cpu, file, SetOf(append(slices.Clone(set), cpu)...)})
		}
	}
	add(mask, t.mask(mask))
	add(list, t.list(list))
	return all
}

// agree puts each CPU into the set that the most claims state; on a tie, into one whose CPUs have
// equal ids, then into the largest. It warns of the other claims, in one sentence for all files
// of a name. Sets are in the order of their first CPUs; a CPU without a claim is in none.
func (m *Machine) agree(all []claim, ids ...map[int]int) (sets []CPUSet) {
	type choice struct {
		CPUSet
		text    string
		votes   int
		odd     int    // 1 if some of its CPUs have another number than most in one of ids
		members CPUSet // that are in no better one
	}
	choices := make(map[string]*choice)
	of := make([]*choice, len(all)) // by claim
	for i, c := range all {
		text := c.set.String()
		if choices[text] == nil {
			differ := func(id map[int]int) bool { _, odd, _ := mostly(id, c.set); return len(odd) > 0 }
			choices[text] = &choice{CPUSet: c.set, text: text, odd: lists.FalseFirst(slices.ContainsFunc(ids, differ))}
		}
		of[i] = choices[text]
		of[i].votes++
	}
	best := slices.SortedFunc(maps.Values(choices), func(a, b *choice) int {
		return cmp.Or(b.votes-a.votes, a.odd-b.odd, len(b.CPUSet)-len(a.CPUSet), strings.Compare(a.text, b.text))
	})
	chosen := make(map[int]*choice) // by CPU
	for _, c := range best {
		c.members = lists.Filter(c.CPUSet, func(cpu int) bool { return chosen[cpu] == nil })
		for _, cpu := range c.members {
			chosen[cpu] = c
		}
		if len(c.members) > 0 {
			sets = append(sets, c.members)
		}
	}
	wrong := make(map[string][]claim) // that are not believed, by the name of their file
	for i, c := range all {
		if own := chosen[c.cpu]; own != of[i] || len(own.members) < len(c.set) {
			wrong[path.Base(c.file)] = append(wrong[path.Base(c.file)], c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		c, too := wrong[name][0], ""
		if others := SetOf(lists.Map(wrong[name][1:], func(c claim) int { return c.cpu })...); len(others) > 0 {
			too = fmt.Sprintf("; the same holds for CPUs %v", others)
		}
		m.unknown("%s says that CPU %d shares with CPUs %v, but most files say %v and are believed%s", c.file, c.cpu, c.set, chosen[c.cpu].members, too)
	}
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
	nodeOf := make(map[int]int) // by CPU
	var sizeless CPUSet         // nodes of unknown memory
	var unmeasured CPUSet       // nodes without distances
	var overlapping CPUSet      // nodes with CPUs of others, as with faulty firmware or numa=fake
	for _, id := range ids {
		dir := path.Join(nodeDir, fmt.Sprint("node", id))
		node := Node{ID: id}
		node.CPUs = t.set(dir+"/cpulist", dir+"/cpumap").And(m.Online())
		others := len(node.CPUs)
		node.CPUs = slices.DeleteFunc(node.CPUs, func(cpu int) bool { _, taken := nodeOf[cpu]; return taken })
		if others > len(node.CPUs) {
			overlapping = append(overlapping, id)
			if len(node.CPUs) == 0 {
				continue
			}
		}
		for _, cpu := range node.CPUs {
			nodeOf[cpu] = id
		}
		var known bool
		node.MemoryBytes, node.FreeBytes, known = t.nodeMemory(dir)
		if !known {
			sizeless = append(sizeless, id)
		}
		node.Distances = t.distances(dir, ids)
		if node.Distances == nil && len(ids) > 1 {
			unmeasured = append(unmeasured, id)
		}
		m.Nodes = append(m.Nodes, node)
	}
	if len(sizeless) > 0 {
		m.unknown("memory of %s (%v) is unknown because meminfo in %s cannot be read: no buffer is placed there while another node is known to have memory", printable.Count(len(sizeless), "node"), sizeless, nodeDir)
	}
	if len(unmeasured) > 0 {
		m.unknown("distances of %s (%v) are unknown because the file distance in %s does not have one for each of the %d nodes: all others count as equally far", printable.Count(len(unmeasured), "node"), unmeasured, nodeDir, len(ids))
	}
	if len(overlapping) > 0 {
		m.unknown("nodes %v have CPUs of nodes before them in %s, which count there alone; without others they are left out", overlapping, nodeDir)
	}
	var homeless CPUSet
	for i := range m.CPUs {
		cpu := &m.CPUs[i]
		var found bool
		if cpu.Node, found = nodeOf[cpu.ID]; !found {
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
	mems := t.status("Mems_allowed_list")
	if len(mems) == 0 {
		return t.cpuset("mems")
	}
	return mems
}

// distances reads a node's file, which has the online nodes in ascending order.
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

// allow sets Machine.Allowed, Machine.Confined and Node.Forbidden. Without an affinity /proc/self/status of the
// copy says which CPUs are allowed. Limits that leave no CPU or no node are another machine's.
func (t tree) allow(m *Machine, affinity CPUSet) {
	if affinity == nil {
		affinity = t.status("Cpus_allowed_list")
	}
	m.Allowed, m.Confined = m.Online(), m.Online().And(t.cpuset("cpus"))
	for _, limit := range []CPUSet{affinity, m.Confined} {
		if left := m.Allowed.And(limit); len(left) > 0 {
			m.Allowed = left
		}
	}
	mems := t.allowedNodes().And(SetOf(lists.Map(m.Nodes, func(n Node) int { return n.ID })...))
	for i := range m.Nodes {
		m.Nodes[i].Forbidden = len(mems) > 0 && !mems.Contains(m.Nodes[i].ID)
	}
}

func (t tree) exists(name string) bool {
	_, err := fs.Stat(t, name)
	return err == nil
}

func (t tree) number(name string) (n int, known bool) {
	n, err := strconv.Atoi(t.Text(name))
	return n, err == nil
}

// set reads a CPU list, or a mask where the list is missing or empty.
func (t tree) set(list, mask string) CPUSet {
	if set := t.list(list); len(set) > 0 {
		return set
	}
	return t.mask(mask)
}

// list reads a file with a CPU list; mask one with a mask.
func (t tree) list(file string) CPUSet { return t.parsed(file, t.Text(file), ParseList) }
func (t tree) mask(file string) CPUSet { return t.parsed(file, t.Text(file), ParseMask) }

// status reads a CPU list of proc/self/status.
func (t tree) status(field string) CPUSet {
	const file = "proc/self/status"
	return t.parsed(file, maps.Collect(t.Fields(file, ":"))[field], ParseList)
}

// parsed is the set in a file; empty if the text cannot be read, as t.refused then says.
func (t tree) parsed(file, text string, parse func(string) (CPUSet, error)) CPUSet {
	set, err := parse(text)
	if why := fmt.Sprintf("%s does not count: %v", file, err); err != nil && t.refused != nil && !slices.Contains(*t.refused, why) {
		*t.refused = append(*t.refused, why)
	}
	return set
}

// numbered lists the numbers of a directory's entries with that name: cpu0, cpu1, …
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
