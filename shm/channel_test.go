package shm

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// Random bytes through one writer and 1–4 readers, 1–8 segments, sizes up to a
// segment: every reader gets what was sent, in order.
func TestChannel(t *testing.T) {
	for readers := 1; readers <= 4; readers++ {
		for segments := 1; segments <= 8; segments++ {
			const segmentBytes = 300
			n := must.Get(ChannelBytes(segments, segmentBytes, readers))
			c := NewChannel(region(t, n), segments, segmentBytes, readers)
			var stop atomic.Bool
			var wg sync.WaitGroup
			r := rand.NewChaCha8([32]byte{byte(readers), byte(segments)})
			sent := lists.Map(lists.Indices(200), func(i int) []byte { b := make([]byte, i%(segmentBytes+1)); r.Read(b); return b })
			wg.Go(func() {
				s := c.Sender(NewWaiter(&stop, true))
				for _, b := range sent {
					s.Send(b)
				}
			})
			for reader := range readers {
				wg.Go(func() {
					in := c.Receiver(reader, NewWaiter(&stop, true))
					for i, want := range sent {
						got := make([]byte, len(want))
						if !in.Receive(got) || !bytes.Equal(got, want) {
							t.Errorf("%d readers, %d segments: reader %d got a wrong segment %d", readers, segments, reader, i)
							stop.Store(true)
							return
						}
					}
				})
			}
			wg.Wait()
		}
	}
}

// A writer never overtakes its slowest reader, and a worker told to stop leaves its wait.
func TestChannelBlocks(t *testing.T) {
	n, _ := ChannelBytes(2, 8, 2)
	var stop atomic.Bool
	w := NewWaiter(&stop, true)
	c := NewChannel(region(t, n), 2, 8, 2)
	s, fast, slow := c.Sender(w), c.Receiver(0, w), c.Receiver(1, w)
	buf := make([]byte, 8)
	for range 2 {
		s.Send(buf)
		fast.Receive(buf)
	}
	time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
	check.True(t, !s.Send(buf), "the writer overwrote a segment that one reader had not read")
	check.True(t, !fast.Receive(buf), "a reader got a segment before it was written")
	stop.Store(false)
	check.True(t, slow.Receive(buf) && s.Send(buf) && fast.Receive(buf), "the channel did not go on after the slow reader had read")
	check.Equal(t, c.Progress(), 3+3+1, "progress")
}

// Flags must have lines of their own: a flag that shares one measures the cache's quarrel, not the synchronisation.
func TestFlagLayout(t *testing.T) {
	check.Equal(t, unsafe.Sizeof(Flag{}), lineBytes, "bytes of a flag")
	n, _ := ChannelBytes(3, 100, 5)
	mem := region(t, n)
	c := NewChannel(mem, 3, 100, 5)
	seen := map[uintptr]bool{uintptr(unsafe.Pointer(c.filled)) / lineBytes: true}
	for _, f := range c.emptied {
		seen[uintptr(unsafe.Pointer(f))/lineBytes] = true
	}
	for i := range 3 {
		seen[uintptr(unsafe.Pointer(&c.Segment(i)[0]))/lineBytes] = true
	}
	check.Equal(t, len(seen), 1+5+3, "lines of flags and segments")
}

// Around every limit of Copy, and never a byte too many.
func TestCopy(t *testing.T) {
	src := make([]byte, 2*piece+4096)
	rand.NewChaCha8([32]byte{1}).Read(src)
	for _, n := range []int{0, 1, 7, 64, 2047, 2048, 2049, 4096, 8191, 8192, piece, piece + 1, 2*piece + 7} {
		for _, offset := range []int{0, 1, 8, 64} {
			dst := make([]byte, n+1)
			Copy(dst[:n], src[offset:])
			check.True(t, bytes.Equal(dst[:n], src[offset:offset+n]) && dst[n] == 0, "copy of %d bytes from offset %d is wrong", n, offset)
			Copy(dst, src[offset:offset+n])
			check.Equal(t, dst[n], 0, "byte behind a copy of %d bytes", n)
		}
	}
}

