package shm

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
)

// onCPUs runs f(0) and f(1) … at once on goroutines pinned to the first CPUs that this process may use.
func onCPUs(tb testing.TB, n int, f func(worker int)) {
	tb.Helper()
	m, err := numa.Discover("/")
	skip.If(tb, err != nil || m.Allowed.Len() < n, "needs %d CPUs: %v", n, err)
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { check.NoError(tb, numa.Pin(m.Allowed[w]), "Pin"); f(w) })
	}
	wg.Wait()
}

func region(tb testing.TB, n int) []byte {
	tb.Helper()
	r, err := Map(n)
	skip.Error(tb, err)
	tb.Cleanup(func() { r.Close() })
	return r.Bytes()
}

// The one-way time of a flag between two workers on CPUs of their own, b.N round trips halved: the
// counterpart of a C program with release stores and acquire loads. Under taskset on two siblings
// of one core it shows what pauses are for, and exchanging what a sequentially consistent store costs.
func BenchmarkFlag(b *testing.B) {
	for _, way := range []struct {
		name string
		wait func(*Waiter) *Waiter
		set  func(*Flag, uint64)
	}{
		{"spinning", func(w *Waiter) *Waiter { return w }, (*Flag).Set},
		{"pausing", (*Waiter).BesideSibling, (*Flag).Set},
		{"exchanging", func(w *Waiter) *Waiter { return w }, func(f *Flag, n uint64) { f.n.Store(n) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			mem := region(b, 2*lineBytes)
			ping, pong := flagAt(mem, 0), flagAt(mem, lineBytes)
			var stop atomic.Bool
			b.ReportAllocs()
			b.ResetTimer()
			onCPUs(b, 2, func(worker int) {
				w := way.wait(NewWaiter(&stop, false))
				for i := uint64(1); i <= uint64(b.N); i++ {
					if worker == 0 {
						way.set(ping, i)
						pong.Await(i, w)
					} else {
						ping.Await(i, w)
						way.set(pong, i)
					}
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/one-way")
		})
	}
}

// The copy of a segment, in cache, by one worker and by two at once: the median of 31 batches of
// the first worker, so that a moment of another process does not count.
func BenchmarkCopy(b *testing.B) {
	const batches = 31
	for _, size := range []int{8 << 10, 64 << 10} {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%dKiB/%d", size>>10, workers), func(b *testing.B) {
				mem := region(b, 2*workers*size)
				n := b.N/batches + 1
				var times [batches]float64
				var ready atomic.Int32
				b.ReportAllocs()
				b.ResetTimer()
				onCPUs(b, workers, func(w int) {
					src, dst := mem[2*w*size:][:size], mem[(2*w+1)*size:][:size]
					Copy(dst, src)
					ready.Add(1)
					for ready.Load() < int32(workers) {
					}
					for i := range times {
						begin := time.Now()
						for range n {
							Copy(dst, src)
						}
						if w == 0 {
							times[i] = float64(time.Since(begin)) / float64(n)
						}
					}
				})
				slices.Sort(times[:])
				b.ReportMetric(times[batches/2], "ns/median")
			})
		}
	}
}
