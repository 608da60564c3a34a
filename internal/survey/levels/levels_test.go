package levels

import (
	"fmt"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// machine has two cores with the caches of a Xeon of 2023: 48 KB and 2 MB each, 60 MB shared.
func machine() *numa.Machine {
	m := numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 2, Threads: 1, L2: 2 << 20, L3: 60 << 20, Memory: 1 << 34}.Machine()
	for i := range m.Caches {
		if c := &m.Caches[i]; c.Type == "Data" {
			c.Bytes = 48 << 10
		}
	}
	return m
}

// walksWithin fails if messages walk through fewer bytes than the level's least, or more than its most.
func walksWithin(t *testing.T, l Level) {
	t.Helper()
	for _, size := range append([]int{1, 100}, CopySizes...) {
		n := l.walk(size)
		check.True(t, n != 0 || !l.cache() || size*2 > l.Most || size < 64 || l.Least > l.Most, "%s does not take messages of %d bytes", l.Name, size)
		check.True(t, n <= 0 || n >= size && n%64 == 0 && n >= l.Least && (!l.cache() || n <= l.Most), "%s: messages of %d bytes walk through %d", l.Name, size, n)
	}
}

// Working sets exceed the level before, and both ends fit the level. Two workers have half of a shared cache each.
func TestLevels(t *testing.T) {
	m := machine()
	p := must.Get(m.Place(numa.Remote, 2))
	for tau, l3 := range map[int]int{1: 15 << 20, 2: 15 << 19} {
		levels, left := Levels(m, p, tau, 0)
		want := []Level{
			{"L1", 0, 12 << 10, 48 << 10},
			{"L2", 96 << 10, 512 << 10, 2 << 20},
			{"L3", 4 << 20, l3, 60 << 20},
			{"memory", 4*(48<<10+2<<20+60<<20/tau) + 1<<20, 0, 0},
		}
		check.Need(t, len(levels) == len(want) && len(left) == 0, "τ = %d: %+v, %v", tau, levels, left)
		for i, l := range levels {
			check.Equal(t, l, want[i], "τ = %d", tau)
			walksWithin(t, l)
		}
	}
	levels, _ := Levels(m, p, 1, 1)
	check.Equal(t, levels[3], Level{"memory", 48<<10 + 2<<20 + 60<<20 + 1<<20, 0, 0}, "working sets of the last cache's size")
	// An L2 of 64 KB is too close to an L1 of 48 KB.
	for i := range m.Caches {
		if m.Caches[i].Level == 2 {
			m.Caches[i].Bytes = 64 << 10
		}
	}
	levels, left := Levels(m, p, 1, 0)
	check.True(t, len(left) == 1 && len(levels) == 3 && levels[1].Name == "L3", "%+v, %v", levels, left)
	m.Caches = nil
	levels, left = Levels(m, p, 1, 0)
	check.True(t, len(left) == 1 && len(levels) == 1 && levels[0].Name == Memory, "without caches: %+v, %v", levels, left)
}

func cell(variant string, bytes int, ns, half float64) params.Cell {
	return params.Cell{Key: params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: 1, Bytes: bytes}.Named(variant),
		Time: fit.Estimate{Center: ns, Lo: ns - half, Hi: ns + half, N: 6}}
}

// A small remote node, such as one of CXL memory, bounds the working sets there alone.
func TestSmallNode(t *testing.T) {
	m := machine()
	m.Nodes = []numa.Node{{ID: 0, CPUs: m.Allowed, MemoryBytes: 1 << 34, FreeBytes: 1 << 33}, {ID: 1, MemoryBytes: 1 << 20, FreeBytes: 1 << 20}}
	r := must.Get(NewRequest(m, Request{Sizes: []int{64}, Taus: []int{1}}))
	check.True(t, r.MostRemote == 3<<20/8 && r.Most > r.MostRemote, "%d and %d bytes", r.Most, r.MostRemote)
}

// A level that is no slower than the one before gives a doubt.
func TestSteps(t *testing.T) {
	cells := []params.Cell{
		cell("L1-L1", 1024, 20, 1), cell("L2-L1", 1024, 30, 1), cell("L3-L1", 1024, 31, 2),
		cell("L1-L1", 8192, 100, 2), cell("L2-L1", 8192, 200, 2), cell("L3-L1", 8192, 201, 2),
	}
	steps := Steps(cells)
	check.Need(t, len(steps) == 2, "%+v", steps)
	s := steps[0]
	check.True(t, s.Far == "L2" && s.Slower && s.SlowerOf == 2 && s.Compared == 2 && s.Ratio.Center == 1.75, "L2 after L1: %+v", s)
	s = steps[1]
	check.True(t, s.Far == "L3" && !s.Slower && s.SlowerOf == 0 && s.Compared == 2, "L3 after L2: %+v", s)
}

// Tam's parameters use the smallest cache that holds the message.
func TestTam(t *testing.T) {
	table := tamTable([]params.Cell{
		cell("L1-L1", 1024, 20, 1), cell("L1-memory", 1024, 70, 1), cell("memory-memory", 1024, 100, 1),
		cell("L2-L2", 1024, 30, 1), cell("L2-memory", 1024, 71, 1),
		cell("L2-L2", 65536, 2000, 1), cell("L2-memory", 65536, 4000, 1), cell("memory-memory", 65536, 6000, 1),
		cell("memory-memory", 1<<22, 9e5, 1),
	})
	check.Equal(t, fmt.Sprint(table.Rows), "[[1 1K L1 20 70 100] [1 64K L2 2000 4000 6000] [1 4M    900000]]", "Rows")
}

// On all machines levels rise, memory is one of them, working sets are within bounds, and every CPU has
// a level with the first.
func TestSnapshots(t *testing.T) {
	for _, name := range snapshot.Few(t) {
		t.Run(name, func(t *testing.T) {
			m := must.Get(numa.Discover(snapshot.Unpack(t, name)))
			taus := Taus(m)
			place, err := m.Place(numa.Remote, taus[len(taus)-1])
			skip.Error(t, err)
			for _, tau := range taus {
				levels, left := Levels(m, place, tau, 0)
				memory := false
				for i, l := range levels {
					memory = memory || l.Name == Memory
					check.True(t, (!l.cache() || l.Least <= l.Most && 4*l.Most <= l.Cache) && (i <= 0 || l.Least >= levels[i-1].Least), "τ = %d: %+v", tau, levels)
					walksWithin(t, l)
				}
				check.True(t, memory, "τ = %d: no memory in %+v", tau, levels)
				if tau == 1 {
					t.Logf("%+v, left out: %v", levels, left)
				}
			}
		})
	}
}