func TestBarrier(t *testing.T) {
	const workers, rounds = 5, 200
	b := NewBarrier(region(t, BarrierBytes(workers)), workers)
	var stop atomic.Bool
	var inside [workers]atomic.Uint64
	var wg sync.WaitGroup
	for id := range workers {
		wg.Go(func() {
			w := NewWaiter(&stop, true)
			for round := uint64(1); round <= rounds; round++ {
				inside[id].Store(round)
				if id == 0 {
					b.Gather(round, w)
					b.Release(round)
				} else {
					b.Meet(id, round, w)
				}
				for other := range inside {
					check.True(t, inside[other].Load() >= round, "worker %d left round %d before worker %d came", id, round, other)
				}
			}
		})
	}
	wg.Wait()
}

func TestChannelBytesRefusesTheImpossible(t *testing.T) {
	for _, tt := range []struct{ segments, bytes, readers int }{
		{0, 8, 1}, {-1, 8, 1}, {1, -1, 1}, {1, 8, 0}, {1 << 40, 1 << 40, 1}, {1, 1<<63 - 1, 1}, {1<<63 - 1, 1, 1},
	} {
		check.Error(t, must.Err(ChannelBytes(tt.segments, tt.bytes, tt.readers)), "%+v", tt)
	}
}

func TestMapRefusesTheImpossible(t *testing.T) {
	skip.If(t, runtime.GOOS != "linux", "mapping needs Linux")
	for _, n := range []int{-1, 1 << 60} {
		check.Error(t, must.Err(Map(n)), "%d bytes are mapped", n)
	}
	r := must.Get(Map(1))
	for range 2 {
		must.Do(r.Close())
		check.True(t, r.Bytes() == nil, "%d bytes left", len(r.Bytes()))
	}
}

// Sending and receiving allocate nothing.
func TestHotPathAllocatesNothing(t *testing.T) {
	n, _ := ChannelBytes(2, 64, 1)
	var stop atomic.Bool
	w := NewWaiter(&stop, false)
	c := NewChannel(region(t, n), 2, 64, 1)
	s, r := c.Sender(w), c.Receiver(0, w)
	buf := make([]byte, 64)
	check.Equal(t, testing.AllocsPerRun(100, func() { s.Send(buf); r.Receive(buf) }), 0, "allocations a segment")
}

// Spinning goroutines need a processor each.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(8)
	m.Run()
}

// Workers pass flags round as often as worker 0 says, in whatever order they arrive.
func TestRing(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		r, stop := NewRing(region(t, RingBytes(n)), n), new(atomic.Bool)
		var all sync.WaitGroup
		passed := make([]uint64, n)
		for id := range n {
			all.Go(func() {
				w := NewWaiter(stop, true)
				for said := uint64(1); ; said++ {
					more, ok := said < 20, true
					if id == 0 {
						r.Lead(said, more)
					} else {
						more, ok = r.Follow(said, w)
					}
					if ok && more {
						ok = r.Pass(id, passed[id], 7, w)
						passed[id] += 7
					}
					check.True(t, ok, "worker %d of %d was told to stop", id, n)
					if !ok || !more {
						return
					}
				}
			})
		}
		all.Wait()
		check.Equal(t, r.Progress(), uint64(n)*19*7, "%d workers: flags", n)
		// A worker that is told to stop does not wait.
		stop.Store(true)
		w := NewWaiter(stop, true)
		check.True(t, !r.Pass(0, passed[0], 1, w), "%d workers: a round without the others", n)
		_, ok := r.Follow(100, w)
		check.True(t, !ok, "%d workers: told an announcement before it was made", n)
	}
}

// Waiters of every kind see a flag that is raised, and give up when told to.
func TestWaiters(t *testing.T) {
	var stop atomic.Bool
	for name, w := range map[string]*Waiter{
		"alone": NewWaiter(&stop, false), "beside a sibling": NewWaiter(&stop, false).BesideSibling(), "by turns": NewWaiter(&stop, true), "both": NewWaiter(&stop, true).BesideSibling(),
	} {
		stop.Store(false)
		var f Flag
		go func() { runtime.Gosched(); f.Set(3) }()
		check.Equal(t, f.Await(3, w), 3, "%s", name)
		stop.Store(true)
		check.Equal(t, f.Await(4, w), 3, "%s: after it was told to stop", name)
	}
}
