package plan

import (
	"context"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/parallel"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
)

// Predict makes the cells of collectives among ps ranks with messages of ms bytes: the library's own
// choice, and all settings predicted to take less than twice as long as the cheapest; with all also the
// others, without predictions. It fails if a model cannot cost a setting.
func Predict(ctx context.Context, by *model.Predictor, library *mpi.Library, collectives []*collective.Collective, ps, ms []int, all bool, progress func(done, of int)) (cells []Cell, err error) {
	for _, c := range collectives {
		for _, p := range ps {
			for _, m := range sizesOf(c, ms) {
				if p > 1 {
					cells = append(cells, Cell{Collective: c.Name, P: p, Bytes: m})
				}
			}
		}
	}
	work := predicting{by, library, all}
	err = parallel.Each(ctx, len(cells), progress, func(_ context.Context, i int) error { return work.fill(&cells[i]) })
	return cells, err
}

// element is the size of the elements of timed reductions, in bytes.
const element = 8

// sizesOf are the possible sizes of a collective.
func sizesOf(c *collective.Collective, ms []int) []int {
	if c.Empty() {
		return []int{0}
	}
	return slices.DeleteFunc(slices.Clone(ms), func(m int) bool { return m < 1 || c.Reduces && m%element > 0 })
}

type predicting struct {
	*model.Predictor
	library *mpi.Library
	all     bool
}

func (w predicting) fill(c *Cell) error {
	of := collective.Named(c.Collective)
	most := math.Inf(1)
	cost := func(s mpi.Setting) (seconds float64, err error) {
		laid, err := w.library.Schedule(of, s, collective.Call{P: c.P, M: c.Bytes})
		if err != nil {
			return 0, err
		}
		cost, err := tune.Within(w.Predictor, laid, most)
		if err != nil || cost.Unknown || !(cost.Seconds > 0) || math.IsInf(cost.Seconds, 1) {
			return 0, err
		}
		most = min(most, cost.Seconds*math.Exp(far*sigma))
		return cost.Seconds, nil
	}
	c.Options = []Option{{}}
	nodes, _ := w.Nodes(c.P)
	own, known := w.library.Own(of, c.P, nodes, c.Bytes)
	if known {
		c.Options[0].Seconds, _ = cost(own) // its parameters may be unknown
	}
	settings := slices.DeleteFunc(w.library.Settings(of, c.P, c.Bytes), func(s mpi.Setting) bool { return known && s == own })
	slices.SortStableFunc(settings, func(a, b mpi.Setting) int { // what has few segments is costed soon
		return chunks(a, c.Bytes) - chunks(b, c.Bytes)
	})
	for _, s := range settings {
		seconds, err := cost(s)
		if err != nil {
			return err
		}
		if seconds > 0 || w.all {
			c.Options = append(c.Options, Option{s, seconds})
		}
	}
	c.Options = slices.DeleteFunc(c.Options, func(o Option) bool { return !o.Setting.Own() && o.Seconds > most && !w.all })
	return nil
}

func chunks(s mpi.Setting, m int) int {
	if s.Segment == 0 {
		return 1
	}
	return 1 + m/s.Segment
}
