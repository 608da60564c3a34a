package setups

import (
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/numa"
)

// Wherever workers are, what they walk through together is several times all caches that can hold it, each worker's
// share at least several times its own cache, and all of it within a quarter of the memory.
func TestArenas(t *testing.T) {
	machines, free := make(map[string]*numa.Machine), make(map[string]int64)
	for _, s := range numatest.Shapes {
		machines[s.String()], free[s.String()] = s.Machine(), s.Memory-s.Memory/16
	}
	if snapshot.Available() {
		for _, name := range snapshot.Few(t) {
			machines[name] = must.Get(numa.Discover(snapshot.Unpack(t, name)))
			free[name] = lists.Sum(machines[name].Nodes, func(n numa.Node) int64 { return n.FreeBytes })
		}
	}
	for name, m := range machines {
		for _, policy := range []numa.Policy{numa.Local, numa.Spread, numa.Remote} {
			for _, tau := range []int{1, 2, 3, m.Count().Nodes, m.Count().Cores / 2, m.Count().Cores, m.Allowed.Len()} {
				p, err := m.Place(policy, max(1, tau))
				if err != nil {
					continue // no memory that may be used
				}
				arena := ArenaOf(m, p, ArenaCaches)
				on := lists.Counts(p.Workers, func(w numa.Worker) int { return w.ID })
				for _, c := range m.Caches {
					workers := lists.Sum(c.CPUs, func(cpu int) int { return on[cpu] })
					check.True(t, workers == 0 || c.Type == "Instruction" || workers*arena >= ArenaCaches*c.Bytes,
						"%s, %s, τ = %d: %d workers of an L%d of %d KB walk through %d KB each", name, policy, tau, workers, c.Level, c.Bytes>>10, arena>>10)
				}
				check.AtLeast(t, arena, 4<<20, "%s, %s, τ = %d: bytes", name, policy, tau)
				f := Fit{Segments: 2, SegmentBytes: 8 << 10, OffCache: true, ArenaBytes: arena, FreeBytes: free[name], Placement: p, Nodes: m.Nodes}
				_, got, err := f.Rows([]int{1})
				if err != nil {
					t.Logf("%s, %s, τ = %d: %v", name, policy, tau, err)
					continue
				}
				check.True(t, got <= arena && int64(got)*int64(len(p.Workers)) <= free[name]/4,
					"%s, %s, τ = %d: %d MB a worker, wanted %d, of %d MB free", name, policy, tau, got>>20, arena>>20, free[name]>>20)
				check.Equal(t, f.Partly(got) != nil, (got < arena), "%s, %s, τ = %d: %d of %d bytes, a warning", name, policy, tau, got, arena)
				by := make(map[int]int64)
				for _, w := range p.Workers {
					by[w.UserNode] += 2 * int64(got) // one to send from, one to receive into
				}
				for _, n := range m.Nodes {
					check.True(t, len(m.Nodes) <= 1 || by[n.ID] <= n.FreeBytes*3/4,
						"%s, %s, τ = %d: node %d has %d MB and gets %d", name, policy, tau, n.ID, n.FreeBytes>>20, by[n.ID]>>20)
				}
			}
		}
	}
}

// What was called off cache on machines with many cores: a worker's arena was smaller than its own cache.
func TestArenaOfMany(t *testing.T) {
	for _, tt := range []struct {
		shape numatest.Shape
		tau   int
		least int // MB of a worker, four times its L2 and its share of the last-level cache
	}{
		{numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 96, Threads: 1, L3: 36 << 20, L2: 2 << 20}, 96, 9},
		{numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 64, Threads: 1, L3: 32 << 20, L2: 1 << 20}, 64, 6},
		{numatest.Shape{Packages: 2, Nodes: 2, L3s: 2, Cores: 112, Threads: 2, L3: 105 << 20, L2: 2 << 20}, 112, 15},
		{numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 128, Threads: 1, L2: 1 << 20}, 128, 6}, // and a cache that is not named
		{numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 2, Threads: 1, L3: 32 << 20, L2: 512 << 10}, 1, 130},
	} {
		m := tt.shape.Machine()
		p := must.Get(m.Place(numa.Local, tt.tau))
		got := ArenaOf(m, p, ArenaCaches) >> 20
		check.True(t, got >= tt.least && got <= 2*tt.least, "%v, τ = %d: %d MB a worker, want %d or somewhat more", tt.shape, tt.tau, got, tt.least)
	}
}
