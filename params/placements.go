package params

import (
	"maps"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
)

// A Channel is a level of the machine with the placement whose transfers were measured there.
type Channel struct {
	Level     int         // index of the provenance's Levels; −1: unknown
	Placement numa.Policy // of the plan
}

// Channels are the levels that placements with a selection's transfers measured, from the closest on,
// each by its first placement. Levels closer than the last-level cache count as that level. Placement
// remote has no level: it differs from local in its buffers only.
func (f *File) Channels(s Selection) (all []Channel) {
	for _, policy := range f.Policies(s) {
		c := Channel{f.levelOf(policy), policy}
		if policy != numa.Remote && !slices.ContainsFunc(all, func(o Channel) bool { return o.Level == c.Level }) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Channel) int { return a.Level - b.Level })
	return all
}

// levelOf is that of a placement's first couple of workers, who make the isolated transfers, are ping's
// first couple, and are neighbours in a ring.
func (f *File) levelOf(placement numa.Policy) int {
	i := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == placement && len(p.Workers) > 1 })
	if i < 0 {
		return -1
	}
	w := f.Placements[i].Workers
	return f.Provenance.Levels.Channel(w[0].ID, w[1].ID)
}

// A FirstCPU is a CPU at which launches began a placement, and how their times compare with
// launches that began elsewhere, where CPUs and caches are alike by topology.
type FirstCPU struct {
	CPU       int          // of the first worker
	Placement numa.Policy  // of whose transfers
	Ratio     fit.Estimate // median of Relative over the launches that began here
}

// FirstCPUs are the CPUs at which launches of the file began in turns, by placement and CPU; none
// if all began at one.
func (f *File) FirstCPUs() (all []FirstCPU) {
	if !slices.ContainsFunc(f.Launches, func(l Launch) bool { return l.FirstCPU != f.Launches[0].FirstCPU }) {
		return nil
	}
	for _, policy := range f.Plan.Policies {
		ratios := make(map[int][]float64)
		for _, l := range f.Launches {
			if v, measured := l.Relative[policy]; measured {
				ratios[l.FirstCPU] = append(ratios[l.FirstCPU], v)
			}
		}
		for _, cpu := range slices.Sorted(maps.Keys(ratios)) {
			all = append(all, FirstCPU{cpu, policy, fit.Median(ratios[cpu])})
		}
	}
	return all
}

// Relate works out each launch's Relative, if they took turns.
func (f *File) Relate() {
	type part struct {
		launch int32
		policy numa.Policy
	}
	ratios := make(map[part][]float64)
	for i := range f.Cells {
		c := &f.Cells[i]
		for _, s := range c.Samples {
			if c.Kind == TransferCell && c.Time.Center > 0 && s.Launch >= 0 {
				at := part{s.Launch, c.Placement}
				ratios[at] = append(ratios[at], s.NS/c.Time.Center)
			}
		}
	}
	for i := range f.Launches {
		f.Launches[i].Relative = nil
	}
	for at, of := range ratios {
		l := &f.Launches[at.launch]
		if l.Relative == nil {
			l.Relative = make(map[numa.Policy]float64)
		}
		l.Relative[at.policy] = round(fit.Median(of).Center, 4)
	}
}
