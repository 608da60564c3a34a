package shm

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taulop/taulop/numa"
)

// onCPUs runs f(0) and f(1) … at once on goroutines pinned to the first CPUs
// that this process may use.
func onCPUs(tb testing.TB, n int, f func(worker int)) {
	tb.Helper()
	m, err := numa.Discover("/")
	if err != nil || m.Allowed.Len() < n {
		tb.Skipf("needs %d CPUs: %v", n, err)
	}
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			if err := numa.Pin(m.Allowed[w]); err != nil {
				tb.Error(err)
			}
			f(w)
		})
	}
	wg.Wait()
}

func region(tb testing.TB, n int) []byte {
	tb.Helper()
	r, err := Map(n)
	if err != nil {
		tb.Skip(err)
	}
	tb.Cleanup(func() { r.Close() })
	return r.Bytes()
}

// The one-way time of a flag between two workers, b.N round trips halved: the
// counterpart of a C program with release stores and acquire loads.
func BenchmarkFlag(b *testing.B) {
	mem := region(b, 2*lineBytes)
	ping, pong := flagAt(mem, 0), flagAt(mem, lineBytes)
	var stop atomic.Bool
	b.ReportAllocs()
	b.ResetTimer()
	onCPUs(b, 2, func(worker int) {
		w := NewWaiter(&stop, false)
		for i := uint64(1); i <= uint64(b.N); i++ {
			if worker == 0 {
				ping.Set(i)
				pong.Await(i, w)
			} else {
				ping.Await(i, w)
				pong.Set(i)
			}
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/one-way")
}

// The bare copy of a segment, in cache, by one worker and by two at once: the
// median of 31 batches of the first worker, each timed, so that a neighbour on
// the machine does not count.
func BenchmarkCopy(b *testing.B) {
	const batches = 31
	for _, size := range []int{8 << 10, 64 << 10} {
		for _, workers := range []int{1, 2} {
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
