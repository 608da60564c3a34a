package shm

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Waiters of every kind see a flag that is raised, and give up when told to.
func TestWaiters(t *testing.T) {
	var stop atomic.Bool
	for name, w := range map[string]*Waiter{
		"alone": NewWaiter(&stop, false), "beside a sibling": NewWaiter(&stop, false).BesideSibling(), "by turns": NewWaiter(&stop, true), "both": NewWaiter(&stop, true).BesideSibling(),
	} {
		stop.Store(false)
		var f Flag
		go func() {
			runtime.Gosched()
			f.Set(3)
		}()
		if n := f.Await(3, w); n != 3 {
			t.Errorf("%s: %d, want 3", name, n)
		}
		stop.Store(true)
		if n := f.Await(4, w); n != 3 {
			t.Errorf("%s: %d after it was told to stop, want 3", name, n)
		}
	}
}
