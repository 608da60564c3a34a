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

// shortest is how long such a launch takes at least; it begins with some 50 ms of memory.
const shortest = time.Second

// short is how long a launch takes if the machine moves.
func (x *Experiment) short() time.Duration { return max(x.Time/mostLaunches, shortest) }

// narrows reports whether an experiment may leave cells out.
func (r *run) narrows() bool {
	return r.Narrows && r.Launches == 0 && r.Over <= r.Time && r.sets == 1 && r.parts == 0 && r.Time/shortest > LeastLaunches
}

// settled is how many states the workers of the session have that have the most, without rare
// ones.
func (x *Experiment) settled() (most int) {
	for _, w := range x.File.Watches {
		if w.Session == x.Session {
			most = max(most, len(lists.Filter(w.States, func(s params.State) bool { return s.Share >= params.Settled })))
		}
	}
	return most
}

// moves reports whether the session's workers have several settled states.
func (x *Experiment) moves() bool { return x.settled() > 1 }

// pace is what a visit of the session takes on average.
func (r *run) pace() time.Duration {
	until, visits := make(map[int32]float64), 0
	for i := range r.File.Cells {
		for _, s := range r.File.Cells[i].Samples {
			if r.File.Launches[s.Launch].Session == r.Session {
				until[s.Launch] = max(until[s.Launch], float64(s.At))
				visits++
			}
		}
	}
	seconds := 0.
	for _, at := range until {
		seconds += at
	}
	return time.Duration(seconds / float64(max(visits, 1)) * float64(time.Second))
}

// narrow leaves the first of a launch's places, by worth, where the machine moves and there is
// no time for all.
func (r *run) narrow(places []place) []place {
	if !r.narrows() || !r.moves() {
		return places
	}
	if r.fits == 0 {
		// A fifth of the time is for second visits of what lacks samples in a state.
		fits := max(len(r.Probes), int(0.8*float64(r.short())/float64(max(r.pace(), time.Microsecond))))
		if fits >= len(places) {
			return places
		}
		r.fits = fits
		left := r.Time - time.Since(r.began)
		r.launches = r.launch + max(1, int(math.Round(float64(left)/float64(r.short()))))
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(a.tier-b.tier, cmp.Compare(a.worth, b.worth))
	})
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
	seen  map[string][]float64
	taken int
}

// ends takes in a look and reports whether the launch should end.
func (g *glance) ends(r Reading, now time.Duration) bool {
	if g.after == 0 || r.Bracket.After == 0 {
		return false
	}
	cpus := fmt.Sprint(r.CPUs)
	g.seen[cpus] = append(g.seen[cpus], r.Bracket.Before, r.Bracket.After)
	const every = 32 // visits: it takes a millisecond
	if g.taken++; g.taken%every != 0 || now < g.after {
		return false
	}
	for _, of := range g.seen {
		if settled := lists.Filter(fit.Modes(of), func(m fit.Mode) bool { return m.Share >= params.Settled }); len(settled) > 1 {
			return true
		}
	}
	return false
}
