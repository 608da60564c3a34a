package numa

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// A cacheKind identifies one of a CPU's caches.
type cacheKind struct {
	level int
	name  string
}

// A cacheFolder has the files of one CPU's cache.
type cacheFolder struct {
	cacheKind
	cpu int
	dir string
}

// The highest level of a cache that makes sense, and the largest size and line, in bytes.
const (
	mostLevel = 9
	mostCache = 1 << 40
	mostLine  = 4096
)

// cacheFolders are the folders of all CPUs' caches whose level is known. Where a folder has no type,
// the type of another CPU's folder with the same number and level counts.
func (t tree) cacheFolders(online CPUSet) (folders []cacheFolder) {
	types := make(map[cacheKind]string) // by level and name of the folder
	for _, cpu := range online {
		dir := path.Join(cpuDir, fmt.Sprint("cpu", cpu), "cache")
		for _, n := range t.numbered(dir, "index") {
			folder := cacheFolder{cpu: cpu, dir: path.Join(dir, fmt.Sprint("index", n))}
			var known bool
			if folder.level, known = t.number(folder.dir + "/level"); !known || folder.level < 1 || folder.level > mostLevel {
				continue
			}
			folder.name = printable.Name(t.Text(folder.dir + "/type"))
			if key := (cacheKind{folder.level, path.Base(folder.dir)}); types[key] == "" {
				types[key] = folder.name
			}
			folders = append(folders, folder)
		}
	}
	for i, f := range folders {
		folders[i].name = cmp.Or(f.name, types[cacheKind{f.level, path.Base(f.dir)}])
	}
	return folders
}

// caches reads the caches and, by agree, the CPUs that share them. A cache has the size and line of its
// first CPU's folder.
func (t tree) caches(m *Machine, online CPUSet) {
	caches := make(map[cacheKind]map[int]Cache) // by CPU
	claims := make(map[cacheKind][]claim)
	var kinds []cacheKind
	for _, f := range t.cacheFolders(online) {
		if caches[f.cacheKind] == nil {
			caches[f.cacheKind] = make(map[int]Cache)
			kinds = append(kinds, f.cacheKind)
		}
		if _, twice := caches[f.cacheKind][f.cpu]; !twice {
			cache := Cache{Level: f.level, Type: f.name, Bytes: parseSize(t.Text(f.dir + "/size"))}
			if line, _ := t.number(f.dir + "/coherency_line_size"); line > 0 && line <= mostLine {
				cache.LineBytes = line
			}
			caches[f.cacheKind][f.cpu] = cache
		}
		claims[f.cacheKind] = append(claims[f.cacheKind], t.claims(f.cpu, f.dir+"/shared_cpu_map", f.dir+"/shared_cpu_list", online)...)
	}
	var unshared []Cache // with unknown sharers, each with its CPU
	for _, kind := range kinds {
		ofCPU := caches[kind]
		for _, set := range m.agree(claims[kind]) {
			if i := slices.IndexFunc(set, func(cpu int) bool { _, has := ofCPU[cpu]; return has }); i >= 0 {
				cache := ofCPU[set[i]]
				cache.CPUs = set
				m.Caches = append(m.Caches, cache)
			}
			for _, cpu := range set {
				delete(ofCPU, cpu)
			}
		}
		for _, cpu := range slices.Sorted(maps.Keys(ofCPU)) {
			cache := ofCPU[cpu]
			cache.CPUs = CPUSet{cpu}
			unshared = append(unshared, cache)
		}
	}
	m.addUnshared(unshared)
	sortCaches(m.Caches)
	if len(m.Caches) == 0 && t.exists(cpuDir) {
		m.unknown("caches are unknown because the CPUs in %s have none", cpuDir)
	}
	sizeless := lists.Filter(m.Caches, func(c Cache) bool { return c.Bytes == 0 && c.Type != "Instruction" })
	if len(sizeless) > 0 {
		cpus := lists.Concat(sizeless, func(c Cache) []int { return c.CPUs })
		m.unknown("the size of some caches of CPUs %v is unknown because the file size in their cache folders is missing or holds no size: these count as if they were not there", SetOf(cpus...))
	}
}

func sortCaches(caches []Cache) {
	slices.SortStableFunc(caches, func(a, b Cache) int {
		return cmp.Or(a.Level-b.Level, a.CPUs[0]-b.CPUs[0], strings.Compare(a.Type, b.Type))
	})
}

// addUnshared adds caches with unknown sharers, each with its CPU: the threads of a core share them.
func (m *Machine) addUnshared(caches []Cache) {
	core := func(c Cache) int { cpu, _ := m.CPU(c.CPUs[0]); return cpu.Core }
	var cpus CPUSet
	for _, same := range lists.Groups(caches, func(c Cache) string { return fmt.Sprint(c.Level, c.Type, core(c)) }) {
		cache := same[0]
		cpus = append(cpus, cache.CPUs[0])
		sharers := lists.Filter(m.CPUs, func(c CPU) bool { return c.Core == core(cache) })
		cache.CPUs = lists.Map(sharers, func(c CPU) int { return c.ID })
		m.Caches = append(m.Caches, cache)
	}
	if len(cpus) > 0 {
		m.unknown("the CPUs that share caches with CPUs %v are unknown because neither shared_cpu_map nor shared_cpu_list in their cache folders can be read: each core counts as having its caches for itself", SetOf(cpus...))
	}
}

// parseSize reads a cache's size in bytes, "512K"; 0 if it cannot.
func parseSize(text string) int {
	shift := 0
	if n := len(text); n > 0 {
		if shift = 10 * (1 + strings.IndexByte("KMG", text[n-1])); shift > 0 {
			text = text[:n-1]
		}
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > mostCache>>shift {
		return 0
	}
	return int(n) << shift
}
