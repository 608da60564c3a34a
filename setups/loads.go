package setups

import (
	"math/rand/v2"
	"time"
	"unsafe"

	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// Lines are read in blocks, each in three states (as it is, cached, flushed), so that a disturbance hits
// all three; the median of blocks counts. The TLB holds a block's pages and is filled before:
// translation costs the same in all states.
const (
	loadsOfBlock = 64
	loadBlocks   = 32
	loadsAhead   = 64 << 10 // distance from the walk: prefetchers have read less far
	loadPage     = 4096
)

// below is the byte to read from in an arena of that many bytes whose messages have come down to byte `at`.
func below(at, bytes int) int { return (at - bytes/2 - 2*loadsAhead + 2*bytes) % bytes }

// loadsOf times loads of lines of an arena from byte `from` on, which show whether the next messages
// are cached. It keeps the arena's bytes, and leaves the lines flushed. Buffers is 0 if the arena is too
// small or the processor cannot flush.
func loadsOf(arena []byte, from int) params.Loads {
	const block = loadsOfBlock * loadPage
	blocks := min(loadBlocks, len(arena)/2/block)
	if blocks < 4 {
		return params.Loads{}
	}
	base := unsafe.Pointer(unsafe.SliceData(arena))
	pages, first := len(arena)/loadPage, (from+loadsAhead)/loadPage
	stride := pages / 2 / blocks // pages from block to block
	lines := make([]unsafe.Pointer, loadsOfBlock)
	var next, flushed, cached []float64
	for b := range blocks {
		for i, at := range rand.Perm(loadsOfBlock) {
			page := unsafe.Add(base, (first+b*stride+at)%pages*loadPage)
			chase([]unsafe.Pointer{page})
			lines[i] = unsafe.Add(page, (8+rand.IntN(loadPage/unitBytes-8))*unitBytes)
		}
		next, cached = append(next, timeLoads(lines)), append(cached, timeLoads(lines))
		if !shm.Flush(lines) {
			return params.Loads{}
		}
		flushed = append(flushed, timeLoads(lines))
		shm.Flush(lines)
	}
	return params.Loads{Next: median(next), Flushed: median(flushed), Cached: median(cached), Buffers: 1}
}

// read measures whether the next messages of a worker's arena, from byte `from` on, are cached. It does
// so once each time that the arena was initialised. With oversubscription it measures nothing: workers
// take turns, and their loads tell nothing of each other's walks.
func (m *measurement) read(w *worker, side, from int) {
	for _, r := range m.team.memory.used {
		if (r.of == arena || r.of == arrayOfPasses) && r.worker == w.id && r.side == side && !r.read && !m.byTurns {
			w.loads.Add(loadsOf(r.mem, from))
			r.read = true
		}
	}
}

// Loads is the mean over the team's arenas.
func (t *Team) Loads() params.Loads {
	l := params.Loads{Placement: t.placement.Policy, Tau: t.Tau()}
	for _, w := range t.workers {
		l.Add(w.loads)
	}
	return l
}

// timeLoads is the time of one load, in ns.
func timeLoads(lines []unsafe.Pointer) float64 {
	began := time.Now()
	chase(lines)
	return float64(time.Since(began)) / float64(len(lines))
}

// nowhere is 0, which the compiler does not know: it makes an address depend on the last load.
var nowhere uintptr

// chase loads lines one after another: each address depends on the load before.
//
//go:noinline
func chase(lines []unsafe.Pointer) (found uintptr) {
	zero := nowhere
	for _, line := range lines {
		found = *(*uintptr)(unsafe.Add(line, found&zero))
	}
	return found
}
