package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// Where the host moves CPUs, a cell needs launches with samples in each state: as many launches
// of all cells would leave every cell without an interval. Launches are then short, many, and
// visit as many cells as they have time for, the same ones in each launch.

// share is what visiting each cell once takes of a launch; the rest is for second visits of what lacks
// samples in a state.
const share = 0.8

// enoughPasses is how often the time in the most frequent state should be enough for all cells that are
// visited: a state with half of its share has intervals then, too.
const enoughPasses = 2 * LeastLaunches

// shortest is how long such a launch takes at least; it begins with some 50 ms of memory.
const shortest = 300 * time.Millisecond

// short is how long a launch takes if the machine moves.
func (x *Experiment) short() time.Duration { return max(x.Time/mostLaunches, shortest) }

// narrows reports whether an experiment may leave cells out.
func (r *run) narrows() bool {
	return r.Narrows && r.Launches == 0 && r.Over <= r.Time && r.sets == 1 && r.parts == 0 && r.Time/shortest > LeastLaunches
}

// moves reports whether workers of the session are moved: some that exchange messages are in other
// states than their most frequent one for a settled share of the time. What one worker's core does
// is another matter.
func (x *Experiment) moves() bool {
	return slices.ContainsFunc(x.File.Watches, func(w params.Watch) bool { return w.Session == x.Session && len(w.CPUs) > 1 && parted(w) })
}

// frequent is the share of the most frequent state of the workers that have it least.
func (x *Experiment) frequent() float64 {
	least := 1.
	for _, w := range x.File.Watches {
		if w.Session == x.Session && len(w.CPUs) > 1 && parted(w) {
			least = min(least, slices.MaxFunc(w.States, func(a, b params.State) int { return cmp.Compare(a.Share, b.Share) }).Share)
		}
	}
	return least
}

// parted reports whether states leave a settled share beside the most frequent one.
func parted(w params.Watch) bool {
	shares := lists.Map(w.States, func(s params.State) float64 { return s.Share })
	return len(shares) > 1 && 1-slices.Max(shares) >= params.Settled
}

// durations are the medians of what visits of each cell take in the session, by its index in the file, and what
// one takes on average, s.
func (r *run) durations() (of map[int]float64, mean float64) {
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
	of = make(map[int]float64)
	took, all := make(map[int][]float64), 0.
	for _, in := range launches {
		slices.SortFunc(in, func(a, b visit) int { return cmp.Compare(a.at, b.at) })
		last := float32(0)
		for _, v := range in {
			took[v.cell] = append(took[v.cell], float64(v.at-last))
			last = v.at
		}
	}
	for cell, times := range took {
		of[cell] = fit.Median(times).Center
		all += of[cell]
	}
	return of, all / float64(max(len(of), 1))
}

// narrow leaves those of a launch's places that are worth most where the machine moves and there
// is no time for all in each state: whole tiers where these are most of what fits, so that sessions
// have the same cells. It looks again as long as some of these were never visited.
func (r *run) narrow(places []place) []place {
	if !r.narrows() || !r.moves() {
		return places
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(a.tier-b.tier, cmp.Compare(a.worth, b.worth))
	})
	if !r.narrowed {
		r.fits, r.narrowed = 0, true
		takes, mean := r.durations()
		short, pass := r.short().Seconds(), 0.
		var until []float64 // of a pass, by place
		for _, p := range places {
			of, known := takes[r.cells[p.at].at]
			if !known {
				of = mean
			}
			if pass += of; pass > max(share*short, r.frequent()*r.Time.Seconds()/enoughPasses) {
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

// worthOf is a cell's place, or its group's, among the cells of a tier: random, the same in all
// launches.
func (r *run) worthOf(i int) float64 {
	of := fmt.Sprint(i)
	if c := &r.Cells[i]; c.Group != "" {
		of = c.Survey + " " + c.Group
	}
	if _, known := r.worth[of]; !known {
		r.worth[of] = r.rand.Float64()
	}
	return r.worth[of]
}

// A glance is what a launch that was not told of states sees of them.
type glance struct {
	after time.Duration // the launch ends if its workers have several states; 0: never
	file  params.File   // its watches
	looks map[int32][]params.Look
	taken int
}

// ends takes in a look and reports whether the launch should end.
func (g *glance) ends(r Reading, now time.Duration) bool {
	if g.after == 0 || r.After == 0 || len(r.CPUs) < 2 {
		return false
	}
	number := g.file.Watch(0, r.CPUs)
	look := r.Look()
	look.At = now.Seconds()
	g.looks[number] = append(g.looks[number], look)
	const every = 32 // visits: it takes a millisecond
	if g.taken++; g.taken%every != 0 || now < g.after {
		return false
	}
	g.file.FindStates(0, g.looks)
	return slices.ContainsFunc(g.file.Watches, parted)
}
