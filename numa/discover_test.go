package numa

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/sysfs"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// files makes a tree of file names and contents.
func files(pairs ...string) tree {
	fs := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fs[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1] + "\n")}
	}
	return tree{Tree: sysfs.Tree{FS: fs}}
}

// plus adds the files of others.
func (t tree) plus(others ...tree) tree {
	fs := maps.Clone(t.FS.(fstest.MapFS))
	for _, other := range others {
		maps.Copy(fs, other.FS.(fstest.MapFS))
	}
	return tree{Tree: sysfs.Tree{FS: fs}}
}

// pair: two cores, and nothing about nodes.
var pair = files(
	cpuDir+"/online", "0-1",
	cpuDir+"/cpu0/topology/thread_siblings", "00000001", cpuDir+"/cpu1/topology/thread_siblings", "00000002",
	cpuDir+"/cpu0/topology/physical_package_id", "0", cpuDir+"/cpu1/topology/physical_package_id", "0",
	"proc/meminfo", "MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  800 kB",
)

// twin: as pair, with a node each; node 1 has no memory, and node 3 has memory only.
var twin = pair.plus(files(
	nodeDir+"/online", "0-1,3",
	nodeDir+"/node0/cpulist", "0", nodeDir+"/node0/distance", "10 20 40",
	nodeDir+"/node0/meminfo", "Node 0 MemTotal:  600 kB\nNode 0 MemFree:  50 kB",
	nodeDir+"/node1/cpulist", "1", nodeDir+"/node1/distance", "20 10 17",
	nodeDir+"/node1/meminfo", "Node 1 MemTotal:  0 kB",
	nodeDir+"/node3/cpulist", "", nodeDir+"/node3/distance", "40 17 10",
	nodeDir+"/node3/meminfo", "Node 3 MemTotal:  400 kB",
))

