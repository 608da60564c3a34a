package numa

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/sysfs"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/snapshot"
)

// TestSnapshots compares the counts with an independent tool's. A change of one CPU's file does not change them, and
// a warning names the file where others contradict it. Large machines' files are changed with TAULOP_LONG only.
func TestSnapshots(t *testing.T) {
	table := must.Get(os.ReadFile(filepath.Join(snapshot.Dir(t), "expected.tsv")))
	expected := make(map[string]string)
	for line := range strings.Lines(string(table)) {
		name, counts, _ := strings.Cut(strings.TrimSpace(line), "\t")
		expected[name] = counts
	}
	for _, name := range snapshot.Names(t) {
		t.Run(name, func(t *testing.T) {
			want := expected[name]
			files := unpack(t, name).files
			read := func(t *testing.T) *Machine {
				t.Helper()
				m := must.Get(tree{Tree: sysfs.Tree{FS: files}}.machine(nil))
				c := m.Count()
				got := fmt.Sprintf("%d\t%d\t%d\t%d\t%d", c.PUs, c.Cores, c.Packages, c.Nodes, c.L3Caches)
				check.Equal(t, got, want, "PUs, cores, packages, nodes and L3 caches, without what is unknown, %q", m.Unknown)
				return m
			}
			whole := read(t)
			checkMachine(t, whole)
			check.True(t, whole.LastLevelCacheBytes() > 0 || len(whole.Caches) == 0, "no size of the last-level cache")
			online := whole.Online()
			if len(online) > 24 && os.Getenv("TAULOP_LONG") == "" {
				return
			}
			changed := 0
			ends := []int{online[0], online[len(online)-1]}
			if len(online) > 12 { // slow
				ends = ends[:1]
			}
			for _, cpu := range ends {
				for _, file := range slices.Sorted(maps.Keys(files)) {
					if !strings.HasPrefix(file, path.Join(cpuDir, fmt.Sprint("cpu", cpu))+"/") {
						continue
					}
					was := files[file]
					for change, now := range changes(file, string(was.Data), cpu) {
						files[file] = now
						if now == nil {
							delete(files, file)
						}
						changed++
						t.Run(fmt.Sprint(path.Base(path.Dir(file)), "/", path.Base(file), " of CPU ", cpu, " ", change), func(t *testing.T) {
							m := read(t)
							warned := slices.ContainsFunc(m.Unknown, func(u string) bool { return strings.Contains(u, "/"+path.Base(file)+" says ") })
							disputed := now != nil && disputes(files, file, string(was.Data), cpu, online)
							check.True(t, !disputed || warned, "no warning, although other files contradict it: %q", m.Unknown)
						})
						files[file] = was
					}
				}
			}
			check.True(t, changed != 0, "nothing was changed")
		})
	}
}

// disputes reports whether a changed file contradicts another file of its CPU or of a CPU that shares with it.
func disputes(files fstest.MapFS, file, was string, cpu int, online CPUSet) bool {
	set := func(file string) CPUSet {
		read := ParseMask
		if strings.HasSuffix(file, "_list") {
			read = ParseList
		}
		if files[file] == nil {
			return nil
		}
		s, err := read(strings.TrimSpace(string(files[file].Data)))
		if err != nil {
			return nil
		}
		return s.And(online)
	}
	if strings.HasSuffix(file, "_id") { // equal among CPUs that share
		of := "core_siblings"
		if path.Base(file) == "core_id" {
			of = "thread_siblings"
		}
		return string(files[file].Data) != "-1" && !strings.HasPrefix(was, "-") && set(path.Join(path.Dir(file), of)).Len() > 1
	}
	now := set(file)
	if len(now) == 0 {
		return false
	}
	base := strings.TrimSuffix(strings.TrimSuffix(file, "_map"), "_list")
	for _, other := range online {
		at := strings.Replace(base, fmt.Sprintf("/cpu%d/", cpu), fmt.Sprintf("/cpu%d/", other), 1)
		for _, file := range []string{at, at + "_map", at + "_list"} {
			if s := set(file); s.Contains(cpu) && !slices.Equal(s, now) {
				return true
			}
		}
	}
	return false
}

