package numa

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// A cacheKind is what identifies one of a CPU's caches.
type cacheKind struct {
	level int
	name  string
}

// A cacheFolder says of one CPU's cache what it is and which CPUs share it.
type cacheFolder struct {
	cacheKind
	cpu int
	dir string
}

// cacheFolders are those of all CPUs that say a level.
func (t tree) cacheFolders(online CPUSet) (folders []cacheFolder) {
	names := make(map[cacheKind]string) // of a type, by level and the number of a folder
	for _, cpu := range online {
		dir := path.Join(cpuDir, fmt.Sprint("cpu", cpu), "cache")
		for _, n := range t.numbered(dir, "index") {
			of := cacheFolder{cpu: cpu, dir: path.Join(dir, fmt.Sprint("index", n))}
			var known bool
			if of.level, known = t.number(of.dir + "/level"); !known {
				continue
			}
			of.name = printable.Name(t.Text(of.dir + "/type"))
			if key := (cacheKind{of.level, path.Base(of.dir)}); names[key] == "" {
				names[key] = of.name
			}
			folders = append(folders, of)
		}
	}
	for i, of := range folders { // a folder without a type is of the same one as that number elsewhere
		folders[i].name = cmp.Or(of.name, names[cacheKind{of.level, path.Base(of.dir)}])
	}
	return folders
}

// caches are shared by CPUs as their files say, see agree. Level and type identify a CPU's
// cache; the first CPU of a cache tells the rest.
func (t tree) caches(m *Machine, online CPUSet) {
	said := make(map[cacheKind]map[int]Cache)
	all := make(map[cacheKind][]claim)
	var order []cacheKind
	for _, of := range t.cacheFolders(online) {
		if said[of.cacheKind] == nil {
			said[of.cacheKind] = make(map[int]Cache)
			order = append(order, of.cacheKind)
		}
		if _, twice := said[of.cacheKind][of.cpu]; !twice {
			cache := Cache{Level: of.level, Type: of.name, Bytes: parseSize(t.Text(of.dir + "/size"))}
			cache.LineBytes, _ = t.number(of.dir + "/coherency_line_size")
			said[of.cacheKind][of.cpu] = cache
		}
		all[of.cacheKind] = append(all[of.cacheKind], t.claims(of.cpu, of.dir+"/shared_cpu_map", of.dir+"/shared_cpu_list", online)...)
	}
	var alone []Cache // of unknown sharers, each with its CPU
	for _, k := range order {
		held := make(map[int]bool)
		for _, set := range m.agree(all[k]) {
			for _, cpu := range set {
				held[cpu] = true
			}
			for _, cpu := range set {
				if cache, has := said[k][cpu]; has {
					cache.CPUs = set
					m.Caches = append(m.Caches, cache)
					break
				}
			}
		}
		for _, cpu := range online {
			if cache, has := said[k][cpu]; has && !held[cpu] {
				cache.CPUs = CPUSet{cpu}
				alone = append(alone, cache)
			}
		}
	}
	m.keepAlone(alone)
	sortCaches(m.Caches)
	if len(m.Caches) == 0 && t.exists(cpuDir) {
		m.unknown("caches are unknown because the CPUs in %s have none", cpuDir)
	}
}

func sortCaches(all []Cache) {
	slices.SortStableFunc(all, func(a, b Cache) int {
		return cmp.Or(a.Level-b.Level, a.CPUs[0]-b.CPUs[0], strings.Compare(a.Type, b.Type))
	})
}

// keepAlone adds caches of unknown sharers, each with its CPU: the threads of a core share them.
func (m *Machine) keepAlone(alone []Cache) {
	var unsaid CPUSet
	seen := make(map[string]bool)
	for _, cache := range alone {
		of, _ := m.CPU(cache.CPUs[0])
		key := fmt.Sprint(cache.Level, cache.Type, of.Core)
		if seen[key] {
			continue
		}
		seen[key] = true
		unsaid = append(unsaid, of.ID)
		cache.CPUs = nil
		for _, c := range m.CPUs {
			if c.Core == of.Core {
				cache.CPUs = append(cache.CPUs, c.ID)
			}
		}
		m.Caches = append(m.Caches, cache)
	}
	if len(unsaid) > 0 {
		m.unknown("what shares the caches of CPUs %v is unknown because neither shared_cpu_map nor shared_cpu_list in their cache folders can be read: each core counts as having them for itself", SetOf(unsaid...))
	}
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
