// Package numa knows the machine: its logical CPUs, cores, caches and NUMA nodes, the distances
// of nodes, and which of these this process may use. It places workers on CPUs, pins threads,
// binds memory to nodes and asks the kernel where a page really is.
//
// Its opinion: what the kernel says in /sys is believed, what it leaves out is reported as
// unknown, and placement is confirmed by the kernel wherever it can be.
package numa

import (
	"cmp"
	"iter"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// A Machine is what the kernel reports of one: only what is online.
type Machine struct {
	CPUs    []CPU   `json:"cpus"`    // online, ascending by ID
	Nodes   []Node  `json:"nodes"`   // online, ascending by ID; never empty
	Caches  []Cache `json:"caches"`  // distinct caches, by level and first CPU
	Allowed CPUSet  `json:"allowed"` // online CPUs that this process may run on
	Kinds   []Kind  `json:"-"`       // of allowed CPUs, where there are several; the fastest first
	Quota   float64 `json:"-"`       // of CPU time, in CPUs, that control groups allow; 0: no limit
	// Unknown has a sentence for everything that the kernel did not say and
	// what is assumed in its place.
	Unknown []string `json:"unknown,omitempty"`
}

// A CPU is a logical processor, the thing a thread is pinned to.
type CPU struct {
	ID      int `json:"cpu"`
	Core    int `json:"core"`    // index of the physical core in this machine, 0 …
	Thread  int `json:"thread"`  // index among the core's SMT siblings, 0 …
	Package int `json:"package"` // physical package (socket), as the kernel numbers it
	Node    int `json:"node"`    // the CPU's NUMA node
}

// A Node is a NUMA node; one without CPUs is memory only.
type Node struct {
	ID          int         `json:"node"`
	CPUs        CPUSet      `json:"cpus"`
	MemoryBytes int64       `json:"memory_bytes"` // 0: no memory, or unknown
	FreeBytes   int64       `json:"free_bytes"`   // or kept of files only, when it was read
	Distances   map[int]int `json:"distances"`    // by node ID, as the firmware's SLIT has them: 10 is local
	// Forbidden: the process's cpuset keeps it from using the node's memory.
	Forbidden bool `json:"forbidden,omitempty"`
}

// A Cache and the CPUs that share it.
type Cache struct {
	Level     int    `json:"level"`
	Type      string `json:"type"`       // Data, Instruction or Unified
	Bytes     int    `json:"bytes"`      // 0: unknown
	LineBytes int    `json:"line_bytes"` // 0: unknown
	CPUs      CPUSet `json:"cpus"`
}

// A Census counts what is online and may be used by this process.
type Census struct {
	PUs      int `json:"pus"` // logical CPUs
	Cores    int `json:"cores"`
	Packages int `json:"packages"`
	Nodes    int `json:"numa_nodes"`
	L3Caches int `json:"l3_caches"`
}

// Count takes the census.
func (m *Machine) Count() Census {
	cores, packages := make(map[int]bool), make(map[int]bool)
	for _, cpu := range m.CPUs {
		if m.Allowed.Contains(cpu.ID) {
			cores[cpu.Core], packages[cpu.Package] = true, true
		}
	}
	census := Census{PUs: m.Allowed.Len(), Cores: len(cores), Packages: len(packages)}
	for _, node := range m.Nodes {
		if !node.Forbidden {
			census.Nodes++
		}
	}
	for _, cache := range m.Caches {
		if cache.Level == 3 && len(cache.CPUs.And(m.Allowed)) > 0 {
			census.L3Caches++
		}
	}
	return census
}

// CPU returns the online CPU of that number.
func (m *Machine) CPU(id int) (CPU, bool) {
	i, found := slices.BinarySearchFunc(m.CPUs, id, func(c CPU, id int) int { return c.ID - id })
	if !found {
		return CPU{}, false
	}
	return m.CPUs[i], true
}

// Online is the set of all CPUs of the machine.
func (m *Machine) Online() CPUSet {
	online := make(CPUSet, len(m.CPUs))
	for i, cpu := range m.CPUs {
		online[i] = cpu.ID
	}
	return online
}

// Distance is how far a node is from another in the firmware's units, where 10
// is local; 0 when it does not say.
func (m *Machine) Distance(from, to int) int {
	for _, node := range m.Nodes {
		if node.ID == from {
			return node.Distances[to]
		}
	}
	return 0
}

// What is assumed of caches that the kernel does not name: one that a package shares, in
// front of its memory, which many arm64 processors have, and hypervisors hide, and where
// no cache is known at all a worker's own too.
const (
	unnamedShared = 64 << 20
	unnamedOwn    = 2 << 20
)

// Shared are the data and unified caches of known size that some of the workers have, each with
// their number.
func (m *Machine) Shared(workers []Worker) iter.Seq2[Cache, int] {
	on := make(map[int]int)
	for _, w := range workers {
		on[w.ID]++
	}
	return func(yield func(Cache, int) bool) {
		for _, c := range m.Caches {
			n := 0
			for _, cpu := range c.CPUs {
				n += on[cpu]
			}
			if n > 0 && c.Type != "Instruction" && c.Bytes > 0 && !yield(c, n) {
				return
			}
		}
	}
}

// CachedBytes is the most of one worker's data that caches can hold: at each level the largest
// share that a worker of the placement has of a cache, all levels together, because a line need
// not be in two of them. Without a known level beyond the second a package is taken to share one.
func (m *Machine) CachedBytes(p Placement) int {
	const most = 1 << 40 // of what a machine says
	packages := make(map[int]int)
	for _, w := range p.Workers {
		packages[w.Package]++
	}
	shares := make(map[int]int) // by level
	for c, workers := range m.Shared(p.Workers) {
		shares[c.Level] = max(shares[c.Level], min(c.Bytes, most)/workers)
	}
	all, last := 0, 0
	for level, share := range shares {
		all, last = all+share, max(last, level)
	}
	if last == 0 {
		all += unnamedOwn
	}
	if last < 3 {
		workers := len(p.Workers)
		for _, n := range packages {
			workers = min(workers, n)
		}
		all += unnamedShared / max(1, workers)
	}
	return min(all, most)
}

// LastLevelCacheBytes is the size of the largest data or unified cache of the
// highest level; 0 when no size is known.
func (m *Machine) LastLevelCacheBytes() (bytes int) {
	last := 0
	for _, cache := range m.Caches {
		switch {
		case cache.Type == "Instruction" || cache.Bytes == 0:
		case cache.Level > last:
			last, bytes = cache.Level, cache.Bytes
		case cache.Level == last:
			bytes = max(bytes, cache.Bytes)
		}
	}
	return bytes
}

// OwnCacheBytes is the size of the largest data or unified cache that a core shares with
// no other; 0 when there is none whose size is known.
func (m *Machine) OwnCacheBytes() (bytes int) {
	cores := make(map[int]int)
	for _, cpu := range m.CPUs {
		cores[cpu.ID] = cpu.Core
	}
	for _, cache := range m.Caches {
		other := func(cpu int) bool { return cores[cpu] != cores[cache.CPUs[0]] }
		if cache.Type != "Instruction" && len(cache.CPUs) > 0 && !slices.ContainsFunc(cache.CPUs, other) {
			bytes = max(bytes, cache.Bytes)
		}
	}
	return bytes
}

// CacheShares are the bytes of a core in the data or unified caches whose sizes are known: of each
// its size over the cores that share it, rising.
func (m *Machine) CacheShares() (bytes []int) {
	for _, cache := range m.Caches {
		if cores := m.cores(cache.CPUs); cache.Type != "Instruction" && cache.Bytes > 0 && cores > 0 {
			bytes = append(bytes, cache.Bytes/cores)
		}
	}
	return lists.Rising(bytes)
}

// LineBytes is the size of a line of the data caches, 64 where it is unknown.
func (m *Machine) LineBytes() int {
	bytes := 0
	for _, cache := range m.Caches {
		if cache.Type != "Instruction" {
			bytes = max(bytes, cache.LineBytes)
		}
	}
	return cmp.Or(bytes, 64)
}