// changes are the file's possible contents by name; nil: removed.
func changes(file, text string, cpu int) map[string]*fstest.MapFile {
	as := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	own := SetOf(cpu)
	switch name := path.Base(file); {
	case strings.Contains(file, "/cpufreq/"):
	case name == "physical_package_id" || name == "core_id":
		return map[string]*fstest.MapFile{"is 77": as("77"), "is −1": as("-1"), "is missing": nil}
	case strings.HasSuffix(name, "_list"):
		return map[string]*fstest.MapFile{"is cut": as(own.String()), "is missing": nil, "is no list": as("-")}
	case strings.HasSuffix(name, "siblings") || strings.HasSuffix(name, "cpus") || name == "shared_cpu_map":
		words := lists.Map(strings.Split(strings.TrimSpace(text), ","), func(word string) string { return strings.Repeat("0", len(word)) })
		if at := len(words) - 1 - cpu/32; at >= 0 {
			words[at] = fmt.Sprintf("%08x", 1<<(cpu%32))
		}
		return map[string]*fstest.MapFile{"is cut": as(strings.Join(words, ",")), "is f": as("0000000f"), "is 0": as("0"), "is missing": nil}
	}
	return nil
}

// snapshots caches machines and the files that numa reads: unpacking takes longer than the tests.
var snapshots = make(map[string]unpacked)

type unpacked struct {
	machine *Machine
	files   fstest.MapFS
}

// Snapshot is the machine of an archive.
func Snapshot(t testing.TB, name string) *Machine { return unpack(t, name).machine }

func unpack(t testing.TB, name string) unpacked {
	t.Helper()
	if u, there := snapshots[name]; there {
		return u
	}
	root, files := snapshot.Unpack(t, name), make(fstest.MapFS)
	m, dir := must.Get(Discover(root)), os.DirFS(root)
	must.Do(fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if text, err := fs.ReadFile(dir, name); err == nil {
			files[name] = &fstest.MapFile{Data: text}
		}
		return nil
	}))
	snapshots[name] = unpacked{m, files}
	return snapshots[name]
}

// FuzzSnapshot: any content of the kernel's files gives an error or a machine whose methods work.
func FuzzSnapshot(f *testing.F) {
	names := []string{
		cpuDir + "/online", cpuDir + "/cpu0/topology/thread_siblings", cpuDir + "/cpu1/topology/physical_package_id",
		cpuDir + "/cpu0/cache/index0/size", cpuDir + "/cpu0/cache/index0/shared_cpu_map", nodeDir + "/online", nodeDir + "/node0/cpulist",
		nodeDir + "/node0/distance", nodeDir + "/node0/meminfo", "proc/self/status",
	}
	f.Add("0-1", "00000001", "0", "48K", "1", "0-1", "0", "10 21", "Node 0 MemTotal: 600 kB\nNode 0 MemFree: 50 kB", "Cpus_allowed_list: 0-1")
	f.Add("0,8191", "ffffffff,00000000", "-1", "4G", "", "0-8191", "", "10", "", "")
	f.Fuzz(func(t *testing.T, online, siblings, pkg, size, shared, nodes, list, distance, meminfo, status string) {
		const most = 40 // CPUs, for speed
		for _, list := range []string{online, nodes} {
			if set, _ := ParseList(list); len(set) > most {
				return
			}
		}
		fs := fstest.MapFS{
			cpuDir + "/cpu0/cache/index0/level": {Data: []byte("1")}, cpuDir + "/cpu0/cache/index0/type": {Data: []byte("Data")},
			nodeDir + "/node1/cpulist": {Data: []byte("1")}, nodeDir + "/node1/distance": {Data: []byte("21 10")},
		}
		for i, text := range []string{online, siblings, pkg, size, shared, nodes, list, distance, meminfo, status} {
			fs[names[i]] = &fstest.MapFile{Data: []byte(text)}
		}
		if m, err := (tree{Tree: sysfs.Tree{FS: fs}}).machine(nil); err == nil {
			checkMachine(t, m)
		}
	})
}