// faultyTrees are machines with missing or contradictory files.
var faultyTrees = []struct {
	name     string
	tree     tree
	affinity CPUSet
	want     Census
	allowed  string
	unknown  string // part of Machine.Unknown
}{
	{"neither sys nor proc", files(), SetOf(3, 5), Census{2, 2, 1, 1, 0}, "3,5", "node 0"},
	{"proc alone", files("proc/stat", "cpu  1 2\ncpu0 1 2\ncpu4 1 2\nintr 0"), nil, Census{2, 2, 1, 1, 0}, "0,4", "cores, packages and caches are unknown"},
	{"no nodes", pair, nil, Census{2, 2, 1, 1, 0}, "0-1", "NUMA nodes are unknown"},
	{"nodes without memory or CPUs", twin, nil, Census{2, 2, 1, 3, 0}, "0-1", "caches"},
	{"a CPU without node", twin.plus(files(nodeDir+"/node1/cpulist", "")), nil, Census{2, 2, 1, 3, 0}, "0-1", "CPUs 1 belong to no NUMA node"},
	{"no distances", twin.plus(files(nodeDir+"/node1/distance", "20 10")), nil, Census{2, 2, 1, 3, 0}, "0-1", "distances of 1 node (1) are unknown"},
	{"nodes of another machine's cpuset", twin.plus(files("proc/self/status", "Mems_allowed_list: 9")), nil, Census{2, 2, 1, 3, 0}, "0-1", "caches"},
	{"no memory of two nodes", twin.plus(files(nodeDir+"/node1/meminfo", "", nodeDir+"/node3/meminfo", "")), nil, Census{2, 2, 1, 3, 0}, "0-1", "memory of 2 nodes (1,3) is"},
	{"affinity", pair, SetOf(1), Census{1, 1, 1, 1, 0}, "1", "caches"},
	{"a container whose sys hides its CPUs", pair, SetOf(1, 2), Census{2, 2, 1, 1, 0}, "1-2", "cores of CPUs 2"},
	{"status of another machine", pair.plus(files("proc/self/status", "Cpus_allowed_list:\t7")), nil, Census{2, 2, 1, 1, 0}, "0-1", "caches"},
	{"status of a snapshot", pair.plus(files("proc/self/status", "Name: x\nCpus_allowed_list:\t1\nMems_allowed_list:\t0")), nil, Census{1, 1, 1, 1, 0}, "1", "caches"},
	{"memory that the cpuset forbids", twin.plus(files("proc/self/status", "Mems_allowed_list:\t0-1")), nil, Census{2, 2, 1, 2, 0}, "0-1", "caches"},
	{"cpuset of version 2", pair.plus(files(
		"proc/self/cgroup", "0::/a/b", "proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "sys/fs/cgroup/a/cpuset.cpus.effective", "1",
	)), nil, Census{1, 1, 1, 1, 0}, "1", "caches"},
	{"cpuset of version 2 without a list of groups", pair.plus(files(
		"proc/self/cpuset", "/a/b", "proc/mounts", "none /cgroup/unified cgroup2 rw 0 0", "cgroup/unified/a/b/cpuset.cpus.effective", "1",
	)), nil, Census{1, 1, 1, 1, 0}, "1", "caches"},
	{"cpuset of version 1 in a container", pair.plus(files(
		"proc/self/cgroup", "4:cpuset:/docker/7f",
		"proc/self/mountinfo", "30 23 0:26 /docker/7f /sys/fs/cgroup/cpuset ro,nosuid - cgroup cgroup rw,cpuset",
		"sys/fs/cgroup/cpuset/cpuset.cpus", "0",
	)), nil, Census{1, 1, 1, 1, 0}, "0", "caches"},
	{"cpusets as a file system of their own", twin.plus(files(
		"proc/self/cpuset", "/job", "proc/mounts", "none /dev/cpuset cpuset rw 0 0",
		"dev/cpuset/cpus", "0-1", "dev/cpuset/mems", "0-3", "dev/cpuset/job/cpus", "1", "dev/cpuset/job/mems", "0",
	)), nil, Census{1, 1, 1, 1, 0}, "1", "caches"},
	{"cpusets without prefix", pair.plus(files(
		"proc/self/cpuset", "/job", "proc/mounts", "cgroup /dev/cpuset cgroup rw,cpuset,noprefix 0 0", "dev/cpuset/job/cpus", "0",
	)), nil, Census{1, 1, 1, 1, 0}, "0", "caches"},
	{"a cpuset that is not ours", pair.plus(files(
		"proc/self/cpuset", "/", "proc/mounts", "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0", "sys/fs/cgroup/cpuset/cpuset.cpus", "8-9",
	)), nil, Census{2, 2, 1, 1, 0}, "0-1", "caches"},
	{"offline by its own file", files(cpuDir+"/cpu0/online", "1", cpuDir+"/cpu1/online", "0", cpuDir+"/cpu2/topology/core_id", "0"), nil, Census{2, 2, 1, 1, 0}, "0,2", "node 0"},
	{"packages numbered anew in each book", pair.plus(files(
		cpuDir+"/cpu0/topology/core_siblings", "1", cpuDir+"/cpu0/topology/book_siblings", "1",
		cpuDir+"/cpu1/topology/core_siblings", "2", cpuDir+"/cpu1/topology/book_siblings", "2",
	)), nil, Census{2, 2, 2, 1, 0}, "0-1", "caches"},
	{"a CPU without files, in a package that is not the first", files(
		cpuDir+"/online", "0-3",
		cpuDir+"/cpu0/topology/thread_siblings", "3", cpuDir+"/cpu0/topology/core_siblings", "3", cpuDir+"/cpu0/topology/physical_package_id", "36",
		cpuDir+"/cpu3/topology/thread_siblings", "c", cpuDir+"/cpu3/topology/core_siblings", "c", cpuDir+"/cpu3/topology/physical_package_id", "0",
	), nil, Census{4, 2, 2, 1, 0}, "0-3", "caches"},
	{"no sibling sets", pair.plus(files(
		cpuDir+"/online", "0-2", cpuDir+"/cpu0/topology/thread_siblings", "", cpuDir+"/cpu2/topology/physical_package_id", "7",
	)), nil, Census{3, 3, 2, 1, 0}, "0-2", "cores of CPUs 0,2 are unknown"},
	{"caches with unknown sharers", files(
		cpuDir+"/online", "0-3",
		cpuDir+"/cpu0/topology/thread_siblings", "3", cpuDir+"/cpu0/cache/index3/level", "3",
		cpuDir+"/cpu1/cache/index3/level", "3",
		cpuDir+"/cpu2/cache/index3/level", "3", cpuDir+"/cpu2/cache/index3/shared_cpu_map", "c",
		cpuDir+"/cpu3/cache/index3/level", "3",
	), nil, Census{4, 3, 1, 1, 2}, "0-3", "CPUs that share caches with CPUs 0 are unknown"},
	{"corrupt files", pair.plus(files(
		cpuDir+"/cpu0/topology/thread_siblings", "what?", cpuDir+"/cpu1/topology/physical_package_id", "",
		cpuDir+"/cpu0/cache/index0/level", "one", nodeDir+"/node0x/cpulist", "0",
	)), nil, Census{2, 2, 1, 1, 0}, "0-1", "caches"},
	{"a CPU number beyond the largest", twin.plus(files(nodeDir+"/node0/cpulist", "0,70000", nodeDir+"/node1/cpulist", "70000")), nil, Census{2, 2, 1, 3, 0}, "0-1",
		nodeDir + "/node0/cpulist does not count: CPU number 70000 is beyond 8191, the largest that makes sense (2 such files in all)"},
	{"nodes that both have a CPU", twin.plus(files(nodeDir+"/node0/cpulist", "0-1")), nil, Census{2, 2, 1, 2, 0}, "0-1", "nodes 1 have CPUs of nodes before them"},
	{"nodes of which one has CPUs of another, and its own", twin.plus(files(nodeDir+"/node0/cpulist", "0", nodeDir+"/node1/cpulist", "0-1")), nil, Census{2, 2, 1, 3, 0}, "0-1", "nodes 1 have CPUs of nodes before them"},
	{"modules of two cores", pair.plus(files(
		"proc/cpuinfo", "vendor_id : AuthenticAMD\ncpu family : 21",
		cpuDir+"/cpu0/topology/thread_siblings", "3", cpuDir+"/cpu1/topology/thread_siblings", "3",
		cpuDir+"/cpu0/topology/core_id", "0", cpuDir+"/cpu1/topology/core_id", "1",
	)), nil, Census{2, 2, 1, 1, 0}, "0-1", "caches"},
	{"packages with memory alone", files(
		cpuDir+"/online", "0-1", cpuDir+"/cpu0/topology/physical_package_id", "0", cpuDir+"/cpu1/topology/physical_package_id", "1",
		nodeDir+"/node0/cpulist", "0", nodeDir+"/node1/cpulist", "1",
		"proc/self/status", "Cpus_allowed_list:\t0\nMems_allowed_list:\t0-1",
	), nil, Census{1, 1, 2, 2, 0}, "0", "caches"},
	{"an L3 of several packages", files(
		cpuDir+"/online", "0-1", cpuDir+"/cpu0/topology/physical_package_id", "0", cpuDir+"/cpu1/topology/physical_package_id", "1",
		cpuDir+"/cpu0/cache/index3/level", "3", cpuDir+"/cpu0/cache/index3/type", "Unified", cpuDir+"/cpu0/cache/index3/shared_cpu_list", "0-1",
		cpuDir+"/cpu1/cache/index3/level", "3", cpuDir+"/cpu1/cache/index3/type", "Unified", cpuDir+"/cpu1/cache/index3/shared_cpu_list", "0-1",
	), nil, Census{2, 2, 2, 1, 1}, "0-1", "NUMA nodes"},
	{"lists alone, in the formats of old kernels", files(
		cpuDir+"/online", " 0-1,4,\x00",
		cpuDir+"/cpu0/topology/core_cpus_list", "0,4", cpuDir+"/cpu1/topology/core_cpus_list", "1", cpuDir+"/cpu4/topology/core_cpus_list", "0,4",
	), nil, Census{3, 2, 1, 1, 0}, "0-1,4", "node 0"},
	{"siblings 1024 CPUs apart, eight each", files(
		cpuDir+"/online", "0-3,1024-1027",
		cpuDir+"/cpu0/topology/thread_siblings", "0000000f"+strings.Repeat(",00000000", 31)+",0000000f",
		cpuDir+"/cpu0/topology/physical_package_id", "7",
	), nil, Census{8, 1, 2, 1, 0}, "0-3,1024-1027", "node 0"},
	{"the first CPU and its node offline", twin.plus(files(cpuDir+"/online", "1", nodeDir+"/online", "1,3",
		nodeDir+"/node1/distance", "10 17", nodeDir+"/node3/distance", "17 10")), nil, Census{1, 1, 1, 2, 0}, "1", "caches"},
	{"caches of one CPU of two", pair.plus(files(
		cpuDir+"/cpu1/cache/index2/level", "2", cpuDir+"/cpu1/cache/index2/shared_cpu_list", "1", // no type, no size
		cpuDir+"/cpu1/cache/index3/level", "3", cpuDir+"/cpu1/cache/index3/type", "Unified", cpuDir+"/cpu1/cache/index3/size", "0K",
	)), nil, Census{2, 2, 1, 1, 1}, "0-1", "size of some caches of CPUs 1 is unknown"},
}

