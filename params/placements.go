package params

import (
	"maps"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

// A Channel is a level of the machine and the placement that measured transfers there.
type Channel struct {
	Level     int         // index of the provenance's Levels; −1: unknown
	Placement numa.Policy // of the plan
}

// Channels are the levels with a selection's transfers, the closest first, each with the first placement
// that measured it. Levels closer than the last-level cache count as that level. Placement remote has no
// level: it differs from local in its buffers only.
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

// levelOf is the level of a placement's first two workers, which make the isolated transfers and are
// neighbours in ping and ring.
func (f *File) levelOf(placement numa.Policy) int {
	p := lists.Find(f.Placements, func(p numa.Placement) bool { return p.Policy == placement && len(p.Workers) > 1 })
	if p == nil {
		return -1
	}
	return f.Provenance.Levels.Channel(p.Workers[0].ID, p.Workers[1].ID)
}

// A FirstCPU compares launches by the CPU at which their placements began, among CPUs that are alike by
// topology.
type FirstCPU struct {
	CPU       int          // of the first worker
	Placement numa.Policy  // of the transfers
	Ratio     fit.Estimate // median of Launch.Relative over the launches that began here
}

// FirstCPUs are the CPUs of the launches' first workers, by placement and CPU; none if all launches began
// at the same CPU.
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

// Relate sets each launch's Relative.
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
	for at, all := range ratios {
		l := &f.Launches[at.launch]
		if l.Relative == nil {
			l.Relative = make(map[numa.Policy]float64)
		}
		l.Relative[at.policy] = round(fit.Median(all).Center, 4)
	}
}
