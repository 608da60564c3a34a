package setups

import (
	"context"
	"runtime"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
)

// 256 ranks need fewer mappings than a process may have for a channel between every two of them, and
// carry out an alltoall.
func TestManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const ranks = 256
	a := must.Get(collective.Lookup("alltoall:pairwise"))
	s := must.Get(a.Schedule(collective.Call{P: ranks, M: 8}))
	if _, err := team(t, ranks).RunCollective(context.Background(), Collective{Schedule: s, Segments: 1, SegmentBytes: 64, Runs: 1}); err != nil {
		t.Error(err)
	}
}

// 256 workers move their bytes on any number of CPUs, and a trial leaves little garbage, whatever it
// walked through.
func TestManyWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const workers = 256
	many := team(t, workers)
	made := func(tr Trial) (bytes uint64) {
		t.Helper()
		tr.Segments, tr.SegmentBytes, tr.K, tr.Bytes, tr.Messages, tr.Batches = 2, 512, 1, 512, 1, 1
		var before, after runtime.MemStats
		for i := range 2 { // the first lays out what stays
			if i == 1 {
				runtime.ReadMemStats(&before)
			}
			if _, err := many.Run(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const least = 4 << 10 // of a worker: 1.5 KB and some slack
	for _, tr := range []Trial{{Setup: Ring}, {Setup: Ring, ArenaBytes: 64 << 10}, {Setup: Ring, ArenaBytes: 1 << 20}, {Setup: Sendrecv, ArenaBytes: 1 << 20}} {
		if n := made(tr); n > workers*least {
			t.Errorf("%s, arenas of %d KB: a trial leaves %d KB of garbage, %d bytes a worker", tr.Setup.Name, tr.ArenaBytes>>10, n>>10, n/workers)
		} else {
			t.Logf("%s, arenas of %d KB: %d bytes of garbage a worker", tr.Setup.Name, tr.ArenaBytes>>10, n/workers)
		}
	}
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	if most := uint64(workers*(patternBytes+least) + 16<<20); heap.HeapAlloc > most {
		t.Errorf("the heap has %d MB, want %d", heap.HeapAlloc>>20, most>>20)
	}
	t.Logf("heap %d MB", heap.HeapAlloc>>20)
}
