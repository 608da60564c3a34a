// Package levels measures copies between the levels of the memory: caches, memory, and the memory of
// another node.
//
// Its opinion: a level is a working set. Data used again and again lie in the smallest cache that
// holds them. Times are compared, not hardware counters, and a level that is no slower than the
// nearer one is marked.
package levels

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/setups"
)

// A Level is a place of one end of a copy.
type Level struct {
	Name string // L1, L2, L3, Memory or Remote
	// Least and Most bound the working set of one end of a worker's copies, in bytes: at least twice
	// the cache before, so that nothing stays there, and at most a quarter of the worker's share of
	// this one, which also holds the other end and the program. Memory has Least alone.
	Least int
	Most  int
	Cache int // bytes; 0: memory
}

// Names of levels of memory: the worker's own node, and the node with memory that is farthest from
// it.
const (
	Memory = "memory"
	Remote = "remote"
)

func (l Level) cache() bool { return l.Cache > 0 }

// Levels are the levels of a placement's first tau workers, the nearest to the core first, and the
// reasons for levels left out. Caches of unknown size are none. Memory is beyond arenaCaches times the
// last cache, see setups.NeededCaches; 0: setups.ArenaCaches.
func Levels(m *numa.Machine, p numa.Placement, tau int, arenaCaches float64) (levels []Level, left []error) {
	before := 0
	for level := 1; level <= 4; level++ {
		bytes, sharers := 0, 1
		for c, n := range m.Shared(p.Workers[:tau]) {
			if c.Level == level && (bytes == 0 || c.Bytes/n < bytes/sharers) {
				bytes, sharers = c.Bytes, n
			}
		}
		if bytes == 0 {
			continue
		}
		l := Level{Name: fmt.Sprintf("L%d", level), Least: 2 * before, Most: bytes / sharers / 4, Cache: bytes}
		before = bytes
		if l.Least > l.Most {
			left = append(left, fmt.Errorf("%s is left out for τ = %d: a quarter of a worker's share of it, %d KB, is not twice the cache before it", l.Name, tau, l.Most>>10))
			continue
		}
		levels = append(levels, l)
	}
	if len(levels) == 0 {
		left = append(left, fmt.Errorf("no cache has a size that is known: only memory is measured"))
	}
	p.Workers = p.Workers[:tau]
	arena := setups.ArenaOf(m, p, cmp.Or(arenaCaches, setups.ArenaCaches))
	levels = append(levels, Level{Name: Memory, Least: arena})
	if slices.ContainsFunc(p.Workers, func(w numa.Worker) bool { return w.IntermediateNode != w.UserNode }) {
		levels = append(levels, Level{Name: Remote, Least: arena})
	}
	return levels, left
}

// walk is the working set of copies of m bytes at a level, in whole messages; 0 if the level cannot
// hold one.
func (l Level) walk(m int) int {
	stride := (max(m, 1) + 63) / 64 * 64
	if !l.cache() {
		return max(l.Least, stride)
	}
	if stride > l.Most {
		return 0
	}
	// Well above Least and well below Most, but no larger: mapping takes time. At the first level, which
	// has Least 0, it is one message.
	middle := min(2*l.Least, int(math.Sqrt(float64(l.Least)*float64(l.Most))))
	n := max(1, middle/stride) * stride
	if n < l.Least {
		n += stride
	}
	if n > l.Most || n < l.Least {
		return 0
	}
	return n
}
