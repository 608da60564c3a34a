package params

import (
	"math/rand/v2"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// Drawn is the number of replicates that Resampled draws: sessions, or launches if there are too few
// sessions.
func (f *File) Drawn() int {
	if n := f.Sessions(); n >= fit.LeastReplicates {
		return n
	}
	return len(f.Launches)
}

// Resampled is a bootstrap replicate of the file: its sessions drawn with replacement, or the launches of
// each if there are one or two sessions. The spread of predictions from replicates is the uncertainty of
// predictions from the file (Davison and Hinkley, "Bootstrap Methods and their Application", section 3.8:
// of nested samples the outer ones are drawn). Launches are drawn whole, because a disturbance affects all
// cells of a launch. Centres and shares of states are recomputed, bounds of intervals remain the file's. A cell without samples
// in the drawn launches, or with samples without a known launch, keeps its time.
func (f *File) Resampled(random *rand.Rand) *File {
	drawn := *f
	drawn.Launches = nil
	again := make([][]int32, len(f.Launches)) // by launch of f: its indices in drawn
	draw := func(launch, session int) {
		l := f.Launches[launch]
		l.Session = session
		again[launch] = append(again[launch], int32(len(drawn.Launches)))
		drawn.Launches = append(drawn.Launches, l)
	}
	n := f.Sessions()
	launches := make([][]int, n) // by session
	for i, l := range f.Launches {
		launches[l.Session] = append(launches[l.Session], i)
	}
	for session := range n {
		if n >= fit.LeastReplicates {
			for _, i := range launches[random.IntN(n)] {
				draw(i, session)
			}
			continue
		}
		for range launches[session] {
			draw(launches[session][random.IntN(len(launches[session]))], session)
		}
	}
	drawn.Cells = make([]Cell, len(f.Cells))
	drawn.Watches = f.reweighed(again)
	states := drawn.Sort()
	for i, c := range f.Cells {
		samples := c.Samples
		c.Samples = nil
		for _, s := range samples {
			if s.Launch == Unlaunched {
				c.Samples = nil
				break
			}
			for _, s.Launch = range again[s.Launch] {
				c.Samples = append(c.Samples, s)
			}
		}
		if len(c.Samples) > 0 {
			c.Time.Center = states.center(&c)
		}
		drawn.Cells[i] = c
	}
	return &drawn
}

// reweighed are the watches with the states' shares in drawn launches: again has an element for each time that a
// launch was drawn.
func (f *File) reweighed(again [][]int32) []Watch {
	type counts struct{ all, drawn float64 } // looks
	watches := slices.Clone(f.Sort().watches)
	of := lists.Map(watches, func(w Watch) []counts { return make([]counts, len(w.States)) })
	for i := range f.Cells {
		for _, x := range f.Cells[i].Samples {
			if x.Watch > 0 && x.Launch != Unlaunched && len(of[x.Watch-1]) > 1 {
				n := &of[x.Watch-1][watches[x.Watch-1].At(float64(x.After), float64(x.Computed))]
				n.all++
				n.drawn += float64(len(again[x.Launch]))
			}
		}
	}
	for i := range watches {
		states, was, is := slices.Clone(watches[i].States), 0., 0.
		for j := range states {
			was += states[j].Share
			if n := of[i][j]; n.all > 0 {
				states[j].Share *= n.drawn / n.all
			}
			is += states[j].Share
		}
		if is > 0 {
			for j := range states {
				states[j].Share *= was / is
			}
			watches[i].States = states
		}
	}
	return watches
}
