package numa

import (
	"flag"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/taulop/taulop/internal/sysfs"
	"github.com/taulop/taulop/numa/snapshot"
)

// FuzzSnapshot: whatever the kernel's files say, the result is a machine or an error, and every
// method of the machine can be called. Two CPUs and two nodes get files as on real machines.
func FuzzSnapshot(f *testing.F) {
	names := []string{
		cpuDir + "/online", cpuDir + "/cpu0/topology/thread_siblings", cpuDir + "/cpu1/topology/physical_package_id",
		cpuDir + "/cpu0/cache/index0/size", cpuDir + "/cpu0/cache/index0/shared_cpu_map", nodeDir + "/online", nodeDir + "/node0/cpulist",
		nodeDir + "/node0/distance", nodeDir + "/node0/meminfo", "proc/self/status",
	}
	add := func(texts []string) {
		f.Add(texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7], texts[8], texts[9])
	}
	add([]string{"0-1", "00000001", "0", "48K", "1", "0-1", "0", "10 21", "Node 0 MemTotal: 600 kB\nNode 0 MemFree: 50 kB", "Cpus_allowed_list: 0-1"})
	add([]string{"0,8191", "ffffffff,00000000", "-1", "4G", "", "0-8191", "", "10", "", ""})
	for name, files := range fewSnapshots(f) {
		texts := make([]string, len(names))
		for i, n := range names {
			texts[i] = files.Text(n)
			if len(texts[i]) > 200 {
				texts[i] = texts[i][:200]
			}
		}
		if texts[0] == "" {
			f.Logf("%s has no list of CPUs", name)
		}
		add(texts)
	}
	f.Fuzz(func(t *testing.T, online, siblings, pkg, size, shared, nodes, list, distance, meminfo, status string) {
		const most = 40 // CPUs, of which each has files
		for _, list := range []string{online, nodes} {
			if set, _ := ParseList(list); len(set) > most {
				return
			}
		}
		fs := maps.Clone(fstest.MapFS{
			cpuDir + "/cpu0/cache/index0/level": {Data: []byte("1")}, cpuDir + "/cpu0/cache/index0/type": {Data: []byte("Data")},
			nodeDir + "/node1/cpulist": {Data: []byte("1")}, nodeDir + "/node1/distance": {Data: []byte("21 10")},
		})
		for i, text := range []string{online, siblings, pkg, size, shared, nodes, list, distance, meminfo, status} {
			fs[names[i]] = &fstest.MapFile{Data: []byte(text)}
		}
		m, err := tree{sysfs.Tree{FS: fs}}.machine(nil)
		if err != nil {
			return
		}
		if len(m.CPUs) == 0 || len(m.Nodes) == 0 || len(m.Allowed) == 0 || !slices.IsSorted(m.Allowed) || len(m.Online()) != len(m.CPUs) {
			t.Fatalf("%+v", m)
		}
		of := make(map[int]bool) // CPUs that a node has
		for _, node := range m.Nodes {
			for _, id := range node.CPUs {
				if cpu, online := m.CPU(id); !online || cpu.Node != node.ID {
					t.Errorf("node %d has CPU %d, which is %+v", node.ID, id, cpu)
				}
				of[id] = true
			}
		}
		if len(of) != len(m.CPUs) {
			t.Errorf("%d of %d CPUs have a node: %+v", len(of), len(m.CPUs), m.Nodes)
		}
		m.Levels(m.Allowed)
		m.Count()
		m.LastLevelCacheBytes()
		for _, policy := range []Policy{Local, Spread, Remote} {
			p, err := m.Place(policy, len(m.Allowed)+1)
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Error(err)
				}
				continue
			}
			if len(p.Workers) != len(m.Allowed)+1 || !p.Oversubscribed || m.CachedBytes(p) < 1 {
				t.Errorf("%s: %+v", policy, p)
			}
		}
	})
}

// fewSnapshots are real machines, where they are there.
func fewSnapshots(f *testing.F) map[string]tree {
	f.Helper()
	found := make(map[string]tree)
	// Unpacking takes longer than thousands of inputs, and workers of go test -fuzz are
	// given the seeds of their parent.
	if worker := flag.Lookup("test.fuzzworker"); !snapshot.Available() || worker != nil && worker.Value.String() == "true" {
		return found
	}
	for _, name := range snapshot.Names(f)[:2] {
		root := snapshot.Unpack(f, name)
		found[path.Base(name)] = tree{sysfs.Tree{FS: os.DirFS(root)}}
	}
	return found
}
