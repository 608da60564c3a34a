package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A simulated machine has a given time for each cell, with its own noise in every launch.
type simulated struct {
	centers    map[int]float64 // by size
	between    float64         // launches differ by
	cost       time.Duration   // of a visit
	dies       func(launch, visit int) bool
	fails      func(launch, visit int) error
	rand       *rand.Rand
	launches   int
	orders     []Order
	conditions Conditions // that a launch was told of
	firstCPUs  []int      // by launch, where its placements begin
}

func (m *simulated) start(o Order, journal *os.File) (*Process, error) {
	launch := m.launches
	m.launches++
	m.orders = append(m.orders, o)
	factor := math.Exp(m.between * m.rand.NormFloat64())
	visit := 0
	s := samplerFunc(func(k params.Key, hint float64) (Reading, error) {
		visit++
		if m.dies != nil && m.dies(launch, visit) {
			runtime.Goexit()
		}
		if err := m.fails(launch, visit); err != nil {
			return Reading{}, err
		}
		time.Sleep(m.cost)
		sample := params.Sample{NS: m.centers[k.Bytes] * factor, Spread: 0.01, Workers: params.Workers{Fastest: 0.5, Typical: 0.75, Last: 3}}
		return Reading{Sample: sample, MHz: 3000 + float64(launch), Begun: params.Begun{Batches: 4, Late: 1}}, nil
	})
	return Within(nil, func(_ string, _ json.RawMessage, c Conditions) (Sampler, error) {
		m.conditions, m.firstCPUs = c, append(m.firstCPUs, c.FirstCPU)
		return s, nil
	})(o, journal)
}

type samplerFunc func(params.Key, float64) (Reading, error)

func (f samplerFunc) Sample(_ context.Context, k params.Key, hint float64) (Reading, error) {
	return f(k, hint)
}
func (samplerFunc) Close() {}

func experiment(n int, m *simulated) *Experiment {
	x := &Experiment{File: &params.File{}, Time: time.Minute, Start: m.start}
	for i := range n {
		x.Cells = append(x.Cells, Cell{Survey: "simulated", Cell: params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: numa.Local, Tau: 1, Bytes: i + 1}}})
		m.centers[i+1] = 100 * float64(i+1)
	}
	return x
}

func newSimulated() *simulated {
	return &simulated{rand: rand.New(rand.NewPCG(1, 2)), between: 0.02, cost: time.Millisecond, centers: make(map[int]float64),
		fails: func(int, int) error { return nil }}
}

// Placements of launches begin at given CPUs in turn, in an order that a resumed session keeps and the
// file records. Each of two sets, measured by different launches, goes through all CPUs.
func TestFirstCPUs(t *testing.T) {
	m := newSimulated()
	x := experiment(2, m)
	x.Launches, x.FirstCPUs = 7, []int{0, 8, 16}
	must.Do(x.Run(context.Background()))
	count := make(map[int]int)
	for i, first := range m.firstCPUs {
		count[first]++
		check.True(t, x.File.Launches[i].FirstCPU == first && (i < 3 || first == m.firstCPUs[i-3]),
			"launch %d began at CPU %d, the file has %d: %v", i, first, x.File.Launches[i].FirstCPU, m.firstCPUs)
	}
	check.True(t, len(count) == 3 && count[0]+count[8]+count[16] == 7, "launches began at %v", count)
	x = experiment(2, m)
	m.firstCPUs, x.Launches, x.FirstCPUs, x.Cells[1].Set = nil, 12, []int{0, 8}, 1
	must.Do(x.Run(context.Background()))
	sets := make(map[[2]int]int) // launches by set and CPU
	for set, c := range x.File.Cells {
		check.True(t, c.Time.Known() && c.Time.N == 6, "m = %d: %v", c.Bytes, c.Time)
		for _, s := range c.Samples {
			sets[[2]int{set, m.firstCPUs[s.Launch]}]++
			check.Equal(t, int(s.Launch)%2, set, "set of launch %d", s.Launch)
		}
	}
	check.True(t, len(m.firstCPUs) == 12 && sets[[2]int{0, 0}] == 3 && sets[[2]int{0, 8}] == 3 && sets[[2]int{1, 0}] == 3,
		"launches of two sets by turns began at %v", m.firstCPUs)
	x = experiment(2, m)
	m.firstCPUs, x.Launches = nil, 6
	must.Do(x.Run(context.Background()))
	check.Slices(t, m.firstCPUs, slices.Repeat([]int{-1}, 6), "first CPUs where there are none to choose from")
}

