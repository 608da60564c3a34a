package setups

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Loaded is a Work of a team's first workers while all others, the injectors, read memory at full
// speed or at a chosen rate. Injectors begin before the first batch and read until all batches are over.
type Loaded struct {
	Work
	Load *Load // nil: no injectors
}

// A Load is the injectors' work: each reads through an arena of its own, a chunk at a time.
type Load struct {
	ArenaBytes int           // of each, a multiple of ChunkBytes
	Every      time.Duration // between the starts of two chunks; 0: no pauses
}

// ChunkBytes is the bytes read between two pauses.
const ChunkBytes = 4 << 10

const chunkLines = ChunkBytes / unitBytes

// batch is long enough to count chunks.
func (l Loaded) batch() Batch {
	b := l.Work.batch()
	b.Time = 2 * time.Millisecond
	return b
}

func (l Loaded) repeat(ctx context.Context, t *Team, n, batches int) ([]float64, error) {
	t.load, t.injected = nil, nil
	if l.Load != nil {
		if l.Load.ArenaBytes < ChunkBytes || l.Load.ArenaBytes%ChunkBytes != 0 {
			return nil, fmt.Errorf("an arena of %d bytes is no multiple of %d", l.Load.ArenaBytes, ChunkBytes)
		}
		t.load = &load{Load: *l.Load}
		defer func() { t.load = nil }()
	}
	all, err := l.Work.repeat(ctx, t, n, batches)
	if err != nil || t.load == nil {
		return all, err
	}
	t.injected = t.load.rates(t.last.measured())
	return all, nil
}

// Injected is the time of all injectors together for a line of 64 bytes, in ns, in the batches of the
// last sample of a Loaded: their bandwidth is 64 bytes divided by it.
func (t *Team) Injected() Sample { return SampleOf(t.injected) }

// A load is a Load with its memory and its counts.
type load struct {
	Load
	epoch  time.Time
	arenas []*region
	counts []count      // by injector
	marks  []mark       // two a round: before its begin, after its finish
	ready  atomic.Int32 // number of injectors with initialised memory
	failed atomic.Bool  // one could not initialise it
	over   atomic.Bool  // the batches are
}

// A count is the number of lines that an injector has read.
type count struct {
	lines atomic.Uint64
	_     [2*unitBytes - 8]byte
}

// A mark is the number of lines that all injectors had read at a moment.
type mark struct {
	at    time.Duration
	lines uint64
}

// enlist makes the workers of a team from the n-th on injectors.
func (l *load) enlist(m *measurement, n, rounds int) error {
	l.epoch, l.marks, l.counts = m.epoch, make([]mark, 2*rounds), make([]count, m.team.Tau()-n)
	for i := range l.counts {
		r, err := m.region(key{of: arenaOfLoad, worker: n + i}, l.ArenaBytes, kept, layLines)
		if err != nil {
			return err
		}
		l.arenas = append(l.arenas, r)
	}
	return nil
}

// line is the first word of line i of an arena.
func line(i uint64) uint64 { return i*0x9E3779B97F4A7C15 + 1 }

// layLines writes the first word of each line; the rest is never read.
func layLines(mem []byte, at int) {
	for i := 0; i < len(mem); i += unitBytes {
		*(*uint64)(unsafe.Pointer(&mem[i])) = line(uint64((at + i) / unitBytes))
	}
}

// sum is the sum of the first n lines of an arena, round and round.
func (l *load) sum(n uint64) uint64 {
	all := uint64(l.ArenaBytes / unitBytes)
	once := func(n uint64) uint64 { return n*(n-1)/2*(line(1)-line(0)) + n*line(0) } // n ≤ all: no overflow before the division
	return n/all*once(all) + once(n%all)
}

// readChunk returns the sum of the lines of a chunk, by eight independent sums.
func readChunk(chunk []byte) uint64 {
	_ = chunk[ChunkBytes-1]
	p := unsafe.Pointer(unsafe.SliceData(chunk))
	word := func(at int) uint64 { return *(*uint64)(unsafe.Add(p, at)) }
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for at := 0; at < ChunkBytes; at += 8 * unitBytes {
		s0 += word(at)
		s1 += word(at + unitBytes)
		s2 += word(at + 2*unitBytes)
		s3 += word(at + 3*unitBytes)
		s4 += word(at + 4*unitBytes)
		s5 += word(at + 5*unitBytes)
		s6 += word(at + 6*unitBytes)
		s7 += word(at + 7*unitBytes)
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
}

// inject is an injector's loop. It does not count as progress: the watchdog is for the workers that
// measure.
func (l *load) inject(m *measurement, w *worker) error {
	err := m.team.memory.touch(w.id, m.step)
	l.failed.CompareAndSwap(false, err != nil)
	l.ready.Add(1)
	if err != nil {
		return err
	}
	i := w.id - len(m.workers)
	arena, lines := l.arenas[i], &l.counts[i].lines
	mem, stop := arena.mem[:l.ArenaBytes], m.team.stop
	var sum, chunks uint64
	if arena.next >= len(mem) {
		arena.next = 0
	}
	begin := arena.next
	at := begin
	due := time.Since(l.epoch)
	for !l.over.Load() && !stop.Load() {
		if l.Every > 0 {
			now := time.Since(l.epoch)
			if now < due {
				continue
			}
			if due += l.Every; due < now { // missed chunks are not made up for
				due = now
			}
		}
		sum += readChunk(mem[at : at+ChunkBytes])
		if at += ChunkBytes; at == len(mem) {
			at = 0
		}
		chunks++
		lines.Store(chunks * chunkLines)
	}
	arena.next = at
	return l.check(w, sum, uint64(begin/unitBytes), chunks*chunkLines)
}

// check proves that an injector has read the right words, from line `begin` on and round again.
func (l *load) check(w *worker, sum, begin, lines uint64) error {
	if sum != l.sum(begin+lines)-l.sum(begin) {
		return fmt.Errorf("what worker %d on CPU %d read from memory, %d lines, is not what was written there: this machine's memory cannot be trusted", w.id, w.cpu, lines)
	}
	return nil
}

// await waits until all injectors have initialised their memory.
func (l *load) await(m *measurement) error {
	for int(l.ready.Load()) < len(l.counts) || l.failed.Load() {
		if m.team.stop.Load() || l.failed.Load() {
			return gaveUp{"the others to inject"}
		}
	}
	return nil
}

// mark records the lines read so far; without a load it does nothing.
func (l *load) mark(i int) {
	if l == nil {
		return
	}
	var sum uint64
	for i := range l.counts {
		sum += l.counts[i].lines.Load()
	}
	l.marks[i] = mark{time.Since(l.epoch), sum}
}

// rates are the times of a line in these batches, in ns.
func (l *load) rates(batches []int, _ bool) (ns []float64) {
	for _, b := range batches {
		from, to := l.marks[2*b], l.marks[2*b+1]
		ns = append(ns, float64(to.at-from.at)/float64(max(1, to.lines-from.lines)))
	}
	return ns
}
