package setups

import (
	"bytes"
	"context"
	"fmt"

	"github.com/taulop/taulop/shm"
	"github.com/taulop/taulop/strided"
)

// A Between is a copy between levels of the memory hierarchy: τ workers copy m bytes each at once,
// without flags. The Rooms that copies walk through, message after message and round again, decide
// which level they read from and write to. With a Layout it is a strided message, whose span is Bytes:
// each worker packs it into a buffer of its own and unpacks it at the other end. Half of that time is
// p(m,d).
type Between struct {
	Tau      int // the first workers of the team
	Bytes    int // m
	From, To Room
	Layout   *strided.Message
}

// A Room is memory that copies walk through. Its size decides the level: a cache no longer holds a
// line when more than the cache's size was touched after it.
type Room struct {
	Bytes int // of each worker
	// Memory: more than any cache holds. It stays mapped, and trials continue where the last ended.
	// Other rooms are walked through once before, and mapped afresh unless they are large: a thousand
	// pages are a sample of placements by themselves.
	Memory bool
	Remote bool // on the node of intermediate buffers, not of user buffers
}

// repeat times copies from the announced start to the last worker's finish, after a round that warms up. It
// fails if a copy does not equal its source.
func (b Between) repeat(ctx context.Context, t *Team, n, batches int) ([]float64, error) {
	if b.Tau < 1 || b.Tau > t.Tau() {
		return nil, fmt.Errorf("%d copies at once need as many workers, there are %d", b.Tau, t.Tau())
	}
	t.copied++
	run := &between{Between: b, n: n}
	defer run.unmap()
	if err := run.enlist(t, b.Tau, batches, 1); err != nil {
		return nil, err
	}
	for w := range b.Tau {
		from, err := run.room(b.From, sending, w)
		if err != nil {
			return nil, err
		}
		to, err := run.room(b.To, receiving, w)
		if err != nil {
			return nil, err
		}
		run.ends = append(run.ends, pair{from: from, to: to})
		if b.Layout != nil {
			own, err := run.user(userBuffer, w, receiving, b.Layout.Bytes)
			if err != nil {
				return nil, err
			}
			run.own = append(run.own, own)
		}
	}
	if err := t.run(ctx, run); err != nil {
		return nil, err
	}
	return run.times(n), nil
}

type between struct {
	Between
	measurement
	n    int      // copies in a batch
	ends []pair   // by worker
	own  [][]byte // by worker: the buffer of packed messages
}

// A pair holds the two ends of a worker's copies.
type pair struct {
	from, to *region
	first    [2]int // offset of the first copy in each, in bytes
	copies   int    // so far
}

// keptRoom is the size from which rooms stay mapped from trial to trial.
const keptRoom = 4 << 20

// room maps a worker's end, kept or fresh. To let check tell trials apart, a kept end moves on by a
// message against the other end, and a fresh one begins with another byte of the pattern.
func (b *between) room(r Room, side, w int) (*region, error) {
	stride := unitsOf(b.Bytes) * unitBytes
	k, bytes := key{of: localCopies, worker: w, side: side}, max(r.Bytes, stride)
	if r.Remote {
		k.of = remoteCopies
	}
	life, phase, write := kept, 0, zeros
	switch {
	case r.Memory:
	case bytes >= keptRoom && bytes >= 2*stride:
		k.bytes = bytes
	default:
		life, phase = fresh, b.team.copied*unitBytes
	}
	if side == sending {
		write = patternFrom(b.team.patterns[w], phase)
	}
	s, err := b.region(k, bytes, life, write)
	if err != nil {
		return nil, err
	}
	if s.phase = phase; side == sending && life == kept {
		s.next += stride
	}
	return s, nil
}

func (b *between) measure(w *worker) error {
	ends := &b.ends[w.id]
	from, to := ends.from, ends.to
	stride := unitsOf(b.Bytes) * unitBytes
	from.next, to.next = from.begin(stride), to.begin(stride)
	ends.first = [2]int{from.next, to.next}
	var own []byte
	if b.Layout != nil {
		own = b.own[w.id]
	}
	for i := 0; ; i++ {
		n := b.n
		if i == 0 {
			n = b.warm(from, to, stride)
		}
		if on, err := b.start(w, i); err != nil || !on {
			return err
		}
		from.next, to.next = b.copies(own, from, to, stride, n)
		b.finish(w, i)
		ends.copies += n
	}
}

func (b *between) verify(w *worker) error {
	return b.check(w.id, b.ends[w.id].first, b.ends[w.id].copies)
}

// begin is the offset at which a walk of strides continues.
func (s *region) begin(stride int) int {
	at := (s.next + stride - 1) / stride * stride
	if at+stride > len(s.mem) {
		return 0
	}
	return at
}

// warm is the number of copies that warm up: twice round each room that is to be in a cache.
func (b *between) warm(from, to *region, stride int) int {
	n := leastWarm
	if !b.From.Memory {
		n = max(n, 2*(len(from.mem)/stride))
	}
	if !b.To.Memory {
		n = max(n, 2*(len(to.mem)/stride))
	}
	return n
}

// copies is the timed loop. Strided messages go through a buffer of the worker's own.
func (b *between) copies(own []byte, from, to *region, stride, n int) (nextFrom, nextTo int) {
	s, d, m := from.next, to.next, b.Bytes
	lastS, lastD := len(from.mem)-stride, len(to.mem)-stride
	strided := b.Layout != nil && !b.Layout.Contiguous()
	for range n {
		switch {
		case strided:
			b.Layout.Pack(own, from.mem[s:s+m])
			b.Layout.Unpack(to.mem[d:d+m], own)
		case own != nil: // contiguous, copied as any other message
			shm.Copy(own, from.mem[s:s+m])
			shm.Copy(to.mem[d:d+m], own)
		default:
			shm.Copy(to.mem[d:d+m], from.mem[s:s+m])
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

// check proves that every place holds the bytes of the last copy into it. Bytes of an earlier trial
// would differ, see room.
func (b *between) check(w int, first [2]int, total int) error {
	from, to, stride, pattern := b.ends[w].from, b.ends[w].to, unitsOf(b.Bytes)*unitBytes, b.team.patterns[w]
	places, sources := len(to.mem)/stride, len(from.mem)/stride
	for i := max(0, total-places); i < total; i++ {
		s := (first[sending]/stride + i) % sources * stride
		d := (first[receiving]/stride + i) % places * stride
		if m := b.Layout; m != nil {
			if !elements(*m, to.mem[d:d+b.Bytes], pattern, from.phase+s) {
				return fmt.Errorf("pack: a message that worker %d unpacked is not what it packed: this machine's copies cannot be trusted", w)
			}
			continue
		}
		if bad := differ(to.mem[d:d+b.Bytes], pattern, from.phase+s); bad >= 0 {
			return fmt.Errorf("copy: byte %d of a message of worker %d is not what it copied: this machine's copies cannot be trusted", bad, w)
		}
	}
	return nil
}

// elements reports whether the elements of a strided message, which begins at byte `at` of user
// memory, match the pattern.
func elements(m strided.Message, mem, pattern []byte, at int) bool {
	want, got := make([]byte, m.Span()), make([]byte, m.Bytes)
	lay(want, pattern, at)
	packed := make([]byte, m.Bytes)
	m.Pack(packed, want)
	m.Pack(got, mem)
	return bytes.Equal(got, packed)
}
