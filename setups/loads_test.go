package setups

import (
	"context"
	"testing"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// Reading an arena keeps its bytes. Lines that were just read take as long as cached ones; of more
// memory than the caches hold, as long as flushed ones.
func TestLoads(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Skip(err)
	}
	place, err := m.Place(numa.Local, 1)
	if err != nil {
		t.Skip(err)
	}
	r, err := shm.MapPrivate(WantedArena(m, place))
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	mem := r.Bytes()
	lay(mem, pattern(0), 0)
	l := loadsOf(mem, 0)
	if l.Buffers != 1 || l.Next <= 0 || l.Flushed <= 0 || l.Cached <= 0 {
		t.Skipf("%+v: nothing can be flushed here", l)
	}
	if at := differ(mem, pattern(0), 0); at >= 0 {
		t.Fatalf("byte %d of the arena is another now", at)
	}
	if l.Flushed < 3*l.Cached {
		t.Skipf("%+v: memory is as fast as caches here", l)
	}
	const small = 4 << 20
	var share [2]float64
	for range 10 { // other processes use the caches, too, and may evict both
		for i, n := range []int{small, len(mem)} {
			for range 3 {
				differ(mem[:n], pattern(0), 0)
			}
			l := loadsOf(mem[:n], 0)
			share[i] = (l.Flushed - l.Next) / (l.Flushed - l.Cached)
		}
		if share[0] >= 0.5 {
			break
		}
	}
	if share[0] < 0.5 {
		t.Skipf("others leave %.0f %% of %d MB in caches", 100*share[0], small>>20)
	}
	if share[0] < share[1] {
		t.Errorf("%.0f %% of %d MB is in a cache, and %.0f %% of %d MB", 100*share[0], small>>20, 100*share[1], len(mem)>>20)
	}
	if l := loadsOf(mem[:1<<20], 0); l.Buffers != 0 {
		t.Errorf("%+v of an arena of 1 MB, which has too few pages", l)
	}
}

// A team measures each arena once after it was initialised, and none in cache.
func TestLoadsOfTeam(t *testing.T) {
	team := team(t, 2)
	run := func(tr Trial) {
		t.Helper()
		tr.Segments, tr.SegmentBytes, tr.K, tr.Bytes, tr.Messages, tr.Batches = 2, 64, 1, 64, 4, 2
		if _, err := team.Run(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
	}
	run(Trial{Setup: Ring})
	if l := team.Loads(); l.Buffers != 0 {
		t.Errorf("in cache: %+v", l)
	}
	run(Trial{Setup: Ring, ArenaBytes: 4 << 20})
	run(Trial{Setup: Ring, ArenaBytes: 4 << 20})
	first := team.Loads().Buffers
	if first != 2 && !team.placement.Oversubscribed {
		t.Errorf("%d arenas were read, of 2 workers", first)
	}
	run(Trial{Setup: Sendrecv, ArenaBytes: 4 << 20}) // which has arenas of its own
	if l := team.Loads(); l.Buffers != 2*first {
		t.Errorf("%d arenas were read, want %d", l.Buffers, 2*first)
	}
}
