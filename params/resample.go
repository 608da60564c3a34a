package params

import "math/rand/v2"

// Resampled is the file as chance could have made it: as many of its sessions drawn
// again, with replacement, or of its launches where there is one session. What predictions
// from such files differ by is what those from this one are uncertain by (the bootstrap;
// Davison and Hinkley, "Bootstrap Methods and their Application", section 3.8: of nested
// samples the outer ones are drawn). Launches of a draw keep together, for what disturbs
// one disturbs all its cells. Centres are new; the bounds of intervals are the file's still.
// A cell that no drawn launch visited stays as it is, and so do those of which nobody knows
// the launch.
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
	if n := f.Sessions(); n > 1 {
		for session := range n {
			of := random.IntN(n)
			for i := range f.Launches {
				if f.Launches[i].Session == of {
					draw(i, session)
				}
			}
		}
	} else {
		for range f.Launches {
			draw(random.IntN(len(f.Launches)), 0)
		}
	}
	drawn.Cells = make([]Cell, len(f.Cells))
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
			c.Time.Center = c.Replicates(&drawn).Center()
		} else {
			c.Samples = nil
		}
		drawn.Cells[i] = c
	}
	return &drawn
}