// Every launch visits every cell once, in another order, with hints of earlier launches, and the centre over launches
// is the machine's time. A launch also visits the probes at its beginning, middle and end; these are no samples.
func TestLaunches(t *testing.T) {
	m := newSimulated()
	x := experiment(20, m)
	x.Launches, x.Probes = 7, []int{3, 5}
	x.File.Provenance.Give(true)
	x.File.Provenance.Fill(true)
	must.Do(x.Run(context.Background()))
	check.True(t, m.conditions.Huge && m.conditions.Fill, "launches do not know that pages are to be huge and idle cores busy")
	check.Need(t, m.launches == 7 && len(x.File.Launches) == 7 && x.File.Complete && x.Missing() == nil,
		"%d launches, %d in the file, complete %t, %v", m.launches, len(x.File.Launches), x.File.Complete, x.Missing())
	orders := make(map[string]bool)
	for i, o := range m.orders {
		order := lists.Map(o.Visits, func(v Visit) int {
			check.Equal(t, v.Hint > 0, i > 0, "launch %d: hint %g", i, v.Hint)
			return v.Key.Bytes
		})
		orders[fmt.Sprint(order)] = true
		slices.Sort(order)
		check.Equal(t, len(slices.Compact(order)), 20, "visits of launch %d, %v", i, order)
	}
	check.Equal(t, len(orders), 7, "different orders")
	for i, l := range x.File.Launches {
		check.True(t, l.MHz[1] == 3000+float64(i) && l.Begun == (params.Begun{Batches: 104, Late: 26}) && len(l.Probe) == 6 && l.Probe[0].Bytes == 4 && l.Probe[5].Bytes == 6,
			"launch %d: %+v", i, l)
	}
	check.Equal(t, x.File.Cells[3].Samples[2].Workers, (params.Workers{Fastest: 0.5, Typical: 0.75, Last: 3}), "workers of a sample")
	for _, c := range x.File.Cells {
		launches := lists.Map(c.Samples, func(s params.Sample) int32 { return s.Launch })
		want := m.centers[c.Bytes]
		check.True(t, len(launches) == 7 && len(slices.Compact(launches)) == 7 && math.Abs(c.Time.Center/want-1) <= 0.05 && c.Time.Known() && c.Time.N == 7,
			"m = %d: %v of launches %v, want about %g", c.Bytes, c.Time, launches, want)
	}
	check.NoError(t, x.File.Validate(), "Validate")
}

// The number of launches follows from the duration of the second, and is six or more.
func TestNumberOfLaunches(t *testing.T) {
	for _, tt := range []struct {
		first, second time.Duration
		most, want    int
	}{{0, 0, 0, 30}, {time.Second, time.Second, 0, 30}, {10 * time.Second, 5 * time.Second, 0, 11}, {10 * time.Second, 8 * time.Second, 0, 7}, {12 * time.Second, 10 * time.Second, 0, 6}, {time.Minute, time.Minute, 0, 6},
		{0, 0, 300, 300}, {time.Second, time.Second, 300, 45}, {time.Minute, time.Minute, 300, 6}} {
		r := run{Experiment: &Experiment{Time: time.Minute, Most: tt.most}, sets: 1, first: tt.first}
		r.plan(tt.first + tt.second)
		check.Equal(t, r.launches, tt.want, "%v and %v: launches", tt.first, tt.second)
	}
}

// Missing counts missing cells, and mentions no zero.
func TestMissing(t *testing.T) {
	try := func(few, unreached int, want string) {
		t.Helper()
		x := experiment(5, newSimulated())
		for i := range x.Cells[unreached:] {
			c := x.Cells[i].Cell
			c.Samples = params.Samples(1, 1, 1, 1, 1, 1)
			if i < few {
				c.Samples = c.Samples[:2]
			}
			c.Time = fit.Median(c.Values())
			x.File.Cells = append(x.File.Cells, c)
		}
		check.Equal(t, fmt.Sprint(x.Missing()), want, "missing")
	}
	try(0, 2, "of 5 cells 2 were not reached")
	try(2, 0, "of 5 cells 2 have too few launches for an interval")
	try(1, 1, "of 5 cells 1 was not reached, and 1 has too few launches for an interval")
}

// If the time is short, cells of lower tiers get intervals, instead of a sample for every cell.
func TestShortTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newSimulated()
		m.cost = 20 * time.Millisecond
		x := experiment(100, m)
		for i := range x.Cells {
			x.Cells[i].Tier = i / 20
		}
		x.Time = 5 * time.Second // of 2 s a launch that visits all
		x.Probes = []int{0}
		x.Report = func(p Progress) {
			check.True(t, p.Cells == 100 && p.Visited <= len(x.File.Cells), "%d of %d cells visited, and the file has %d", p.Visited, p.Cells, len(x.File.Cells))
		}
		must.Do(x.Run(context.Background()))
		known := make(map[int]int)
		for _, c := range x.File.Cells {
			if c.Time.Known() {
				known[(c.Bytes-1)/20]++
			}
		}
		check.True(t, known[0] == 20 && known[4] == 0 && !x.File.Complete, "cells with intervals by tier: %v, complete %t", known, x.File.Complete)
		lacking, _ := x.Lacking()
		unvisited := 100 - len(x.File.Cells)
		want := fmt.Sprintf("of 100 cells %d were not reached, and %d have too few launches for an interval", unvisited, len(lacking)-unvisited)
		check.True(t, x.Missing() != nil && x.Missing().Error() == want, "%v, want %s", x.Missing(), want)
	})
}

