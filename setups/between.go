package setups

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/shm"
	"github.com/taulop/taulop/strided"
)

// A Between is a copy between levels of the memory: τ workers copy m bytes each
// at once, without flags. Where a copy reads from and writes to is a matter of
// the Room that it walks through, message after message and round again. With a
// Layout it is a message at a stride, Bytes being its span, that each packs into a
// buffer of its own and unpacks at the other end: half of that is p(m,d).
type Between struct {
	Tau      int // the first workers of the team
	Bytes    int // m
	From, To Room
	Layout   *strided.Message
	Copies   int // in a batch
	Batches  int // timed, after a round that warms up
}

// A Room is memory that copies walk through. Its bytes decide the level: what
// was touched last among more than a cache holds is no longer there.
type Room struct {
	Bytes []int // by worker
	// Memory: more than any cache holds. It stays mapped, and trials go on where
	// the last ended. Other rooms are walked through before, and mapped afresh unless
	// they are large: a thousand pages are a sample by themselves.
	Memory bool
	Remote bool // on the node of intermediate buffers, not of user buffers
}

// CopyBetween runs the copies and returns the time of one in each batch, in ns,
// from the release of the workers to the finish of the last one. It fails if what
// arrived is not what was to be copied.
func (t *Team) CopyBetween(ctx context.Context, b Between) ([]float64, error) {
	if b.Tau < 1 || b.Tau > t.Tau() {
		return nil, fmt.Errorf("%d copies at once need as many workers, there are %d", b.Tau, t.Tau())
	}
	t.copied++
	run := &between{Between: b, patterns: t.patterns, where: &t.where, clock: clock{epoch: time.Now(), start: make([]time.Duration, b.Batches+2)}}
	defer func() {
		if t.broken == nil {
			run.unmap()
		}
	}()
	mem, err := run.mapped(t, shm.BarrierBytes(b.Tau), t.placement.Workers[0].UserNode, shm.Map)
	if err != nil {
		return nil, err
	}
	run.barrier = shm.NewBarrier(mem, b.Tau)
	for w := range b.Tau {
		t.workers[w].finish = make([]time.Duration, b.Batches+1)
		pair := [2]*stretch{}
		for side, room := range []Room{b.From, b.To} {
			if pair[side], err = run.room(t, room, side, w); err != nil {
				return nil, err
			}
		}
		if from := pair[sending]; from.region != nil { // see check
			from.next += unitsOf(b.Bytes) * unitBytes
		} else {
			from.phase = t.copied * unitBytes
		}
		run.ends = append(run.ends, pair)
		if b.Layout != nil {
			own, err := run.mapped(t, b.Layout.Bytes, t.placement.Workers[w].UserNode, shm.MapPrivate)
			if err != nil {
				return nil, err
			}
			run.own = append(run.own, own[:b.Layout.Bytes])
		}
	}
	if err := t.run(ctx, run); err != nil {
		return nil, err
	}
	times := make([]float64, b.Batches)
	for i := range times {
		var last time.Duration
		for _, w := range t.workers[:b.Tau] {
			last = max(last, w.finish[i+1])
		}
		times[i] = float64(last-run.start[i+1]) / float64(b.Copies)
	}
	return times, nil
}

type between struct {
	Between
	clock
	ends     [][2]*stretch // by worker: from, to
	own      [][]byte      // by worker: of packed messages
	regions  []*shm.Region
	patterns [][]byte
	where    *where
	touched  atomic.Uint64
}

// A stretch is one worker's end of copies.
type stretch struct {
	region *shm.Region
	mem    []byte
	of     use
	laid   bool
	phase  int // of the pattern that lies there
	next   int // byte at which the next copy begins
}

// A stretchKey says whose a stretch is that stays mapped.
type stretchKey struct {
	worker, side int
	remote       bool
	bytes        int // 0: memory, as much as was asked for at most
}

// keptRoom is where rooms stay mapped from trial to trial.
const keptRoom = 4 << 20

// room is a worker's end: one that stays, or a fresh one.
func (b *between) room(t *Team, r Room, side, w int) (*stretch, error) {
	s := &stretch{of: userBuffer}
	node := t.placement.Workers[w].UserNode
	if r.Remote {
		s.of, node = intermediate, t.placement.Workers[w].IntermediateNode
	}
	bytes := max(r.Bytes[w], unitsOf(b.Bytes)*unitBytes)
	stays := r.Memory || bytes >= keptRoom && bytes >= 2*unitsOf(b.Bytes)*unitBytes
	if !stays {
		mem, err := b.mapped(t, bytes, node, shm.MapPrivate)
		s.mem = mem[:bytes:bytes]
		return s, err
	}
	key := stretchKey{w, side, r.Remote, bytes}
	if r.Memory {
		key.bytes = 0
	}
	if old := t.stretches[key]; old != nil {
		if len(old.mem) >= bytes {
			return old, nil
		}
		delete(t.stretches, key)
		old.region.Close()
	}
	region, err := t.mapOn(shm.MapPrivate, bytes, node)
	if err != nil {
		return nil, err
	}
	s.region, s.mem = region, region.Bytes()[:bytes:bytes]
	if t.stretches == nil {
		t.stretches = make(map[stretchKey]*stretch)
	}
	t.stretches[key] = s
	return s, nil
}

func (b *between) mapped(t *Team, n, node int, how func(int) (*shm.Region, error)) ([]byte, error) {
	r, err := t.mapOn(how, n, node)
	if err != nil {
		return nil, err
	}
	b.regions = append(b.regions, r)
	return r.Bytes(), nil
}

