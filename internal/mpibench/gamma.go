package mpibench

import (
	"maps"
	"slices"
	"strings"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// TakeGamma gives a file the γ(m,τ) of an MPI library, what MPI_Reduce_local takes among τ
// ranks at once, of vectors in cache. Of each operator that was timed it stands in the place
// of all γ of the file, one element at a time or in vectors, or beside that of others. It returns these operators, and what is
// left out: sizes that were not timed with every τ.
func TakeGamma(f *params.File, times []Time) (operators []string, leftOut []Omission) {
	timed := make(map[string]loads)
	for _, t := range times {
		if t.Kind == Reduction {
			if timed[t.Operator] == nil {
				timed[t.Operator] = loads{}
			}
			timed[t.Operator].add(t.Bytes, t.P, 1e3*t.Microseconds)
		}
	}
	var placement numa.Policy = params.Published
	if len(f.Plan.Policies) > 0 {
		placement = f.Plan.Policies[0]
	}
	for _, operator := range slices.Sorted(maps.Keys(timed)) {
		all, samples := timed[operator].medians(), timed[operator]
		taus := tausOf(all)
		var cells []params.Cell
		var incomplete []int
		for _, m := range sizesOf(all) {
			if slices.ContainsFunc(taus, func(tau int) bool { return samples[load{m, tau}] == nil }) {
				incomplete = append(incomplete, m)
				continue
			}
			for _, tau := range taus {
				key := params.Key{Kind: params.GammaCell, Placement: placement, Tau: tau, Bytes: m, Operator: operator}
				cells = append(cells, params.Cell{Key: key, Time: all[load{m, tau}], Samples: params.Samples(samples[load{m, tau}]...)})
			}
		}
		if len(incomplete) > 0 {
			leftOut = append(leftOut, Omission{"Reduce_local", 0, notOfEvery(incomplete, taus)})
		}
		if len(cells) == 0 {
			continue
		}
		f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool {
			return c.Kind == params.GammaCell && strings.TrimSuffix(c.Operator, params.Scalar) == operator
		})
		f.Cells = append(f.Cells, cells...)
		operators = append(operators, operator)
	}
	return operators, leftOut
}
