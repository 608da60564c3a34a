package tune

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
)

// A Chooser chooses what predictions say is the cheapest.
type Chooser struct {
	Library   *mpi.Library
	Predictor *model.Predictor
	Ensemble  *model.Ensemble // uncertainty of predictions; nil: unknown
	Margin    float64         // the least gain that is worth a rule, a share
	// Progress, if not nil, is told after each row how many of all are done, one call at a time.
	Progress func(done, of int)
}

// alike is the share by which costs must differ to be told apart.
const alike = 0.02

// Choose chooses among settings for messages of m bytes among p ranks. Of those that cost
// about the least it takes the one before, if it is among them, else the first. It fails
// where a model cannot cost something, but not for algorithms that need γ where there is
// none.
func (c *Chooser) Choose(of *collective.Collective, settings []mpi.Setting, p, m int, before mpi.Setting) (Verdict, error) {
	if len(settings) == 0 {
		return Verdict{Why: None}, nil
	}
	v, beaten := Verdict{}, candidate{}
	costs := costs{Chooser: c, known: make(map[schedule]model.Cost), most: math.Inf(1)}
	if own, known := c.Library.Own(of, p, m); known {
		if one, err := costs.of(of, own, p, m); err == nil {
			beaten, v.OwnKnown = one, true
			costs.most = one.Seconds * (1 + alike) // what costs more is not asked for
		}
	}
	costed := make([]candidate, len(settings))
	for _, at := range promising(settings, before) {
		var err error
		if costed[at], err = costs.of(of, settings[at], p, m); err != nil {
			return Verdict{}, err
		}
		if v.OwnKnown {
			costs.most = min(costs.most, costed[at].Seconds*(1+alike))
		}
	}
	best, found := cheapest(costed, before)
	if !found {
		best = beaten
	}
	v.Best, v.BestSeconds = best.setting, best.Seconds
	if !v.OwnKnown {
		beaten = second(costed, best)
	}
	v.Beaten, v.BeatenSeconds = beaten.setting, beaten.Seconds
	if beaten.schedule == nil {
		v.Why = None
		return v, nil
	}
	for _, one := range append(costed, beaten) {
		if one.Unknown {
			v.Why = Unproved
			return v, nil
		}
	}
	v.Gain = fit.Estimate{Center: 1 - best.Seconds/beaten.Seconds, Lo: math.Inf(-1), Hi: math.Inf(1)}
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
		case !v.Gain.Known() && c.Ensemble != nil && c.Ensemble.Known(): // which other costs have
			v.Why = Few
		default:
			v.Setting, v.Why = best.setting, Cheaper
		}
	}
	return v, nil
}

