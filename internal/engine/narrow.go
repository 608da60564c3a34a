package engine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// On a machine with several states, where the host moves CPUs, a cell needs launches with samples in each
// state, and launches of all cells would leave every cell without an interval. Launches are then short
// and many, and visit as many cells as they have time for, the same cells in each launch.

// share is the part of a launch for one visit of each cell; the rest is for second visits of cells that
// lack samples in a state.
const share = 0.8

// shortest bounds the time of such a launch, which begins with some 50 ms of memory.
const shortest = 300 * time.Millisecond

// short is the time of a launch on a machine with several states.
func (x *Experiment) short() time.Duration { return max(x.Time/mostLaunches, shortest) }

// narrows reports whether an experiment may leave cells out.
func (r *run) narrows() bool {
	return r.Passes > 0 && r.Launches == 0 && r.Over <= r.Time && r.sets == 1 && r.parts == 0 && r.Time/shortest > LeastLaunches
}

// moves reports whether the session's workers have several states: two or more workers spend a settled
// share of the time outside their most frequent state. States of a single worker do not count.
func (x *Experiment) moves() bool { return len(x.moving()) > 0 }

// moving are the watches of these workers.
func (x *Experiment) moving() []params.Watch {
	return lists.Filter(x.File.Watches, func(w params.Watch) bool { return w.Session == x.Session && len(w.CPUs) > 1 && parted(w) })
}

// frequent is the share of workers' most frequent state, the least over all workers.
func (x *Experiment) frequent() float64 {
	least := 1.
	for _, w := range x.moving() {
		least = min(least, lists.Most(w.States, func(s params.State) float64 { return s.Share }))
	}
	return least
}

// parted reports whether the states beside the most frequent one have a settled share.
func parted(w params.Watch) bool {
	shares := lists.Map(w.States, func(s params.State) float64 { return s.Share })
	return len(shares) > 1 && 1-slices.Max(shares) >= params.Settled
}

// durations are the median times of each cell's visits in the session, by its index in the file, and
// their mean, in s. The first visit does not count if there are others: it lacks a hint and takes longer.
func (r *run) durations() (medians map[int]float64, mean float64) {
	type visit struct {
		at   float32
		cell int
	}
	launches := make(map[int32][]visit)
	for i := range r.File.Cells {
		for _, s := range r.File.Cells[i].Samples {
			if s.Launch != params.Unlaunched && r.File.Launches[s.Launch].Session == r.Session {
				launches[s.Launch] = append(launches[s.Launch], visit{s.At, i})
			}
		}
	}
	medians = make(map[int]float64)
	took, all := make(map[int][]float64), 0.
	for _, launch := range slices.Sorted(maps.Keys(launches)) {
		in := launches[launch]
		slices.SortFunc(in, func(a, b visit) int { return cmp.Compare(a.at, b.at) })
		last := float32(0)
		for _, v := range in {
			took[v.cell] = append(took[v.cell], float64(v.at-last))
			last = v.at
		}
	}
	for cell, times := range took {
		medians[cell] = fit.Median(times[min(1, len(times)-1):]).Center
		all += medians[cell]
	}
	return medians, all / float64(max(len(medians), 1))
}

// narrow keeps the most valuable of a launch's places if the machine has several states and there is no
// time for all places in each: whole tiers if they are most of what fits, so that sessions have the same
// cells. It decides again until the times of these with hints are known.
func (r *run) narrow(places []place) []place {
	if !r.narrows() || !r.moves() {
		return places
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(a.tier-b.tier, cmp.Compare(a.worth, b.worth)) })
	if !r.narrowed {
		r.fits, r.narrowed = 0, r.launch > 1 // visits of the first launch lacked hints
		takes, mean := r.durations()
		short, pass := r.short().Seconds(), 0.
		var until []float64 // of a pass, by place
		for _, p := range places {
			seconds, known := takes[r.cells[p.cell].at]
			if !known {
				seconds = mean
			}
			if pass += seconds; pass > max(share*short, r.frequent()*r.Time.Seconds()/float64(r.Passes)) {
				break
			}
			until = append(until, pass)
			r.narrowed = r.narrowed && known
		}
		n := len(until)
		if n == len(places) && pass <= share*short {
			return places
		}
		if whole := slices.IndexFunc(places, func(p place) bool { return n < len(places) && p.tier == places[n].tier }); whole > n/2 {
			n = whole
		}
		launch := short
		if r.fits = max(n, 1); n > 0 {
			launch = max(short, until[n-1]/share)
		}
		r.launches = r.launch + max(1, int(math.Round((r.Time-time.Since(r.began)).Seconds()/launch)))
	}
	if r.fits == 0 {
		return places
	}
	return places[:min(r.fits, len(places))]
}

// worthOf is the rank of a cell, or of its group, within a tier: random, the same in all launches.
func (r *run) worthOf(i int) float64 {
	name := fmt.Sprint(i)
	if c := &r.Cells[i]; c.Group != "" {
		name = c.Survey + " " + c.Group
	}
	if _, known := r.worth[name]; !known {
		r.worth[name] = r.rand.Float64()
	}
	return r.worth[name]
}

// A glance detects states in a launch whose order has none.
type glance struct {
	after time.Duration // Order.Glance
	file  params.File   // its watches
	looks map[int32][]params.Sample
	taken int
}

// ends records a reading's look and reports whether the launch should end.
func (g *glance) ends(r Reading, now time.Duration) bool {
	if g.after == 0 || r.After == 0 || len(r.CPUs) < 2 {
		return false
	}
	number := g.file.Watch(0, r.CPUs)
	r.At = float32(now.Seconds())
	g.looks[number] = append(g.looks[number], r.Sample)
	const every = 32 // visits: it takes a millisecond
	if g.taken++; g.taken%every != 0 || now < g.after {
		return false
	}
	g.file.FindStates(0, g.looks)
	return slices.ContainsFunc(g.file.Watches, parted)
}
