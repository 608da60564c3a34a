package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/parallel"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
)

// A Chooser chooses the settings with the least predicted costs.
type Chooser struct {
	Library   *mpi.Library
	Predictor *model.Predictor
	Ensemble  *model.Ensemble     // uncertainty of predictions; nil: unknown
	Margin    float64             // the least gain of a rule, a share
	Progress  func(done, all int) // called after each row, one call at a time; may be nil
}

// alike is the share by which costs must differ to be told apart.
const alike = 0.02

// Choose chooses among settings for messages of m bytes among p ranks. Of the settings within alike of
// the least cost it prefers the one before, then the first. It fails where a setting has no cost.
func (c *Chooser) Choose(of *collective.Collective, settings []mpi.Setting, p, m int, before mpi.Setting) (Verdict, error) {
	if len(settings) == 0 {
		return Verdict{Why: None}, nil
	}
	v, beaten := Verdict{}, candidate{}
	costs := costs{Chooser: c, known: make(map[collective.Key]model.Cost), limit: math.Inf(1)}
	if own, known := c.own(of, p, m); known {
		if chosen, err := costs.of(of, own, p, m); err == nil {
			beaten, v.OwnKnown = chosen, true
			costs.limit = chosen.Seconds * (1 + alike)
		}
	}
	candidates := make([]candidate, len(settings))
	for _, i := range promising(settings, before) {
		var err error
		if candidates[i], err = costs.of(of, settings[i], p, m); err != nil {
			return Verdict{}, err
		}
		if v.OwnKnown {
			costs.limit = min(costs.limit, candidates[i].Seconds*(1+alike))
		}
	}
	best, found := cheapest(candidates, before)
	if !found {
		best = beaten
	}
	v.Best, v.BestSeconds = best.setting, best.Seconds
	if !v.OwnKnown {
		beaten = second(candidates, best)
	}
	v.Beaten, v.BeatenSeconds = beaten.setting, beaten.Seconds
	if beaten.schedule == nil {
		v.Why = None
		return v, nil
	}
	if slices.ContainsFunc(append(candidates, beaten), func(c candidate) bool { return c.Unknown }) {
		v.Why = Unproved
		return v, nil
	}
	v.Gain = fit.Unbounded(1 - best.Seconds/beaten.Seconds)
	v.Most = v.Gain.Center
	switch {
	case !(v.Gain.Center > 0): // NaN of two costs of 0
		v.Best, v.BestSeconds, v.Gain, v.Most, v.Why = beaten.setting, beaten.Seconds, fit.Estimate{}, 0, Little
	case v.Gain.Center <= max(c.Margin, best.Spread, beaten.Spread):
		v.Why = Little
	default:
		v.Gain = c.interval(best, beaten)
		switch {
		case v.Gain.Known() && v.Gain.Lo <= 0:
			v.Why = Overlap
		case !v.Gain.Known() && c.Ensemble != nil && c.Ensemble.Known(): // other costs have intervals
			v.Why = Few
		default:
			v.Setting, v.Why = best.setting, Cheaper
		}
	}
	return v, nil
}

// own is the library's own choice on the nodes of p ranks, and whether it is known.
func (c *Chooser) own(of *collective.Collective, p, m int) (mpi.Setting, bool) {
	nodes, _ := c.Predictor.Nodes(p)
	return c.Library.Own(of, p, nodes, m)
}

// promising orders settings for quick evaluation: first the one before, which is likely cheap, then
// settings of few segments; the others then stop at the limit.
func promising(settings []mpi.Setting, before mpi.Setting) []int {
	order := lists.Indices(len(settings))
	rank := func(s mpi.Setting) int {
		switch {
		case s == before:
			return 0
		case s.Segment == 0:
			return 1
		}
		return 2 + math.MaxInt32/s.Segment
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(settings[a]) - rank(settings[b]) })
	return order
}

// A candidate is a setting with its cost, +Inf if it is above the limit.
type candidate struct {
	setting  mpi.Setting
	schedule *collective.Schedule
	model.Cost
}

// costs are the costs of settings, some of which share a schedule.
type costs struct {
	*Chooser
	known map[collective.Key]model.Cost
	limit float64 // seconds, above which costs are not evaluated
}

// of is a setting with its cost.
func (c *costs) of(of *collective.Collective, s mpi.Setting, p, m int) (candidate, error) {
	made, err := c.Library.Schedule(of, s, collective.Call{P: p, M: m})
	if err != nil {
		return candidate{}, err
	}
	key := made.Key()
	cost, known := c.known[key]
	if !known {
		if cost, err = Within(c.Predictor, made, c.limit); err != nil {
			return candidate{}, fmt.Errorf("%s: %w", made.Algorithm.Collective, err)
		}
		c.known[key] = cost
	}
	return candidate{s, made, cost}, nil
}