func TestFaultyTrees(t *testing.T) {
	for _, test := range faultyTrees {
		t.Run(test.name, func(t *testing.T) {
			m := must.Get(test.tree.machine(test.affinity))
			checkMachine(t, m)
			got := m.Count()
			check.True(t, got == test.want && m.Allowed.String() == test.allowed, "got %+v, allowed %v; want %+v, %s", got, m.Allowed, test.want, test.allowed)
			contains.All(t, strings.Join(m.Unknown, "\n"), test.unknown)
		})
	}
}

// checkMachine: every online CPU has one node, every pair of CPUs a level that does not depend on
// the other CPUs, no two CPUs are the same thread of a core, and workers can be placed on all.
func checkMachine(t *testing.T, m *Machine) {
	t.Helper()
	check.Need(t, len(m.CPUs) != 0 && len(m.Allowed) != 0 && slices.Equal(m.Allowed, SetOf(m.Allowed...)) && len(m.Allowed.And(m.Online())) == len(m.Allowed),
		"%+v", m)
	housed, threads := make(map[int]bool), make(map[CPU]bool)
	for _, node := range m.Nodes {
		for _, id := range node.CPUs {
			cpu, online := m.CPU(id)
			housed[id] = true
			check.True(t, online && cpu.Node == node.ID, "node %d has CPU %d, which is %+v", node.ID, id, cpu)
			threads[CPU{Core: cpu.Core, Thread: cpu.Thread}] = true
		}
	}
	check.Equal(t, len(housed), len(m.CPUs), "CPUs with a node")
	check.Equal(t, len(threads), len(m.CPUs), "CPUs with a thread of their own")
	all, cores := m.Levels(m.Allowed), m.CoreCPUs()
	few := m.Levels(cores)
	for _, level := range all {
		for i, g := range level.Groups {
			check.True(t, len(g) >= 2 && !slices.ContainsFunc(level.Groups[:i], func(o CPUSet) bool { return slices.Equal(o, g) }),
				"level %q has the group %v alone or twice: %v", level.Name, g, level.Groups)
		}
	}
	for i, a := range m.Allowed {
		for _, b := range m.Allowed[i+1:] {
			l := all.Of(a, b)
			check.Need(t, l >= 0 && l == all.Of(b, a), "CPUs %d and %d are at level %d, or %d", a, b, l, all.Of(b, a))
			ca, _ := m.CPU(a)
			cb, _ := m.CPU(b)
			check.Equal(t, all[l].Name == Siblings, ca.Core == cb.Core, "CPUs %d and %d of cores %d and %d: %s", a, b, ca.Core, cb.Core, all[l].Name)
			if cores.Contains(a) && cores.Contains(b) {
				check.Equal(t, few[few.Of(a, b)].Name, all[l].Name, "level of CPUs %d and %d among cores", a, b)
			}
		}
	}
	check.Equal(t, cores.Len(), m.Count().Cores, "first CPUs and cores")
	for _, policy := range []Policy{Local, Spread, Remote} { // every machine with memory has these
		p, err := m.Place(policy, len(m.Allowed)+1)
		check.True(t, err == nil || len(m.MemoryNodes()) == 0 && !strings.Contains(err.Error(), "\n"), "%v", err)
		check.True(t, err != nil || len(p.Workers) == len(m.Allowed)+1 && p.Oversubscribed && m.CachedBytes(p) >= 1, "%s: %+v", policy, p)
	}
}

