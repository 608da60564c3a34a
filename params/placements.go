package params

import (
	"cmp"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
)

// A Channel is a level of the machine with the placement whose transfers were measured
// there.
type Channel struct {
	Level     int         // index of the provenance's Levels; −1: nobody knows
	Name      string      // of the level, empty if unknown
	Placement numa.Policy // of the plan
}

// Channels are the levels that placements of the plan measured, from the closest on, of
// each level the first placement. Levels closer than the last-level cache count as that.
// Placement remote is of none: its workers are where those of local are, and only their
// buffers elsewhere.
func (f *File) Channels() (all []Channel) {
	for _, policy := range f.Plan.Policies {
		c := f.ChannelOf(policy)
		if policy != numa.Remote && !slices.ContainsFunc(all, func(o Channel) bool { return o.Level == c.Level }) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Channel) int { return a.Level - b.Level })
	return all
}

// ChannelOf is the level of a placement: that of its first couple of workers, which are
// at once the isolated transfers, the first of ping's couples and neighbours of a ring.
func (f *File) ChannelOf(placement numa.Policy) Channel {
	c := Channel{Level: -1, Placement: placement}
	i := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == placement && len(p.Workers) > 1 })
	if i < 0 {
		return c
	}
	levels, w := f.Provenance.Levels, f.Placements[i].Workers
	if c.Level = levels.Channel(w[0].ID, w[1].ID); c.Level >= 0 {
		c.Name = levels[c.Level].Name
	}
	return c
}

// Between is the channel of messages between two CPUs: the one that was measured at
// their level, else at the next level beyond, else at the farthest. It is none, with an
// empty placement, where the file does not say what CPUs share.
func (f *File) Between(a, b int) Channel {
	level := f.Provenance.Levels.Channel(a, b)
	if level < 0 {
		return Channel{Level: -1}
	}
	all := slices.DeleteFunc(f.Channels(), func(c Channel) bool { return c.Level < 0 })
	if len(all) == 0 {
		return Channel{Level: -1}
	}
	if i := slices.IndexFunc(all, func(c Channel) bool { return c.Level >= level }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

// A Start is where launches began: how its times compare with those of others, which
// are alike by topology.
type Start struct {
	CPU       int         `json:"first_cpu"` // of the first worker
	Placement numa.Policy `json:"placement"`
	// Ratio is a launch's times to their cells' centres, the median over its transfers;
	// of all launches that began here, see fit.Median.
	Ratio fit.Estimate `json:"ratio"`
}

// Starts are those that launches of the file took turns at, by placement and CPU; none
// if all began at one.
func (f *File) Starts() (all []Start) {
	type launch struct {
		placement numa.Policy
		number    int32
	}
	ratios := make(map[launch][]float64)
	for i := range f.Cells {
		c := &f.Cells[i]
		for _, s := range c.Samples {
			if c.Kind == TransferCell && c.Time.Center > 0 && s.Launch >= 0 && int(s.Launch) < len(f.Launches) {
				at := launch{c.Placement, s.Launch}
				ratios[at] = append(ratios[at], s.NS/c.Time.Center)
			}
		}
	}
	type start struct {
		placement numa.Policy
		cpu       int
	}
	launches := make(map[start][]float64)
	cpus := make(map[int]bool)
	for at, of := range ratios {
		s := start{at.placement, f.Launches[at.number].First}
		launches[s] = append(launches[s], fit.Median(of).Center)
		cpus[s.cpu] = true
	}
	if len(cpus) < 2 {
		return nil
	}
	for at, of := range launches {
		all = append(all, Start{at.cpu, at.placement, fit.Median(of)})
	}
	slices.SortFunc(all, func(a, b Start) int {
		return cmp.Or(slices.Index(f.Plan.Policies, a.Placement)-slices.Index(f.Plan.Policies, b.Placement), a.CPU-b.CPU)
	})
	return all
}
