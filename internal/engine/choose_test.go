package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/params"
)

// Workers take turns in order. Workers with several states visit the cell that lacks most samples in
// the present state, until the least time is over; other workers visit each cell once.
func TestChooser(t *testing.T) {
	pair := []int{0, 1}
	watches := []params.Watch{{CPUs: pair, States: []params.State{{NS: 60}, {NS: 240, Above: 120}}}}
	visits := []Visit{
		{Key: params.Key{Bytes: 1}, Watch: 1, Have: []int{3, 0}, Hints: []float64{500, 0}, Hint: 700},
		{Key: params.Key{Bytes: 2}, Hint: 5},
		{Key: params.Key{Bytes: 3}, Watch: 1, Have: []int{1, 4}, Hints: []float64{0, 1500}, Hint: 700},
		{Key: params.Key{Bytes: 4}, Probe: true, Watch: 1},
	}
	flag, now, looked := 60., time.Duration(0), 0
	look := func(context.Context, []int) (ns, computed float64) { looked++; return flag, 0 }
	c := newChooser(Order{Visits: visits, Watches: watches, Least: 200 * time.Millisecond}, look, func() time.Duration { return now })
	var order []int
	var hints []float64
	visit := func(want int, before, after float64) {
		t.Helper()
		at, hint, ok := c.next(context.Background())
		if !ok || at != want {
			t.Fatalf("after %v: visit %d, %t; want %d", order, at, ok, want)
		}
		now += 10 * time.Millisecond
		order, hints = append(order, at), append(hints, hint)
		c.took(at, lookedAt(pair, before, after))
	}
	visit(2, 60, 60) // it lacks most at 60 ns
	visit(1, 0, 0)   // it is these workers' turn, once
	visit(0, 60, 60) // the other one, once
	visit(3, 60, 60)
	visit(2, 60, 240)  // again, and the machine moves meanwhile
	visit(0, 240, 240) // which lacks most there
	visit(2, 240, 240)
	if looked != 1 { // what a sample ends with is fresh
		t.Errorf("%d looks", looked)
	}
	if !slices.Equal(hints[:3], []float64{700, 5, 500}) || hints[5] != 700 || hints[6] != 1500 {
		t.Errorf("hints %v", hints)
	}
	now = 300 * time.Millisecond
	if at, _, ok := c.next(context.Background()); ok {
		t.Errorf("visit %d when all is done", at)
	}
	// Without looks every visit is made once.
	c = newChooser(Order{Visits: visits, Watches: watches, Least: time.Hour}, func(context.Context, []int) (ns, computed float64) { return 0, 0 }, func() time.Duration { return now })
	order = nil
	for range visits {
		at, _, ok := c.next(context.Background())
		if !ok {
			break
		}
		order = append(order, at)
		c.took(at, Reading{})
	}
	if !slices.Equal(order, []int{0, 1, 2, 3}) {
		t.Errorf("without looks: %v", order)
	}
}

// lookedAt is a reading of workers on these CPUs, with looks before and after it.
func lookedAt(cpus []int, before, after float64) Reading {
	return Reading{CPUs: cpus, Sample: params.Sample{Before: float32(before), After: float32(after)}}
}

// Workers with several states do not take the turns of others.
func TestTurns(t *testing.T) {
	sets := [][]int{{0}, {0, 1}, {2, 3}}
	var o Order
	for _, cpus := range sets[:2] {
		o.Watches = append(o.Watches, params.Watch{CPUs: cpus, States: []params.State{{NS: 60}, {NS: 240, Above: 120}}})
	}
	for i := range 30 {
		o.Visits = append(o.Visits, Visit{Key: params.Key{Bytes: i}, Watch: (i/10 + 1) % 3, Have: []int{0, 0}, Hints: []float64{0, 0}})
	}
	o.Least = time.Hour
	c := newChooser(o, func(context.Context, []int) (ns, computed float64) { return 60, 0 }, func() time.Duration { return 0 })
	made := make([]int, 30)
	for n := range 90 {
		at, _, ok := c.next(context.Background())
		if !ok {
			t.Fatalf("over after %d visits", n)
		}
		made[at]++
		c.took(at, lookedAt(sets[(at/10)%3], 60, 60))
		if n == 29 && slices.Max(made) != 1 {
			t.Errorf("%v when each should have been made once", made)
		}
	}
	for i, n := range made {
		if want := []int{4, 4, 1}[i/10]; n != want {
			t.Errorf("visit %d was made %d times, want %d", i, n, want)
		}
	}
}
