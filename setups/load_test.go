package setups

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

func (l *load) sumOver(begin, lines uint64) (sum uint64) {
	for i := range lines {
		sum += line((begin + i) % uint64(l.ArenaBytes/unitBytes))
	}
	return sum
}

// The check accepts the sum of the lines that an injector read, wherever it began and however often it
// came round, and no other sum.
func TestLoadIsChecked(t *testing.T) {
	l := &load{Load: Load{ArenaBytes: 2 * ChunkBytes}}
	for _, c := range []struct{ begin, lines uint64 }{{0, 0}, {0, 64}, {64, 64}, {64, 128}, {0, 128}, {64, 64 * 1001}} {
		sum := l.sumOver(c.begin, c.lines)
		check.NoError(t, l.check(&worker{}, sum, c.begin, c.lines), "%d lines from %d", c.lines, c.begin)
		check.Error(t, l.check(&worker{}, sum+1, c.begin, c.lines), "%d lines from %d: another sum is accepted", c.lines, c.begin)
	}
	mem := make([]byte, 2*ChunkBytes)
	layLines(mem[:ChunkBytes], 0)
	layLines(mem[ChunkBytes:], ChunkBytes)
	check.Equal(t, readChunk(mem)+readChunk(mem[ChunkBytes:]), l.sumOver(0, 128), "both chunks hold")
}

// Injectors read as fast as they can, slower with pauses, and not at all without a load. A wrong word
// in an arena is found.
func TestLoaded(t *testing.T) {
	team := team(t, 2)
	skip.If(t, team.Placement().Oversubscribed, "needs 2 CPUs")
	passes := Passes{Bytes: 4 << 10, Laid: "zeros", ArenaBytes: 64 << 10,
		Lay:   func(mem []byte, _ int) { clear(mem) },
		Pass:  func([]byte, int) float64 { return 0 },
		Check: func([]byte, int) error { return nil }}
	sample := func(l *Load) (float64, error) {
		_, err := team.Sample(context.Background(), Loaded{passes, l}, 0)
		return team.Injected().NS, err
	}
	const arena = 256 << 10
	// With a pause of an hour an injector reads one chunk in all batches together; without pauses
	// hundreds, or fewer if other processes have its CPU or an interrupted calibration made batches short.
	full, slow := math.Inf(1), 0.
	for try := 0; try < 20 && !(slow > 10*full); try++ {
		fast, err := sample(&Load{ArenaBytes: arena})
		check.Need(t, err == nil && fast > 0, "%g ns a line, %v", fast, err)
		ns := must.Get(sample(&Load{arena, time.Hour}))
		full, slow = min(full, fast), max(slow, ns)
	}
	check.AtLeast(t, slow, 10*full, "ns a line with pauses of an hour, or more than a chunk was read")
	check.True(t, math.IsNaN(must.Get(sample(nil))), "there are lines without a load")
	check.Error(t, must.Err(sample(&Load{ArenaBytes: arena + 1})), "an arena that ends within a chunk is accepted")
	clear(team.memory.kept[key{of: arenaOfLoad, worker: 1}].mem)
	contains.Error(t, must.Err(sample(&Load{ArenaBytes: arena})), "is not what was written")
	check.True(t, must.Get(sample(&Load{ArenaBytes: arena})) > 0, "laid again, a line takes no time")
}

// The first two workers send each other messages while a third one reads, or is left out.
func TestLoadedPair(t *testing.T) {
	team := team(t, 3)
	tr := Trial{Setup: Isolated, Tau: 2, Segments: 1, SegmentBytes: 64, K: 4, Bytes: 256}
	check.NoError(t, must.Err(team.Sample(context.Background(), tr, 0)), "Sample")
	found, err := team.Sample(context.Background(), Loaded{tr, &Load{ArenaBytes: 256 << 10}}, 1e5)
	injected := team.Injected()
	check.True(t, err == nil && found.NS > 0 && injected.NS > 0, "%v, injected %v, %v", found, injected, err)
}

// Reading an arena keeps its bytes. Lines that were just read take as long as cached ones; of more
// memory than the caches hold, as long as flushed ones.
func TestLoads(t *testing.T) {
	place := place(t, 1)
	r, err := shm.MapPrivate(ArenaOf(must.Get(numa.Discover("/")), place, ArenaCaches))
	skip.Error(t, err)
	defer r.Close()
	mem := r.Bytes()
	lay(mem, pattern(0), 0)
	l := loadsOf(mem, 0)
	skip.If(t, l.Buffers != 1 || l.Next <= 0 || l.Flushed <= 0 || l.Cached <= 0, "%+v: nothing can be flushed here", l)
	at := differ(mem, pattern(0), 0)
	check.Need(t, at < 0, "byte %d of the arena is another now", at)
	skip.If(t, l.Flushed < 3*l.Cached, "%+v: memory is as fast as caches here", l)
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
	skip.If(t, share[0] < 0.5, "others leave %.0f %% of %d MB in caches", 100*share[0], small>>20)
	check.AtLeast(t, share[0], share[1], "share of %d MB in a cache, beside that of %d MB", small>>20, len(mem)>>20)
	check.Equal(t, loadsOf(mem[:1<<20], 0).Buffers, 0, "arenas read, of 1 MB, which has too few pages")
}

// A team measures each arena once after it was initialised, and none in cache.
func TestLoadsOfTeam(t *testing.T) {
	team := team(t, 2)
	run := func(tr Trial) {
		t.Helper()
		tr.Segments, tr.SegmentBytes, tr.K, tr.Bytes = 2, 64, 1, 64
		must.Get(tr.repeat(context.Background(), team, 4, 2))
	}
	run(Trial{Setup: Ring})
	check.Equal(t, team.Loads().Buffers, 0, "arenas read in cache")
	run(Trial{Setup: Ring, ArenaBytes: 4 << 20})
	run(Trial{Setup: Ring, ArenaBytes: 4 << 20})
	first := team.Loads().Buffers
	check.True(t, first == 2 || team.placement.Oversubscribed, "%d arenas were read, of 2 workers", first)
	run(Trial{Setup: Sendrecv, ArenaBytes: 4 << 20}) // which receives into another arena
	check.Equal(t, team.Loads().Buffers, 2*first, "arenas read")
}