func TestCaches(t *testing.T) {
	cache := func(cpu, index, level, kind, size, shared string) tree {
		dir := cpuDir + "/cpu" + cpu + "/cache/index" + index
		return files(dir+"/level", level, dir+"/type", kind, dir+"/size", size, dir+"/shared_cpu_map", shared, dir+"/coherency_line_size", "64")
	}
	m := must.Get(pair.plus(
		cache("0", "0", "1", "Data", "48K", "1"), cache("1", "0", "1", "Data", "48K", "2"),
		cache("0", "1", "1", "Instruction", "32K", "1"), cache("1", "1", "1", "Instruction", "32K", "2"),
		cache("0", "2", "2", "Unified", "2M", "ff"), cache("1", "2", "2", "Unified", "2M", "ff"), // CPUs 2-7: offline
		cache("0", "3", "3", "Instruction", "1G", "3"),
		cache("0", "4", "-3", "Unified", "1G", "3"), cache("0", "5", "999", "Unified", "1G", "3"), // no levels
		cache("0", "6", "4", "Unified", "4294967295G", "3"), // no size
	).machine(nil))
	check.Equal(t, m.LastLevelCacheBytes(), 2<<20, "bytes of the last-level cache")
	check.Equal(t, len(m.Caches), 7, "caches, %v", m.Caches)
	c := lists.Find(m.Caches, func(c Cache) bool { return c.Level == 2 })
	check.True(t, c.CPUs.String() == "0-1" && c.LineBytes == 64, "got %+v, want it shared by 0-1 with lines of 64 B", c)
}