// Within is the cost of a schedule, +Inf seconds if it is above limit seconds.
func Within(by *model.Predictor, s *collective.Schedule, limit float64) (model.Cost, error) {
	cost, within, err := by.CostWithin(s, limit)
	if !within {
		cost.Seconds = math.Inf(1)
	}
	return cost, err
}

// cheapest is, within alike of the least cost, the candidate before, else the first; none if all are
// above the limit.
func cheapest(candidates []candidate, before mpi.Setting) (best candidate, found bool) {
	least := slices.Min(lists.Map(candidates, func(c candidate) float64 { return c.Seconds }))
	near := lists.Filter(candidates, func(c candidate) bool { return !math.IsInf(c.Seconds, 1) && !(c.Seconds > least*(1+alike)) })
	if len(near) == 0 {
		return candidate{}, false
	}
	i := slices.IndexFunc(near, func(c candidate) bool { return c.setting == before })
	return near[max(0, i)], true
}

// second is the cheapest candidate that costs more than the best; zero if there is none.
func second(candidates []candidate, best candidate) (next candidate) {
	for _, c := range candidates {
		if c.Seconds > best.Seconds*(1+alike) && (next.schedule == nil || c.Seconds < next.Seconds) {
			next = c
		}
	}
	return next
}

// interval is a gain with its interval. Both costs come from the same draws, so common disturbances
// cancel.
func (c *Chooser) interval(best, beaten candidate) fit.Estimate {
	gain := fit.Unbounded(1 - best.Seconds/beaten.Seconds)
	if c.Ensemble == nil || !c.Ensemble.Known() {
		return gain
	}
	a, b := c.Ensemble.Costs(best.schedule), c.Ensemble.Costs(beaten.schedule)
	if len(a) == 0 || len(a) != len(b) {
		return gain
	}
	speedups := make([]float64, len(a))
	for i := range a {
		if speedups[i] = b[i] / a[i]; !(speedups[i] > 0) || math.IsInf(speedups[i], 1) { // a draw has a cost of 0
			return gain
		}
	}
	if speedup := c.Ensemble.Interval(beaten.Seconds/best.Seconds, speedups); speedup.Known() {
		gain.Lo, gain.Hi, gain.N = 1-1/speedup.Lo, 1-1/speedup.Hi, speedup.N
	}
	return gain
}

// Choices are the choices of all collectives and ranks for the sizes ms, which rise. Between two
// sizes with different choices it locates the change. Rows are evaluated concurrently.
func (c *Chooser) Choices(ctx context.Context, collectives []*collective.Collective, ps, ms []int) (*Choices, error) {
	all := &Choices{Library: c.Library}
	for _, of := range collectives {
		for _, p := range ps {
			nodes, _ := c.Predictor.Nodes(p)
			all.Rows = append(all.Rows, Row{Collective: of, P: p, Nodes: nodes})
		}
	}
	err := parallel.Each(ctx, len(all.Rows), c.Progress, func(ctx context.Context, i int) error { return c.row(ctx, &all.Rows[i], ms) })
	if err != nil {
		return nil, err
	}
	return all, nil
}

// row fills in a row.
func (c *Chooser) row(ctx context.Context, t *Row, sizes []int) error {
	if t.Collective.Empty() {
		sizes = []int{0}
	}
	for i, m := range sizes {
		v, err := c.at(ctx, t, m)
		if err != nil {
			return err
		}
		if i > 0 && v.Setting != t.last() {
			for _, between := range c.between(t, sizes[i-1], m) {
				w, err := c.at(ctx, t, between)
				if err != nil {
					return err
				}
				t.add(between, w)
			}
		}
		t.add(m, v)
	}
	return nil
}

func (c *Chooser) at(ctx context.Context, t *Row, m int) (Verdict, error) {
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	return c.Choose(t.Collective, c.Library.Settings(t.Collective, t.P, m), t.P, m, t.last())
}

// between are the sizes to try between two: eighths, and where the library's own choice changes, as a
// rule may begin there.
func (c *Chooser) between(t *Row, from, to int) []int {
	sizes := eighths(from, to)
	before, known := c.own(t.Collective, t.P, from)
	if after, there := c.own(t.Collective, t.P, to); known && there && after != before {
		change := from + 1 + sort.Search(to-from-1, func(i int) bool {
			own, _ := c.own(t.Collective, t.P, from+1+i)
			return own != before
		})
		if change < to {
			sizes = lists.Insert(sizes, change)
		}
	}
	return sizes
}

// eighths are the sizes that divide an interval in eight, fewer of a short one.
func eighths(from, to int) (sizes []int) {
	for i := 1; i < 8; i++ {
		if m := from + (to-from)*i/8; m > from && m < to && (len(sizes) == 0 || m > sizes[len(sizes)-1]) {
			sizes = append(sizes, m)
		}
	}
	return sizes
}
