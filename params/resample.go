package params

import (
	"math/rand/v2"

	"github.com/taulop/taulop/fit"
)

// Drawn is how many replicates there are for Resampled to draw: sessions, or launches
// where these are too few.
func (f *File) Drawn() int {
	if n := f.Sessions(); n >= fit.LeastReplicates {
		return n
	}
	return len(f.Launches)
}

// Resampled is a bootstrap replicate of the file: its sessions drawn again, with replacement, or the
// launches of each where there are one or two. Predictions from such files differ by the uncertainty of
// predictions from this one (Davison and Hinkley, "Bootstrap Methods and their Application", section
// 3.8: of nested samples the outer ones are drawn). Launches are drawn whole, because a disturbance
// hits all cells of a launch. Centres are new; bounds of intervals remain the file's. A cell that no
// drawn launch visited stays as it is, and so does one whose samples have no known launch.
func (f *File) Resampled(random *rand.Rand) *File {
	drawn := *f
	drawn.Launches = nil
	again := make([][]int32, len(f.Launches)) // as which launches of drawn each is there
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
		switch {
		case n >= fit.LeastReplicates:
			for _, i := range launches[random.IntN(n)] {
				draw(i, session)
			}
		default:
			for range launches[session] {
				draw(launches[session][random.IntN(len(launches[session]))], session)
			}
		}
	}
	drawn.Cells = make([]Cell, len(f.Cells))
	states := drawn.Sort()
	for i, c := range f.Cells {
		var samples []Sample
		for _, s := range c.Samples {
			if s.Launch == Unlaunched {
				samples = nil
				break
			}
			for _, s.Launch = range again[s.Launch] {
				samples = append(samples, s)
			}
		}
		if len(samples) > 0 {
			c.Samples = samples
			c.Time.Center = states.center(&c)
		} else {
			c.Samples = nil
		}
		drawn.Cells[i] = c
	}
	return &drawn
}