func TestNoMachine(t *testing.T) {
	file := t.TempDir() + "/file"
	must.Do(os.WriteFile(file, nil, 0o600))
	for _, root := range []string{"", t.TempDir(), t.TempDir() + "/missing", file} {
		m, err := Discover(root)
		check.True(t, err != nil && (root == "" || strings.Contains(err.Error(), root)), "%q: got %v, %v; want an error that names it", root, m, err)
	}
}

// CPUs of unknown kind come after CPUs of known kinds, and count as alike where no kind is known.
func TestKinds(t *testing.T) {
	const capacity, clock = "/cpu_capacity", "/cpufreq/cpuinfo_max_freq"
	cpu := func(file string, values ...string) tree {
		var pairs []string
		for id, value := range values {
			pairs = append(pairs, fmt.Sprint(cpuDir, "/cpu", id, file), value)
		}
		return files(pairs...)
	}
	try := func(name string, tree tree, want, cpus string) { // cpus: CPUs of the default number of workers
		t.Helper()
		m := must.Get(tree.plus(files(cpuDir+"/online", "0-3")).machine(nil))
		p := must.Get(m.Place(Local, m.Concurrency()))
		on := lists.Map(p.Workers, func(w Worker) int { return w.ID })
		got := fmt.Sprint(m.Kinds)
		check.True(t, got == want && fmt.Sprint(on) == cpus, "%s: %s, workers on %v; want %s, %s", name, got, on, want, cpus)
	}
	try("nothing", files(), "[]", "[0 1 2 3]")
	try("names", files("sys/devices/cpu_core/cpus", "2-3", "sys/devices/cpu_atom/cpus", "0-1"), "[{core 2-3} {atom 0-1}]", "[2 3]")
	try("one name", files("sys/devices/cpu_core/cpus", "2-3"), "[{core 2-3} {unknown 0-1}]", "[2 3]")
	try("one name for all", files("sys/devices/cpu_core/cpus", "0-7"), "[]", "[0 1 2 3]")
	try("capacities", cpu(capacity, "446", "446", "1024", "1024"), "[{capacity 1024 of 1024 2-3} {capacity 446 of 1024 0-1}]", "[2 3]")
	try("equal capacities before clocks", cpu(capacity, "1024", "1024", "1024", "1024").plus(cpu(clock, "1", "1", "2", "2")), "[]", "[0 1 2 3]")
	try("a favoured core", cpu(clock, "5000000", "5000000", "5200000", "5000000"), "[]", "[0 1 2 3]")
	try("CPUs without a clock", cpu(clock, "<unknown>", "0", "5000000", "3000000"), "[{up to 5000 MHz 2} {up to 3000 MHz 3} {unknown 0-1}]", "[0 1]")
	try("one clock", cpu(clock, "", "", "", "3000000"), "[]", "[0 1 2 3]")
}