func (b *between) unmap() {
	for _, r := range b.regions {
		r.Close()
	}
}

func (b *between) progress() (n uint64) {
	for w := range b.ends {
		n += b.barrier.Arrived(w)
	}
	return n + b.touched.Load()
}

// touch lays what a worker copies, and has the pages of where it copies to.
func (b *between) touch(w int) error {
	for side, s := range b.ends[w] {
		if s.laid {
			continue
		}
		for at := 0; at < len(s.mem); at += pieceBytes {
			piece := s.mem[at:min(at+pieceBytes, len(s.mem))]
			if side == sending {
				lay(piece, b.patterns[w], s.phase+at)
			} else {
				clear(piece)
			}
			if err := b.where.settle(piece, s.of, w); err != nil {
				return err
			}
			b.touched.Add(1)
		}
		s.laid = true
	}
	return nil
}

func (b *between) work(w *worker) error {
	if w.id >= b.Tau {
		return nil
	}
	if err := b.touch(w.id); err != nil {
		return err
	}
	from, to := b.ends[w.id][sending], b.ends[w.id][receiving]
	stride := unitsOf(b.Bytes) * unitBytes
	from.next, to.next = from.begin(stride), to.begin(stride)
	first := [2]int{from.next, to.next}
	total := 0
	for i := range b.Batches + 1 {
		n := b.Copies
		if i == 0 {
			n = b.warm(from, to, stride)
		}
		if !b.meet(w, i) {
			return gaveUp{"the other workers"}
		}
		if b.Layout != nil {
			from.next, to.next = b.packs(b.own[w.id], from, to, stride, n)
		} else {
			from.next, to.next = b.copies(from, to, stride, n)
		}
		w.finish[i] = time.Since(b.epoch)
		total += n
	}
	if !b.meet(w, b.Batches+1) { // checking is traffic too
		return gaveUp{"the other workers"}
	}
	return b.check(w.id, first, total, stride)
}

// begin is where a walk of strides goes on.
func (s *stretch) begin(stride int) int {
	at := (s.next + stride - 1) / stride * stride
	if at+stride > len(s.mem) {
		return 0
	}
	return at
}

// warm is how many copies it takes until everything lies where it belongs: twice
// round what is to be in a cache.
func (b *between) warm(from, to *stretch, stride int) int {
	n := leastWarm
	if !b.From.Memory {
		n = max(n, 2*(len(from.mem)/stride))
	}
	if !b.To.Memory {
		n = max(n, 2*(len(to.mem)/stride))
	}
	return n
}

// copies is the timed loop.
func (b *between) copies(from, to *stretch, stride, n int) (nextFrom, nextTo int) {
	s, d, m := from.next, to.next, b.Bytes
	lastS, lastD := len(from.mem)-stride, len(to.mem)-stride
	for range n {
		shm.Copy(to.mem[d:d+m], from.mem[s:s+m])
		if s += stride; s > lastS {
			s = 0
		}
		if d += stride; d > lastD {
			d = 0
		}
	}
	return s, d
}

// packs is the timed loop of messages at a stride.
func (b *between) packs(own []byte, from, to *stretch, stride, n int) (nextFrom, nextTo int) {
	s, d, m := from.next, to.next, b.Bytes
	lastS, lastD := len(from.mem)-stride, len(to.mem)-stride
	whole := b.Layout.Contiguous() // then copies are those of all other messages
	for range n {
		if whole {
			shm.Copy(own, from.mem[s:s+m])
			shm.Copy(to.mem[d:d+m], own)
		} else {
			b.Layout.Pack(own, from.mem[s:s+m])
			b.Layout.Unpack(to.mem[d:d+m], own)
		}
		if s += stride; s > lastS {
			s = 0
		}
		if d += stride; d > lastD {
			d = 0
		}
	}
	return s, d
}

// check proves that the last copy into every place has brought what lay at its
// source. What a trial before left there looks otherwise: memory that stays moves
// on by a message against the other end, and other patterns by a line.
func (b *between) check(w int, first [2]int, total, stride int) error {
	from, to := b.ends[w][sending], b.ends[w][receiving]
	places, sources := len(to.mem)/stride, len(from.mem)/stride
	for i := max(0, total-places); i < total; i++ {
		s := (first[sending]/stride + i) % sources * stride
		d := (first[receiving]/stride + i) % places * stride
		if m := b.Layout; m != nil {
			if !elements(*m, to.mem[d:d+b.Bytes], b.patterns[w], from.phase+s) {
				return fmt.Errorf("pack: a message that worker %d unpacked is not what it packed: this machine's copies cannot be trusted", w)
			}
			continue
		}
		if bad := differ(to.mem[d:d+b.Bytes], b.patterns[w], from.phase+s); bad >= 0 {
			return fmt.Errorf("copy: byte %d of a message of worker %d is not what it copied: this machine's copies cannot be trusted", bad, w)
		}
	}
	return nil
}

// elements tells whether those of a message that begins at byte `at` of user memory
// are those of the pattern there.
func elements(m strided.Message, mem, pattern []byte, at int) bool {
	want, got := make([]byte, m.Span()), make([]byte, m.Bytes)
	lay(want, pattern, at)
	packed := make([]byte, m.Bytes)
	m.Pack(packed, want)
	m.Pack(got, mem)
	return bytes.Equal(got, packed)
}