// promising are the settings in the order in which their costs take the least time to work out: the one
// before is likely to be cheap, and what has few segments is done soon, after which the
// rest need not be followed to the end.
func promising(settings []mpi.Setting, before mpi.Setting) []int {
	order := make([]int, len(settings))
	for i := range order {
		order[i] = i
	}
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

// A candidate is a setting with its cost, of +Inf where it is too dear to be worked out.
type candidate struct {
	setting  mpi.Setting
	schedule *collective.Schedule
	model.Cost
}

// costs are the costs of settings, several of which may be one schedule.
type costs struct {
	*Chooser
	known map[schedule]model.Cost
	most  float64 // seconds; what costs more is not worked out
}

// A schedule is what tells one from others.
type schedule struct {
	algorithm *collective.Algorithm
	collective.Call
	blocking bool
	toSelf   bool
}

// of is a setting with its cost.
func (c *costs) of(of *collective.Collective, s mpi.Setting, p, m int) (one candidate, err error) {
	if one.schedule, err = c.Library.Schedule(of, s, collective.Call{P: p, M: m}); err != nil {
		return candidate{}, err
	}
	one.setting = s
	key := schedule{one.schedule.Algorithm, one.schedule.Call, one.schedule.Blocking, one.schedule.ToSelf}
	var there bool
	if one.Cost, there = c.known[key]; !there {
		if one.Cost, err = Within(c.Predictor, one.schedule, c.most); err != nil {
			return candidate{}, fmt.Errorf("%s: %w", one.schedule.Algorithm.Collective, err)
		}
		c.known[key] = one.Cost
	}
	return one, nil
}

// Within is the cost of a schedule, in +Inf seconds where it is above most seconds.
func Within(by *model.Predictor, s *collective.Schedule, most float64) (model.Cost, error) {
	cost, within, err := by.CostWithin(s, most)
	if !within {
		cost.Seconds = math.Inf(1)
	}
	return cost, err
}

// cheapest is the one to take: within alike of the least cost the one before, else the first;
// there is none where all are too dear.
func cheapest(of []candidate, before mpi.Setting) (best candidate, found bool) {
	least := math.Inf(1)
	for _, one := range of {
		least = min(least, one.Seconds)
	}
	for _, one := range of {
		if math.IsInf(one.Seconds, 1) || one.Seconds > least*(1+alike) {
			continue
		}
		if one.setting == before {
			return one, true
		}
		if !found {
			best, found = one, true
		}
	}
	return best, found
}

// second is the cheapest one that costs more than the best; none where there is none.
func second(of []candidate, best candidate) (next candidate) {
	for _, one := range of {
		if one.Seconds > best.Seconds*(1+alike) && (next.schedule == nil || one.Seconds < next.Seconds) {
			next = one
		}
	}
	return next
}

// interval is the interval of a gain. Costs come from the same draws, so that common disturbances
// cancel.
func (c *Chooser) interval(best, beaten candidate) fit.Estimate {
	gain := fit.Estimate{Center: 1 - best.Seconds/beaten.Seconds, Lo: math.Inf(-1), Hi: math.Inf(1)}
	if c.Ensemble == nil || !c.Ensemble.Known() {
		return gain
	}
	a, b := c.Ensemble.Costs(best.schedule), c.Ensemble.Costs(beaten.schedule)
	if len(a) == 0 || len(a) != len(b) {
		return gain
	}
	times := make([]float64, len(a)) // that the best is faster
	for i := range a {
		if times[i] = b[i] / a[i]; !(times[i] > 0) || math.IsInf(times[i], 1) { // a draw has no time for one
			return gain
		}
	}
	if of := c.Ensemble.Interval(beaten.Seconds/best.Seconds, times); of.Known() {
		gain.Lo, gain.Hi, gain.N = 1-1/of.Lo, 1-1/of.Hi, of.N
	}
	return gain
}

// Choices are the choices of all collectives and ranks for the sizes ms, which rise. Between two
// sizes with different choices it looks where one ends. Rows are worked out side by side.
func (c *Chooser) Choices(ctx context.Context, collectives []*collective.Collective, ps, ms []int) (*Choices, error) {
	all := &Choices{Library: c.Library}
	for _, of := range collectives {
		for _, p := range ps {
			nodes, _ := c.Predictor.Nodes(p)
			all.Rows = append(all.Rows, Row{Collective: of, P: p, Nodes: nodes})
		}
	}
	err := Each(ctx, len(all.Rows), c.Progress, func(ctx context.Context, i int) error { return c.row(ctx, &all.Rows[i], ms) })
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Each does n things side by side, until one fails; progress, if not nil, is told after each how many are done,
// one call at a time.
func Each(ctx context.Context, n int, progress func(done, of int), do func(ctx context.Context, i int) error) error {
	var lock sync.Mutex
	done := 0
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		workers.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := do(ctx, i); err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			if done++; progress != nil {
				progress(done, n)
			}
			return nil
		})
	}
	return workers.Wait()
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

// between are the sizes to look at from one to another: eighths of the way, and where the library's own
// choice changes, for a rule may be right from there on.
func (c *Chooser) between(t *Row, from, to int) []int {
	sizes := eighths(from, to)
	before, known := c.Library.Own(t.Collective, t.P, from)
	if after, there := c.Library.Own(t.Collective, t.P, to); known && there && after != before {
		at := from + 1 + sort.Search(to-from-1, func(i int) bool {
			own, _ := c.Library.Own(t.Collective, t.P, from+1+i)
			return own != before
		})
		if i, found := slices.BinarySearch(sizes, at); !found && at < to {
			sizes = slices.Insert(sizes, i, at)
		}
	}
	return sizes
}

// eighths are the sizes that divide the way from one to another in eight; fewer where they
// are close.
func eighths(from, to int) (sizes []int) {
	for i := 1; i < 8; i++ {
		if m := from + (to-from)*i/8; m > from && m < to && (len(sizes) == 0 || m > sizes[len(sizes)-1]) {
			sizes = append(sizes, m)
		}
	}
	return sizes
}
