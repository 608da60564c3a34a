// Package levels measures copies between the levels of the memory: caches, memory, and the
// memory of another node.
//
// Its opinion: a level is a working set. Data that are walked through again and again lie in
// the smallest cache that holds them. The hardware is not asked; times are compared, and a
// level that is no slower than the nearer one is marked.
package levels

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/setups"
)

// A Level is where one end of a copy lies, nearest to the core first.
type Level struct {
	Name string // L1, L2, L3, Memory or Remote
	// Least and Most are the bytes that one end of one worker's copies may walk through: at
	// least twice the level before, so that nothing is left there, and at most a quarter of the
	// level itself, for the other end and for the rest of the program. Workers who share a
	// cache have a share each. Memory has Least alone.
	Least int
	Most  int
	Cache int
}

// Names of levels that are no caches: the worker's own node, and the node with
// memory that is farthest from it.
const (
	Memory = "memory"
	Remote = "remote"
)

func (l Level) cache() bool { return l.Cache > 0 }

// Levels are the levels of a placement's first tau workers. Caches that the machine does not
// describe are left out, each level left out with its reason.
func Levels(m *numa.Machine, p numa.Placement, tau int) (levels []Level, left []error) {
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
	arena := setups.WantedArena(m, p)
	levels = append(levels, Level{Name: Memory, Least: arena})
	if slices.ContainsFunc(p.Workers, func(w numa.Worker) bool { return w.IntermediateNode != w.UserNode }) {
		levels = append(levels, Level{Name: Remote, Least: arena})
	}
	return levels, left
}

// walk is how many bytes copies of m walk through at a level, 0 if they cannot:
// whole messages, a cache's between its least and its most.
func (l Level) walk(m int) int {
	stride := (max(m, 1) + 63) / 64 * 64
	if !l.cache() {
		return max(l.Least, stride)
	}
	if stride > l.Most {
		return 0
	}
	// The first level is the message itself, over and over.
	// Well above the least and, where a cache has little room, well below the most;
	// what is mapped afresh for every trial takes its time.
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