func TestMemoryLeft(t *testing.T) {
	limited := pair.plus(files(
		"proc/self/cgroup", "0::/a/b",
		"proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0",
		"sys/fs/cgroup/a/memory.max", "500000", "sys/fs/cgroup/a/memory.current", "200000",
		"sys/fs/cgroup/a/memory.stat", "anon 1000\ninactive_file 50000",
		"sys/fs/cgroup/a/b/memory.max", "max", "sys/fs/cgroup/a/b/memory.current", "100000",
		"sys/fs/cgroup/a/cpu.max", "150000 100000", "sys/fs/cgroup/a/b/cpu.max", "max 100000",
	))
	old := pair.plus(files(
		"proc/self/cgroup", "3:cpu,cpuacct:/a\n2:memory:/a",
		"proc/mounts", "cgroup /cg/memory cgroup rw,memory 0 0\ncgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0",
		"cg/memory/a/memory.limit_in_bytes", "9223372036854771712", "cg/memory/a/memory.usage_in_bytes", "1000",
		"cg/memory/memory.limit_in_bytes", "30000", "cg/memory/memory.usage_in_bytes", "40000",
		"cg/cpu/a/cpu.cfs_quota_us", "-1", "cg/cpu/a/cpu.cfs_period_us", "100000",
		"cg/cpu/cpu.cfs_quota_us", "50000", "cg/cpu/cpu.cfs_period_us", "100000",
	))
	// A later mount shows groups of others alone, and a name that begins like the process's group.
	mounts := pair.plus(files(
		"proc/self/cgroup", "0::/user/me",
		"proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n31 23 0:26 /us /other rw - cgroup2 cgroup2 rw",
		"sys/fs/cgroup/user/me/memory.max", "3000", "sys/fs/cgroup/user/me/memory.current", "1000",
		"other/memory.max", "1000", "other/memory.current", "1000", "other/cpu.max", "100000 100000",
	))
	try := func(name string, tree tree, bytes int64, share float64) {
		t.Helper()
		left, quota := tree.memoryLeft(), tree.quota()
		check.True(t, left == bytes && quota == share, "%s: got %d bytes and %g CPUs, want %d and %g", name, left, quota, bytes, share)
	}
	try("no groups", pair, unlimited, 0)
	try("several mounts", mounts, 2000, 0)
	try("version 2", limited, 350000, 1.5)
	try("version 2, slow beyond memory.high", limited.plus(files("sys/fs/cgroup/a/b/memory.high", "250000")), 150000, 1.5)
	try("version 1, usage above the limit", old, 0, 0.5)
	for max, want := range map[string]int{"max": math.MaxInt, "20": 13, "5": 0} {
		two := limited.plus(files("sys/fs/cgroup/a/pids.max", max, "sys/fs/cgroup/a/pids.current", "7"))
		one := pair.plus(files("proc/self/cgroup", "3:pids:/a", "proc/mounts", "cgroup /pids cgroup rw,pids 0 0", "pids/a/pids.max", max, "pids/a/pids.current", "7"))
		check.Equal(t, [2]int{two.threadsLeft(), one.threadsLeft()}, [2]int{want, want}, "pids.max %s, of which 7 are there: threads left", max)
	}
	for mems, want := range map[string]int64{"0-1,3": unlimited, "": unlimited, "0,3": unlimited, "0": 57 << 10, "0-1": 57 << 10} { // node 1 has no memory
		limited := twin.plus(files(
			"proc/self/status", "Mems_allowed_list:\t"+mems,
			nodeDir+"/node0/meminfo", "Node 0 MemTotal:  600 kB\nNode 0 MemFree:  50 kB\nNode 0 Inactive(file):  7 kB",
			nodeDir+"/node3/meminfo", "Node 3 MemTotal:  400 kB\nNode 3 MemFree:  100 kB",
		))
		check.Equal(t, limited.allowedMemory(), want, "nodes %q: bytes are free", mems)
	}
	total, available, known := pair.memory()
	check.True(t, total == 1000<<10 && available == 800<<10 && known, "memory: got %d, %d, %v", total, available, known)
}

