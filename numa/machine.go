// Package numa reads a machine's logical CPUs, cores, caches, NUMA nodes and distances, and which of
// them this process may use. It places workers on CPUs, pins threads, binds memory to nodes and asks
// the kernel for the node of a page.
//
// Its opinion: /sys is believed, what it leaves out is reported as unknown, and placement is
// verified with the kernel wherever possible.
package numa

import (
	"cmp"
	"iter"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// A Machine is the online part of a machine, as the kernel reports it.
type Machine struct {
	CPUs    []CPU   `json:"cpus"`    // online, ascending by ID
	Nodes   []Node  `json:"nodes"`   // online, ascending by ID; never empty
	Caches  []Cache `json:"caches"`  // distinct caches, by level and first CPU
	Allowed CPUSet  `json:"allowed"` // online CPUs that this process may run on
	// Confined are the online CPUs of the process's cpuset, whatever its affinity; nil: all.
	Confined CPUSet  `json:"-"`
	Kinds    []Kind  `json:"-"` // of allowed CPUs, the fastest first; nil if all are alike
	Quota    float64 `json:"-"` // CPU time that control groups allow, in CPUs; 0: no limit
	// Unknown has a sentence for each fact that the kernel did not report, and for what is assumed
	// in its place.
	Unknown []string `json:"unknown,omitempty"`
}

// A CPU is a logical processor, to which a thread can be pinned.
type CPU struct {
	ID      int `json:"cpu"`
	Core    int `json:"core"`    // index of the physical core in this machine, 0 …
	Thread  int `json:"thread"`  // index among the core's SMT siblings, 0 …
	Package int `json:"package"` // physical package (socket), by the kernel's number
	Node    int `json:"node"`    // the CPU's NUMA node
}

// A Node is a NUMA node; one without CPUs is memory only.
type Node struct {
	ID          int         `json:"node"`
	CPUs        CPUSet      `json:"cpus"`
	MemoryBytes int64       `json:"memory_bytes"` // 0: no memory, or unknown
	FreeBytes   int64       `json:"free_bytes"`   // free or inactive page cache, when it was read
	Distances   map[int]int `json:"distances"`    // by node ID, from the firmware's SLIT: 10 is local
	// Forbidden: the process's cpuset keeps it from using the node's memory.
	Forbidden bool `json:"forbidden,omitempty"`
}

// A Cache has the CPUs that share it.
type Cache struct {
	Level     int    `json:"level"`
	Type      string `json:"type"`       // Data, Instruction or Unified
	Bytes     int    `json:"bytes"`      // 0: unknown
	LineBytes int    `json:"line_bytes"` // 0: unknown
	CPUs      CPUSet `json:"cpus"`
}

// A Census counts the online CPUs, nodes and caches that this process may use, with packages and L3 caches
// around memory that it may use, as hwloc does.
type Census struct {
	PUs      int `json:"pus"` // logical CPUs
	Cores    int `json:"cores"`
	Packages int `json:"packages"`
	Nodes    int `json:"numa_nodes"`
	L3Caches int `json:"l3_caches"`
}

// Count takes the census.
func (m *Machine) Count() Census {
	census := Census{PUs: m.Allowed.Len(), Cores: m.cores(m.Allowed)}
	var memories []CPUSet // of nodes that the process may use
	for _, node := range m.Nodes {
		if !node.Forbidden {
			census.Nodes++
			memories = append(memories, node.CPUs)
		}
	}
	packages := make(map[int]CPUSet)
	for _, cpu := range m.CPUs {
		packages[cpu.Package] = append(packages[cpu.Package], cpu.ID)
	}
	for _, all := range packages {
		has := func(memory CPUSet) bool { return len(memory.And(all)) > 0 }
		if has(m.Allowed) || slices.ContainsFunc(memories, has) {
			census.Packages++
		}
	}
	for _, cache := range m.Caches {
		around := func(memory CPUSet) bool {
			first, _ := m.CPU(cache.CPUs[0])
			return slices.Equal(memory, cache.CPUs) && len(memory) < len(packages[first.Package])
		}
		if cache.Level == 3 && (len(cache.CPUs.And(m.Allowed)) > 0 || slices.ContainsFunc(memories, around)) {
			census.L3Caches++
		}
	}
	return census
}

// CPU returns the online CPU with that number.
func (m *Machine) CPU(id int) (CPU, bool) {
	i, found := slices.BinarySearchFunc(m.CPUs, id, func(c CPU, id int) int { return c.ID - id })
	if !found {
		return CPU{}, false
	}
	return m.CPUs[i], true
}

// Online is the set of all CPUs of the machine.
func (m *Machine) Online() CPUSet { return lists.Map(m.CPUs, func(c CPU) int { return c.ID }) }

// usable are the allowed CPUs, ascending by ID.
func (m *Machine) usable() []CPU {
	return lists.Filter(m.CPUs, func(c CPU) bool { return m.Allowed.Contains(c.ID) })
}

// Distance is from one node to another in the firmware's units, 10 for local memory; 0: unknown.
func (m *Machine) Distance(from, to int) int {
	for _, node := range m.Nodes {
		if node.ID == from {
			return node.Distances[to]
		}
	}
	return 0
}

// Bytes assumed of caches that the kernel does not report: a package's shared cache in front of
// memory, which many arm64 processors have and hypervisors hide, a worker's largest part of it, and,
// where no cache is known at all, a worker's own.
const (
	unreportedShared = 64 << 20
	unreportedPart   = 32 << 20
	unreportedOwn    = 2 << 20
)

// Shared yields the data and unified caches of known size that workers use, each with the number of
// these workers.
func (m *Machine) Shared(workers []Worker) iter.Seq2[Cache, int] {
	workersOn := lists.Counts(workers, func(w Worker) int { return w.ID })
	return func(yield func(Cache, int) bool) {
		for _, c := range m.dataCaches() {
			n := lists.Sum(c.CPUs, func(cpu int) int { return workersOn[cpu] })
			if n > 0 && c.Bytes > 0 && !yield(c, n) {
				return
			}
		}
	}
}

// CachedBytes is the largest amount of one worker's data that caches can hold: the sum over levels,
// as caches may be exclusive, of a worker's largest share of a cache. If no level beyond the second
// is known, each package is assumed to share a cache.
func (m *Machine) CachedBytes(p Placement) int {
	shares := make(map[int]int) // by level
	for c, workers := range m.Shared(p.Workers) {
		shares[c.Level] = max(shares[c.Level], c.Bytes/workers)
	}
	sum, last := 0, 0
	for level, share := range shares {
		sum, last = sum+share, max(last, level)
	}
	if last == 0 {
		sum += unreportedOwn
	}
	if last < 3 {
		workers := len(p.Workers)
		for _, of := range lists.Groups(p.Workers, func(w Worker) int { return w.Package }) {
			workers = min(workers, len(of))
		}
		sum += min(unreportedShared/max(1, workers), unreportedPart)
	}
	return min(sum, mostCache)
}

// dataCaches are the data and unified caches.
func (m *Machine) dataCaches() []Cache {
	return lists.Filter(m.Caches, func(c Cache) bool { return c.Type != "Instruction" })
}

// LastLevelCacheBytes is the size of the largest data or unified cache of the highest level; 0:
// unknown.
func (m *Machine) LastLevelCacheBytes() (bytes int) {
	last := 0
	for _, cache := range m.dataCaches() {
		if cache.Bytes > 0 && (cache.Level > last || cache.Level == last && cache.Bytes > bytes) {
			last, bytes = cache.Level, cache.Bytes
		}
	}
	return bytes
}

// OwnCacheBytes is the size of the largest data or unified cache that a core shares with no other;
// 0: none, or unknown.
func (m *Machine) OwnCacheBytes() (bytes int) {
	own := lists.Filter(m.dataCaches(), func(c Cache) bool { return m.cores(c.CPUs) == 1 })
	return lists.Most(own, func(c Cache) int { return c.Bytes })
}

// CacheShares are the sizes of data and unified caches divided by the cores that share them, in
// bytes, rising. Caches of unknown size are left out.
func (m *Machine) CacheShares() (bytes []int) {
	for _, cache := range m.dataCaches() {
		if cores := m.cores(cache.CPUs); cache.Bytes > 0 && cores > 0 {
			bytes = append(bytes, cache.Bytes/cores)
		}
	}
	return lists.Rising(bytes)
}

// LineBytes is the largest line size of the data and unified caches; 64 if unknown.
func (m *Machine) LineBytes() int {
	return cmp.Or(lists.Most(m.dataCaches(), func(c Cache) int { return c.LineBytes }), 64)
}
