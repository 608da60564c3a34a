package engine

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
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
		check.Need(t, ok && at == want, "after %v: visit %d, %t; want %d", order, at, ok, want)
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
	check.Equal(t, looked, 1, "looks") // what a sample ends with is fresh
	check.True(t, slices.Equal(hints[:3], []float64{700, 5, 500}) && hints[5] == 700 && hints[6] == 1500, "hints %v", hints)
	now = 300 * time.Millisecond
	at, _, ok := c.next(context.Background())
	check.True(t, !ok, "visit %d when all is done", at)
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
	check.Slices(t, order, []int{0, 1, 2, 3}, "without looks")
}

// lookedAt is a reading of workers on these CPUs, with looks before and after it.
func lookedAt(cpus []int, before, after float64) Reading {
	return Reading{CPUs: cpus, Sample: params.Sample{Before: float32(before), After: float32(after)}}
}

// Workers with several states do not take the turns of others.
func TestTurns(t *testing.T) {
	sets, o := [][]int{{0}, {0, 1}, {2, 3}}, Order{Least: time.Hour}
	for _, cpus := range sets[:2] {
		o.Watches = append(o.Watches, params.Watch{CPUs: cpus, States: []params.State{{NS: 60}, {NS: 240, Above: 120}}})
	}
	for i := range 30 {
		o.Visits = append(o.Visits, Visit{Key: params.Key{Bytes: i}, Watch: (i/10 + 1) % 3, Have: []int{0, 0}, Hints: []float64{0, 0}})
	}
	c := newChooser(o, func(context.Context, []int) (ns, computed float64) { return 60, 0 }, func() time.Duration { return 0 })
	made := make([]int, 30)
	for n := range 90 {
		at, _, ok := c.next(context.Background())
		check.Need(t, ok, "over after %d visits", n)
		made[at]++
		c.took(at, lookedAt(sets[(at/10)%3], 60, 60))
		check.True(t, n != 29 || slices.Max(made) == 1, "%v when each should have been made once", made)
	}
	for i, n := range made {
		check.Equal(t, n, []int{4, 4, 1}[i/10], "times of visit %d", i)
	}
}

// moved is a run of 100 cells on a machine with this number of states, after a launch with visits of 10 ms.
func moved(states int, limit time.Duration) *run {
	w := params.Watch{CPUs: []int{0, 1}}
	for i := range states {
		w.States = append(w.States, params.State{NS: 60 * float64(1+3*i), Above: 120 * float64(i), Share: 1 / float64(states)})
	}
	f := &params.File{Launches: []params.Launch{{}}, Watches: []params.Watch{w}}
	x := &Experiment{File: f, Time: limit, Passes: 2 * LeastLaunches}
	for i := range 100 {
		k := params.Key{Kind: params.TransferCell, Bytes: 1 + i}
		x.Cells = append(x.Cells, Cell{Cell: params.Cell{Key: k}, Tier: i / 25})
		f.Cells = append(f.Cells, params.Cell{Key: k, Samples: []params.Sample{{NS: 100, At: 0.01 * float32(1+i)}}})
	}
	cells := lists.Map(lists.Indices(100), func(i int) state { return state{at: i} })
	return &run{Experiment: x, cells: cells, sets: 1, launch: 1, rand: rand.New(rand.NewPCG(1, 1)), began: time.Now(), worth: make(map[string]float64)}
}

func (r *run) places() []place {
	return lists.Map(lists.Indices(len(r.Cells)), func(i int) place { return place{Visit: Visit{cell: i}, tier: r.Cells[i].Tier, worth: r.worthOf(i)} })
}

// On a machine with several states launches are short and all visit the same most valuable cells. They
// visit all cells on other machines, and if there is time for all.
func TestNarrow(t *testing.T) {
	passes := 2 * LeastLaunches
	try := func(states int, limit time.Duration, cells, launches int) {
		t.Helper()
		r := moved(states, limit)
		r.Passes = passes
		first := r.narrow(r.places())
		check.Equal(t, len(first), cells, "%d states, %v: cells of the first launch", states, limit)
		check.Equal(t, r.launches, launches, "%d states, %v: launches", states, limit)
		in := lists.ToMap(first, func(p place) (int, bool) { return p.cell, true })
		for i := range cells / 25 * 25 {
			check.True(t, in[i], "%d states, %v: cell %d of tier %d is left out", states, limit, i, i/25)
		}
		r.launch++
		for _, p := range r.narrow(r.places()) {
			check.True(t, in[p.cell], "%d states, %v: the next launch visits cell %d, too", states, limit, p.cell)
		}
	}
	try(1, 30*time.Second, 100, 0)
	try(2, 13*time.Second, 50, 1+21)  // of 54 that there is time for twelve times in each state
	try(2, 30*time.Second, 100, 1+24) // all, in longer launches
	try(2, 60*time.Second, 100, 0)    // 160 would fit
	try(2, 7*time.Second, 25, 1+22)   // of 29
	try(4, 6*time.Second, 24, 1+20)   // less than a tier
	try(2, time.Second, 100, 0)       // too few launches
	passes = 3
	try(2, 13*time.Second, 100, 1+10) // there is time for 13 visits of each
	try(4, 6*time.Second, 50, 1+10)
}

// A launch that was not told of states ends when it sees several, not before its time.
func TestGlance(t *testing.T) {
	for _, of := range []struct {
		after       time.Duration
		slow, times float64 // ns, and how much longer sums take then
		ends        int     // the look at which it does, 0: never
	}{
		{time.Second, 240, 1, 128}, {time.Second, 62, 1, 0}, {time.Second, 62, 1.5, 128}, {0, 240, 1, 0}, {300 * time.Millisecond, 240, 1, 32},
	} {
		g, ended, random := glance{after: of.after, looks: make(map[int32][]params.Sample)}, 0, rand.New(rand.NewPCG(1, 1))
		for i := 1; i <= 1000 && ended == 0; i++ {
			at := i / 8 % 2
			ns := []float64{60, of.slow}[at] * (1 + 0.02*random.NormFloat64())
			r := lookedAt([]int{0, 1}, ns, ns)
			r.Computed = float32(2650 * []float64{1, of.times}[at])
			if g.ends(r, time.Duration(i)*10*time.Millisecond) {
				ended = i
			}
		}
		check.Equal(t, ended, of.ends, "%v, %g ns: ends at look", of.after, of.slow)
	}
}

// The first launch of a sweep takes a twelfth of the time, as launches of two seconds and more do, and
// where that are too few a sixth.
func TestSpared(t *testing.T) {
	for time, launches := range map[time.Duration]int{
		6 * time.Second: 6, 13 * time.Second: 6, 16 * time.Second: 8, 30 * time.Second: 12, 10 * time.Minute: 12,
	} {
		r := moved(1, time)
		r.launch = 0
		check.Equal(t, int(math.Round(float64(time)/float64(r.slice()))), launches, "%v: launches like the first, of %v", time, r.slice())
		r.Passes = 0
		check.Equal(t, math.Round(float64(time)/float64(r.slice())), LeastLaunches, "%v, every cell is needed: launches like the first, of %v", time, r.slice())
	}
}
