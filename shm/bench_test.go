package shm

import (
	"sync"
	"sync/atomic"
	"testing"

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

// The one-way time of a flag between two workers on CPUs of their own, b.N round trips halved,
// waiting with pauses and without: the counterpart of a C program with release stores and
// acquire loads. Under taskset on two siblings of one core it shows what pauses are for.
func BenchmarkFlag(b *testing.B) {
	for name, sibling := range map[string]bool{"spinning": false, "pausing": true} {
		b.Run(name, func(b *testing.B) {
			mem := region(b, 2*lineBytes)
			ping, pong := flagAt(mem, 0), flagAt(mem, lineBytes)
			var stop atomic.Bool
			b.ReportAllocs()
			b.ResetTimer()
			onCPUs(b, 2, func(worker int) {
				w := NewWaiter(&stop, false)
				if sibling {
					w = w.BesideSibling()
				}
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
		})
	}
}