// With Over, short launches are spread over the whole time.
func TestSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := experiment(2, newSimulated())
		x.Time, x.Launches = 900*time.Millisecond, LeastLaunches
		x.Over = x.Time
		must.Do(x.Run(context.Background()))
		began := func(i int) time.Time { return must.Get(time.Parse(time.RFC3339Nano, x.File.Launches[i].Began)) }
		n := len(x.File.Launches)
		check.True(t, n == LeastLaunches && began(n-1).Sub(began(0)) >= x.Time/2, "%d launches, the last %v after the first", n, began(n-1).Sub(began(0)))
	})
}

// Cells of a group follow each other, and groups come in random order.
func TestGroups(t *testing.T) {
	m := newSimulated()
	x := experiment(40, m)
	for i := range x.Cells {
		if i%2 == 0 {
			x.Cells[i].Group = fmt.Sprint(i / 10)
		}
	}
	r := must.Get(newRun(x))
	r.launch = 1 // the first is in the order of worth
	first := make(map[string]bool)
	for range 200 {
		seen, last := make(map[string]bool), ""
		for i, v := range r.order() {
			group := x.Cells[v.cell].Group
			if i == 0 {
				first[group] = true
			}
			check.Need(t, group == last || group == "" || !seen[group], "group %s is left and entered again", group)
			seen[group], last = true, group
		}
	}
	check.AtLeast(t, len(first), 3, "groups with which orders begin: %v", first)
}

// A killed launch costs the visit during which it died, and no other.
func TestLaunchDies(t *testing.T) {
	m := newSimulated()
	m.dies = func(launch, visit int) bool { return launch == 2 && visit == 8 }
	x := experiment(20, m)
	x.Launches = 6
	must.Do(x.Run(context.Background()))
	samples := lists.Sum(x.File.Cells, func(c params.Cell) int { return len(c.Samples) })
	check.True(t, samples == 6*20-1 && m.launches == 7 && len(x.File.Warnings) == 1 && strings.Contains(x.File.Warnings[0], "a launch died while it visited copy"),
		"%d samples of %d launches, warnings %q", samples, m.launches, x.File.Warnings)
	check.True(t, x.File.Launches[2].Died && !x.File.Launches[3].Died, "%+v", x.File.Launches)
}

// An experiment ends with an error if launches die without a result, or if a visit fails.
func TestGivesUp(t *testing.T) {
	m := newSimulated()
	x := experiment(20, m)
	died := running(func() error { return errors.New("exit status 2") }, nil)
	x.Start = func(Order, *os.File) (*Process, error) { return died, nil }
	check.Equal(t, fmt.Sprint(x.Run(context.Background())), "3 launches in a row died without a result, the last with: it ended before it was done: exit status 2", "error")
	m.fails = func(launch, visit int) error {
		if launch == 1 && visit == 3 {
			return errors.New("the wrong bytes arrived")
		}
		return nil
	}
	x = experiment(20, m)
	contains.Error(t, x.Run(context.Background()), "the wrong bytes arrived", "copy")
	check.Equal(t, len(x.File.Cells), 20, "cells are kept")
}

// Results until ctx ends are kept.
func TestCancel(t *testing.T) {
	m := newSimulated()
	x := experiment(1000, m)
	x.Time = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m.fails = func(_, visit int) error {
		if visit == 11 {
			cancel()
		}
		return nil
	}
	check.ErrorIs(t, x.Run(ctx), context.Canceled, "Run")
	n := len(x.File.Cells)
	check.True(t, m.launches == 1 && n >= 10 && n != 1000, "%d cells of %d launches", n, m.launches)
}

// A resumed session gets the launches that it lacks, and none if it lacks none.
func TestResume(t *testing.T) {
	m := newSimulated()
	x := experiment(20, m)
	x.Launches = 4
	must.Do(x.Run(context.Background()))
	for _, want := range []int{2, 0} {
		again := experiment(20, m)
		again.File, m.launches = x.File, 0
		must.Do(again.Run(context.Background()))
		check.True(t, m.launches == want && x.File.Complete && len(x.File.Launches) == 6,
			"%d launches, %d in the file, want %d", m.launches, len(x.File.Launches), want)
	}
	// Another session has launches of its own.
	again := experiment(20, m)
	again.File, again.Session, again.Launches, m.launches = x.File, 1, 6, 0
	must.Do(again.Run(context.Background()))
	e := x.File.Cells[0].Time
	check.True(t, m.launches == 6 && x.File.Sessions() == 2 && e.Sessions == 2 && e.N == 12, "%d launches, %d sessions, %+v", m.launches, x.File.Sessions(), e)
}

