package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/taulop/taulop/access"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/pairs"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// pairsOf measures transfers between every two cores. They begin anew each time, so
// what is there with its intervals is not measured again.
func pairsOf(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
	survey := pairs.Survey{Machine: m, CPUs: m.CoreCPUs(), Sizes: []int{0, pairs.SegmentBytes}, Time: budget, Width: p.Width}
	all := pairs.Count(len(survey.CPUs)) * len(survey.Sizes)
	if all == 0 {
		return 0, []error{fmt.Errorf("there are no pairs to measure: this process may use one core")}, nil
	}
	before := known(have, params.PairCell)
	if len(before) == all {
		return 0, nil, nil
	}
	cells, warnings, err := survey.Run(ctx)
	return all - intervals(before, cells), warnings, first(err, give(before, cells, add))
}

// accesses measures passes over arrays, on the first worker of the placement local.
func accesses(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
	plan := access.Plan{Passes: access.Grid(access.Operations, access.Types, access.DefaultN, access.DefaultStrides),
		Caches: p.Caches, Width: p.Width, Time: budget}
	all := len(plan.Passes) * len(plan.Caches)
	before := known(have, params.AccessCell)
	if len(before) == all {
		return 0, nil, nil
	}
	place, err := m.Place(numa.Local, 1)
	if err != nil {
		return all, nil, err
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return all, nil, err
	}
	var warnings []error
	if plan.ArenaBytes, warnings, err = access.Arena(m, place, plan.Passes, plan.Caches, free); err != nil {
		return all, nil, err
	}
	team, err := setups.NewTeam(place)
	if err != nil {
		return all, warnings, err
	}
	defer team.Close()
	cells, more, err := access.Measure(ctx, team, plan, nil)
	return all - intervals(before, cells), append(warnings, more...), first(err, give(before, cells, add))
}

// known are the cells of a kind that have an interval.
func known(cells []params.Cell, kind params.Kind) map[params.Key]bool {
	found := make(map[params.Key]bool)
	for _, c := range cells {
		if c.Kind == kind && c.Time.Known() {
			found[c.Key] = true
		}
	}
	return found
}

// intervals counts the cells that have an interval now, before or among the new ones.
func intervals(before map[params.Key]bool, cells []params.Cell) (n int) {
	n = len(before)
	for _, c := range cells {
		if c.Time.Known() && !before[c.Key] {
			n++
		}
	}
	return n
}

// give adds the cells that were not there before.
func give(before map[params.Key]bool, cells []params.Cell, add func(params.Cell) error) error {
	for _, c := range cells {
		if before[c.Key] {
			continue
		}
		if err := add(c); err != nil {
			return err
		}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
