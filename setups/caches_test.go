package setups

import (
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
)

// A machine whose caches the kernel reports to be much larger than they are has smaller arenas than that
// asks for. Nothing is tried where arenas are small, or larger than the memory.
func TestNeededCaches(t *testing.T) {
	here := must.Get(numa.Discover("/"))
	with := func(bytes int) *numa.Machine {
		m := *here
		m.Caches = slices.Clone(here.Caches)
		m.Caches = append(slices.DeleteFunc(m.Caches, func(c numa.Cache) bool { return c.Level > 2 }), numa.Cache{Level: 3, Type: "Unified", Bytes: bytes, CPUs: here.Online()})
		return &m
	}
	for _, bytes := range []int{32 << 20, 1 << 40} {
		check.Equal(t, NeededCaches(with(bytes), []bool{false, true}), ArenaCaches, "caches of an arena beside an L3 of %d MB", bytes>>20)
	}
	large := with(1 << 30)
	check.Equal(t, NeededCaches(large, []bool{false}), ArenaCaches, "caches of an arena in cache")
	arena := int64(ArenaOf(large, must.Get(large.Place(numa.Local, 1)), ArenaCaches))
	skip.If(t, must.Get(numa.FreeMemoryBytes("/")) < arena || here.LastLevelCacheBytes() > 64<<20, "little memory, or large caches")
	got := NeededCaches(large, []bool{true})
	check.True(t, got < ArenaCaches || !team(t, 1).known(t), "an L3 that is smaller than reported: arenas of %g caches", got)
}

// known reports whether reads of memory can be told from those of a cache here.
func (t *Team) known(tb testing.TB) bool { must.Get(t.held(16 << 20)); return t.Loads().Known() }

// Of an arena that a cache holds more is found there than of a large one.
func TestHeld(t *testing.T) {
	team := team(t, 1)
	skip.If(t, !team.known(t), "memory is as fast as caches here")
	small, large := 0., 1.
	for range 10 { // others use the caches, too
		if small, large = must.Get(team.held(2<<20)), must.Get(team.held(256<<20)); small > large {
			return
		}
		team.Release()
	}
	t.Errorf("%.0f %% of 2 MB is in a cache, and %.0f %% of 256 MB", 100*small, 100*large)
}
