package sweep

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/taulop/taulop/access"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/pairs"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// pairsOf measures transfers between every two cores.
func pairsOf(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
	survey := pairs.Survey{Machine: m, CPUs: m.CoreCPUs(), Sizes: []int{0, pairs.SegmentBytes}, Time: budget, Width: p.Width, Have: have}
	all := pairs.Count(len(survey.CPUs)) * len(survey.Sizes)
	if all == 0 {
		return 0, []error{fmt.Errorf("there are no pairs to measure: this process may use one core")}, nil
	}
	cells, warnings, err := survey.Run(ctx)
	return all - intervals(cells), warnings, cmp.Or(err, give(cells, add))
}

// accesses measures passes over arrays, on the first worker of the placement local.
func accesses(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
	plan := access.Plan{Passes: access.Grid(access.Operations, access.Types, access.DefaultN, access.DefaultStrides),
		Caches: p.Caches, Width: p.Width, Time: budget, Have: have}
	all := len(plan.Passes) * len(plan.Caches)
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
	return all - intervals(cells), append(warnings, more...), cmp.Or(err, give(cells, add))
}

// intervals counts the cells that have one.
func intervals(cells []params.Cell) (n int) {
	for _, c := range cells {
		if c.Time.Known() {
			n++
		}
	}
	return n
}

func give(cells []params.Cell, add func(params.Cell) error) error {
	for _, c := range cells {
		if err := add(c); err != nil {
			return err
		}
	}
	return nil
}
