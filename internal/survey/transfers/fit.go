package transfers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Fit places a new file's workers and fits its plan into memory. Arenas have setups.ArenaCaches unless the
// plan says otherwise.
func Fit(f *params.File, m *numa.Machine) error {
	p := &f.Plan
	if err := Check(p); err != nil {
		return err
	}
	places, err := placements(*p, m, -1)
	if err != nil {
		return err
	}
	f.Placements = places
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return err
	}
	p.CacheBytes, p.OwnCacheBytes, p.ArenaCaches = m.LastLevelCacheBytes(), m.OwnCacheBytes(), cmp.Or(p.ArenaCaches, setups.ArenaCaches)
	for _, place := range places {
		if other := m.OtherMemory(place); other != nil {
			f.Warn(other)
		}
		fit, arena, err := fits(*p, place, m, free)
		if err != nil {
			return err
		}
		if partly := fit.Partly(arena); partly != nil && arena > 0 {
			f.Warn(partly)
			p.ArenaCaches *= float64(arena) / float64(fit.ArenaBytes)
		}
	}
	return nil
}

// fits fits a placement's buffers into free bytes of memory, and returns the arena of each worker.
func fits(p params.Plan, place numa.Placement, m *numa.Machine, free int64) (fit setups.Fit, arena int, err error) {
	fit = room(p, place, m)
	fit.FreeBytes = free
	_, arena, err = fit.Rows([]int{(p.Sizes[len(p.Sizes)-1]-1)/fit.SegmentBytes + 1})
	return fit, arena, err
}

// FirstCPUs are the CPUs at which launches may begin a plan's placements: the first CPU of each L3
// complex of equal topology whose nodes have room for the buffers. Nil: all launches begin at the
// same CPU.
func FirstCPUs(p params.Plan, m *numa.Machine) []int {
	first := m.FirstCPUs()
	free, err := numa.FreeMemoryBytes("/")
	if len(first) < 2 || err != nil || slices.Contains(p.Policies, numa.List) {
		return nil
	}
	first = slices.DeleteFunc(first, func(start int) bool {
		places, err := placements(p, m, start)
		return err != nil || slices.ContainsFunc(places, func(place numa.Placement) bool {
			_, _, err := fits(p, place, m, free)
			return err != nil
		})
	})
	if len(first) < 2 {
		return nil
	}
	return first
}

// room is the buffers of a placement.
func room(p params.Plan, place numa.Placement, m *numa.Machine) setups.Fit {
	return setups.Fit{Segments: slices.Max(p.AllSegments()), SegmentBytes: slices.Max(p.AllSegmentBytes()),
		ArenaBytes: setups.ArenaOf(m, place, p.ArenaCaches), Placement: place, Nodes: m.Nodes, OffCache: slices.Contains(p.Caches, true)}
}

// Place is a placement of tau workers from a start, −1: the default one; for numa.List on these CPUs.
func Place(m *numa.Machine, start int, policy numa.Policy, cpus []int, tau int) (numa.Placement, error) {
	if policy == numa.List {
		return m.PlaceOn(cpus, tau)
	}
	return m.PlaceFrom(start, policy, tau)
}

// placements are the plan's placements at the largest τ.
func placements(p params.Plan, m *numa.Machine, start int) (places []numa.Placement, err error) {
	for _, policy := range p.Policies {
		placement, err := Place(m, start, policy, p.CPUs, p.Taus[len(p.Taus)-1])
		if err != nil {
			return nil, err
		}
		places = append(places, placement)
	}
	return places, nil
}

// SameMachine rejects resuming a file on another machine, or with other placements of workers.
func SameMachine(f *params.File, m *numa.Machine, here provenance.Provenance) error {
	if !f.Plan.Swept() {
		return fmt.Errorf("it was not measured by a sweep, so that there is no plan to go on with: %w", ErrUnusable)
	}
	if err := Check(&f.Plan); err != nil {
		return err
	}
	was := f.Provenance
	for _, same := range []struct{ what, was, is string }{
		{"host", was.Hostname, here.Hostname},
		{"processor", was.CPUModel, here.CPUModel},
		{"architecture", was.Arch, here.Arch},
	} {
		if same.was != same.is {
			return fmt.Errorf("its %s was %.60q, here it is %.60q: measure it anew", same.what, same.was, same.is)
		}
	}
	if was, is := was.Allowed.String(), here.Allowed.String(); was != is {
		return fmt.Errorf("it was measured on CPUs %.60s, and here it would run on %.60s: %w", was, is, ErrCPUs)
	}
	if was, is := cmp.Or(was.Reduction, "Go"), cmp.Or(here.Reduction, "Go"); was != is && !f.Plan.NoGamma {
		return fmt.Errorf("its reductions had loops in %.60s, and here they have them in %s: measure it anew", was, is)
	}
	places, err := placements(f.Plan, m, -1)
	if err != nil {
		return err
	}
	policy := func(p numa.Placement) string { return string(p.Policy) }
	if plan, had := lists.Map(places, policy), lists.Map(f.Placements, policy); !slices.Equal(plan, had) {
		return fmt.Errorf("its plan has placements %.60s, and it was measured with %.60s: put its plan back as it was, or measure it anew",
			strings.Join(plan, ","), strings.Join(had, ","))
	}
	for i, place := range places {
		if !slices.Equal(place.Workers, f.Placements[i].Workers) {
			return fmt.Errorf("placement %s puts workers elsewhere than then: measure it anew", place.Policy)
		}
	}
	return nil
}