func TestClock(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "sys/devices/system/cpu/cpu3/cpufreq")
	must.Do(os.MkdirAll(dir, 0o755))
	for text, want := range map[string]float64{"3400123\n": 3400.123, "<unknown>\n": 0, "-1\n": 0, "99999999999\n": 0, "": 0} {
		must.Do(os.WriteFile(filepath.Join(dir, "scaling_cur_freq"), []byte(text), 0o600))
		got, none := Clock(root, 3), Clock(root, 4)
		check.True(t, got == want && none == 0, "%q: %g MHz, want %g; %g MHz without a file", text, got, want, none)
	}
}

// A core's own cache is the largest that only its threads share.
func TestOwnCacheBytes(t *testing.T) {
	cpus := []CPU{{ID: 0, Core: 0}, {ID: 1, Core: 1}, {ID: 2, Core: 0, Thread: 1}, {ID: 3, Core: 1, Thread: 1}}
	cache := func(level int, kind string, bytes int, cpus ...int) Cache {
		return Cache{Level: level, Type: kind, Bytes: bytes, CPUs: cpus}
	}
	try := func(name string, caches []Cache, want int) {
		t.Helper()
		check.Equal(t, (&Machine{CPUs: cpus, Caches: caches}).OwnCacheBytes(), want, "%s", name)
	}
	try("none", nil, 0)
	try("L2 of a core, L3 of all", []Cache{cache(1, "Data", 32<<10, 0, 2), cache(2, "Unified", 1<<20, 0, 2), cache(2, "Unified", 1<<20, 1, 3), cache(3, "Unified", 8<<20, 0, 1, 2, 3)}, 1<<20)
	try("L2 of a cluster", []Cache{cache(1, "Data", 64<<10, 0, 2), cache(1, "Instruction", 128<<10, 0, 2), cache(2, "Unified", 4<<20, 0, 1, 2, 3)}, 64<<10)
	try("unknown size, and no CPUs", []Cache{cache(1, "Data", 0, 0, 2), cache(2, "Unified", 1<<20)}, 0)
}
