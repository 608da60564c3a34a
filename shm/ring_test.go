package shm

import (
	"sync"
	"sync/atomic"
	"testing"
)

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
					more := said < 20
					if id == 0 {
						r.Lead(said, more)
					} else {
						var ok bool
						if more, ok = r.Follow(said, w); !ok {
							t.Errorf("worker %d of %d was told to stop", id, n)
							return
						}
					}
					if !more {
						return
					}
					if !r.Pass(id, passed[id], 7, w) {
						t.Errorf("worker %d of %d was told to stop", id, n)
						return
					}
					passed[id] += 7
				}
			})
		}
		all.Wait()
		if want := uint64(n) * 19 * 7; r.Progress() != want {
			t.Errorf("%d workers: %d flags, want %d", n, r.Progress(), want)
		}
		// A worker that is told to stop does not wait.
		stop.Store(true)
		w := NewWaiter(stop, true)
		if r.Pass(0, passed[0], 1, w) {
			t.Errorf("%d workers: a round without the others", n)
		}
		if _, ok := r.Follow(100, w); ok {
			t.Errorf("%d workers: told an announcement before it was made", n)
		}
	}
}
