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

// A flag there and back, waiting with pauses and without; under taskset on two cores, or on
// two siblings of one.
func BenchmarkAwait(b *testing.B) {
	for name, sibling := range map[string]bool{"spinning": false, "pausing": true} {
		b.Run(name, func(b *testing.B) {
			var (
				stop        atomic.Bool
				there, back Flag
			)
			waiter := func() *Waiter {
				w := NewWaiter(&stop, false)
				if sibling {
					w = w.BesideSibling()
				}
				return w
			}
			go func() {
				w := waiter()
				for n := uint64(1); n <= uint64(b.N); n++ {
					there.Await(n, w)
					back.Set(n)
				}
			}()
			w := waiter()
			for n := uint64(1); n <= uint64(b.N); n++ {
				there.Set(n)
				back.Await(n, w)
			}
		})
	}
}