// Results in the journal of a killed parent are recovered once.
func TestRecover(t *testing.T) {
	m := newSimulated()
	x := experiment(20, m)
	x.Launches = 3
	x.Journal = must.Get(os.OpenFile(t.TempDir()+"/journal", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600))
	defer x.Journal.Close()
	var saved params.File
	again := experiment(20, m)
	again.File = &saved
	x.Save = func(f *params.File) error { // as it was in the middle
		if len(f.Launches) == 3 && saved.Cells == nil {
			saved = *f
			saved.Launches = slices.Clone(f.Launches[:2])
			for _, c := range f.Cells {
				c.Samples = slices.Clone(c.Samples[:min(2, len(c.Samples))])
				saved.Cells = append(saved.Cells, c)
			}
		}
		return nil
	}
	must.Do(x.Run(context.Background()))
	check.Equal(t, must.Get(again.recover(x.Journal)), 20, "samples are recovered")
	check.Equal(t, must.Get(again.recover(x.Journal)), 0, "samples are recovered again")
	check.Equal(t, len(saved.Launches), 3, "number of launches")
	check.Equal(t, len(saved.Cells[7].Samples), 3, "number of samples")
}

// Of many like cells, every launch visits a few, and the others are visited once: each group as a whole
// in one of the six launches after the first, with the hint of a like cell. Doubtful cells, and no
// others, are visited until they have an interval. A complete file is not measured again.
func TestOnce(t *testing.T) {
	m := newSimulated()
	m.cost = 0
	x := experiment(120, m)
	for i := range x.Cells {
		c := &x.Cells[i]
		c.Like, c.Group, c.Once = "all", fmt.Sprint(i/2), i >= 10
	}
	m.centers[77] *= 3
	x.Doubtful = func(cells []params.Cell) (keys []params.Key) {
		check.Equal(t, len(cells), 120, "cells asked of")
		for _, c := range cells {
			if c.Bytes == 77 && c.Time.Center > 0 {
				keys = append(keys, c.Key)
			}
		}
		return keys
	}
	must.Do(x.Run(context.Background()))
	check.True(t, x.File.Complete && x.Missing() == nil, "complete %t, %v", x.File.Complete, x.Missing())
	launches := len(x.File.Launches)
	in := make(map[int]int) // launches by the group that they visit
	for _, c := range x.File.Cells {
		want := 1
		switch {
		case c.Bytes <= 10:
			want = launches
		case c.Bytes == 77:
			want = len(c.Samples)
			check.AtLeast(t, want, LeastLaunches, "samples of the doubtful cell")
		}
		check.Equal(t, len(c.Samples), want, "samples of cell %d", c.Bytes)
		if launch := int(c.Samples[0].Launch); c.Bytes > 10 {
			first, known := in[(c.Bytes-1)/2]
			check.True(t, (!known || first == launch) && launch >= 1 && launch <= LeastLaunches,
				"cell %d is of launch %d, its group of launch %d", c.Bytes, launch, first)
			in[(c.Bytes-1)/2] = launch
		}
	}
	for _, o := range m.orders[1:] {
		for _, v := range o.Visits {
			check.True(t, v.Hint != 0, "%v without a hint", v.Key)
		}
	}
	check.AtLeast(t, launches, 1+LeastLaunches+LeastLaunches-1, "launches")
	again := &Experiment{File: x.File, Time: time.Minute, Start: m.start, Cells: x.Cells, Doubtful: x.Doubtful}
	must.Do(again.Run(context.Background()))
	check.True(t, len(x.File.Launches) == launches && again.Missing() == nil, "%d launches, %v", len(x.File.Launches), again.Missing())
}

// A hint below any possible time, as of a damaged file, counts as none.
func TestImpossibleHint(t *testing.T) {
	var got float64
	s := &service{samplers: map[string]Sampler{"s": On(nil, func(_ context.Context, _ *Bench, _ params.Key, hint float64) (Reading, error) {
		got = hint
		return Reading{}, nil
	})}}
	for _, tt := range []struct {
		bytes      int
		hint, want float64
	}{{0, 1e-4, 0}, {0, 20, 20}, {8192, 8, 0}, {8192, 300, 300}, {1 << 24, 1, 0}} {
		must.Get(s.sample(context.Background(), Visit{Survey: "s", Key: params.Key{Bytes: tt.bytes}}, tt.hint))
		check.Equal(t, got, tt.want, "%d bytes: what a hint of %g ns becomes", tt.bytes, tt.hint)
	}
}
