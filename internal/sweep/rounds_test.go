package sweep

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// cut is the default plan of two cores on a simulated machine, with copies between levels.
func cut(t *testing.T, f *params.File) *engine.Experiment {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 1, 2, 1), Latency: 100, PerByte: 0.05, Far: 1, Noise: 0.01,
		Cost: func(setups.Work) float64 { return 2000 }}, 1)
	if f.Plan.Setups == nil {
		f.Plan = (&Request{Plan: params.Plan{Setups: []string{params.Ring}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, With: []string{"copy"}}}).plan(s.Machine)
	}
	f.Provenance.Allowed = s.Machine.Allowed
	x := must.Get(Experiment(f, s.Machine, 0))
	x.Start, x.Seed = s.Start(), 1
	return x
}

// Whenever a launch ends, it has visited a few sizes of every series before more sizes of any, y and
// segments before both, and operators that were not named last.
func TestCoarseFirst(t *testing.T) {
	partly := make(map[int]bool) // by how far a launch came that was cut short
	for limit := 20 * time.Millisecond; limit < 2*time.Second; limit = limit * 5 / 4 {
		f := &params.File{Format: params.Format, Version: params.Version}
		x := cut(t, f)
		x.Time, x.Launches, x.Probes = limit, 1, nil
		must.Do(x.Run(context.Background()))
		reached := lists.ToMap(f.Cells, func(c params.Cell) (params.Key, bool) { return c.Key, true })
		sizes := make(map[params.Key][]int)
		series := func(k params.Key) params.Key { k.Bytes = 0; return k }
		for _, c := range x.Cells {
			sizes[series(c.Key)] = append(sizes[series(c.Key)], c.Bytes)
		}
		shares := []int{32 << 10, 1 << 20, 16 << 20} // of the simulated machine
		rank := func(c engine.Cell) int {
			of := slices.Sorted(slices.Values(sizes[series(c.Key)]))
			at := slices.Index(of, c.Bytes)
			switch {
			case c.Kind == params.NullCell, c.Kind == params.TransferCell && c.Bytes == 8192:
				return 0
			case c.Kind == params.GammaCell && c.Operator != "SUM_I":
				return 3
			case at == len(of)-1, slices.Contains(steps(of, shares), c.Bytes), at%8 == 0 && (c.Bytes < 8192 || len(steps(of, shares)) == 0):
				return 1
			}
			return 2
		}
		most := -1
		for _, c := range x.Cells {
			if reached[c.Key] {
				most = max(most, rank(c))
			}
		}
		left := make(map[string]int)
		for _, c := range x.Cells {
			if rank(c) < most && !reached[c.Key] {
				left[fmt.Sprint(c.Survey, " ", c.Kind)]++
			}
		}
		check.Equal(t, len(left), 0, "%v: number of those left up to rank %d", limit, most)
		partly[most] = partly[most] || len(f.Cells) < len(x.Cells)
	}
	check.True(t, partly[1] && partly[2] && partly[3], "limits cut launches short among %v, want some among the few sizes, all, and other operators", partly)
}

// Coarse sizes are on both sides of a cache's step, if the plan has such sizes.
func TestSteps(t *testing.T) {
	for _, tt := range []struct{ sizes, caches, want []int }{
		{transfers.Sizes, []int{32 << 10, 1 << 20, 16 << 20}, []int{12 << 10, 24 << 10, 384 << 10, 768 << 10, 4 << 20, 16 << 20}},
		{transfers.Sizes, []int{48 << 10}, []int{16 << 10, 32 << 10}},
		{transfers.Sizes, []int{1 << 30}, nil},
		{[]int{1 << 10, 4 << 10}, []int{32 << 10, 1 << 20}, nil},
		{[]int{64 << 10, 1 << 20}, []int{32 << 10, 512 << 10}, []int{64 << 10, 1 << 20}},
		{transfers.Sizes, nil, nil},
	} {
		check.Slices(t, steps(tt.sizes, tt.caches), tt.want, "of caches of %d", tt.caches)
	}
}

// Single copies have rounds like other cells: first y and a few sizes of every setup, in cache before off cache.
func TestCoarseSingleCopies(t *testing.T) {
	m := numatest.EPYC(1, 1, 1, 2, 1)
	p := params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Sizes: transfers.Sizes, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192,
		Caches: []bool{false, true}, NoGamma: true}
	x := &engine.Experiment{}
	must.Get(survey.Add(x, transfers.Survey, transfers.Request{Plan: p}, m))
	must.Get(survey.Add(x, cma.Survey, cma.Request{Policies: p.Policies, Sizes: cma.Sizes(p.Sizes), Taus: p.Taus, Caches: p.Caches}, m))
	inRounds(p, m.CacheShares(), x.Cells)
	tiers := func(of *survey.Survey, off bool, sizes ...int) (least, most int) {
		least = math.MaxInt
		for _, c := range x.Cells {
			if c.Survey == of.Name && c.OffCache == off && (c.Kind == params.TransferCell || of == cma.Survey) && c.Bytes != p.SegmentBytes && slices.Contains(sizes, c.Bytes) {
				least, most = min(least, c.Tier), max(most, c.Tier)
			}
		}
		return least, most
	}
	few := []int{0, 512, 256 << 10} // of 512, 1K … 16M
	_, coarse := tiers(cma.Survey, false, few...)
	offCache, _ := tiers(transfers.Survey, true, 1, 3072)
	_, long := tiers(cma.Survey, true, 16<<20)
	fine, _ := tiers(transfers.Survey, false, 64, 1536, 6144)
	more, _ := tiers(cma.Survey, false, 1024, 4096)
	check.True(t, coarse > 0 && long > 0 && offCache > coarse && min(fine, more) > long && max(fine, more, offCache) < math.MaxInt,
		"single copies of %v are of tiers to %d, long ones off cache to %d, of other sizes from %d; transfers off cache from %d, of other sizes from %d",
		few, coarse, long, more, offCache, fine)
}

// A resumed sweep visits the cells that the last launch did not reach before cells with a sample, except y and
// segments. A few launches reach all cells, and each is visited as often as an interval needs, and no more.
func TestGoesOn(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version}
	x := cut(t, f)
	x.Time, x.Launches = 300*time.Millisecond, 1
	must.Do(x.Run(context.Background()))
	before, left := len(f.Cells), x.Left()
	check.Need(t, before != 0 && before != len(x.Cells) && left != 0, "the first launch reached %d of %d cells, and the rest takes %v", before, len(x.Cells), left)
	x = cut(t, f)
	x.Time = time.Hour
	begin, orders := x.Start, 0
	x.Start = func(o engine.Order, journal *os.File) (*engine.Process, error) {
		seen := false
		for _, v := range o.Visits {
			basic := v.Key.Kind == params.NullCell || v.Key.Kind == params.TransferCell && v.Key.Bytes == 8192
			at := slices.IndexFunc(f.Cells, func(c params.Cell) bool { return c.Key == v.Key })
			if orders == 0 && !v.Probe && !basic {
				seen = seen || at >= 0
				check.Need(t, !seen || at >= 0, "%v has no sample and comes after some that have", v.Key)
			}
		}
		orders++
		return begin(o, journal)
	}
	must.Do(x.Run(context.Background()))
	check.True(t, f.Complete && x.Left() == 0, "%v, %v left", x.Missing(), x.Left())
	for _, c := range f.Cells {
		check.Equal(t, c.InSession(f, 0), engine.LeastLaunches, "launches with samples of %v", c.Key)
	}
}

// A visitor goes through an experiment's cells as launches do, with estimated times: mapping memory and
// waking workers were timed with 128 workers.
type visitor struct {
	shape numatest.Shape
	m     *numa.Machine
	laid  map[string]bool // groups, in the present launch
}

// workers is the number of a cell's workers.
func (v *visitor) workers(k params.Key) int {
	if k.Setup == params.Isolated || k.Kind == params.PRTTCell || k.Kind == params.MessageCell {
		return 2
	}
	return max(1, k.Tau)
}

// takes is a cell's time in ns: a core copies 10 GB/s from caches and 5 from memory, and a node's memory gives 150.
func (v *visitor) takes(k params.Key) float64 {
	perCore := 10.
	if k.OffCache || k.Bytes > 4<<20 {
		perCore = min(5, 150*float64(v.shape.Nodes)/float64(v.workers(k)))
	}
	return 150 + 2*float64(k.Bytes)/perCore
}

// visit is the time of a visit; known: an earlier launch found the number of repetitions.
func (v *visitor) visit(c engine.Cell, known bool) time.Duration {
	const us = 1e3
	w, once := float64(v.workers(c.Key)), v.takes(c.Key)
	run := 300*us + 60*us*w // mapping, waking, unmapping
	batch, batches := 500*us, 4.
	if c.Kind == params.GammaCell {
		batch = 100 * us
	}
	if once > 5e6 {
		batches = 3
	}
	all := run + batches*max(batch, once)
	if !known {
		all += 2*run + max(batch/10, once)
	}
	if c.OffCache { // every byte that arrived is compared
		all += batches * max(batch, once)
		if !v.laid[c.Group] {
			v.laid[c.Group] = true
			place, _ := v.m.Place(c.Placement, int(w))
			arena := float64(setups.ArenaOf(v.m, place, setups.ArenaCaches))
			all += arena / min(1.5, 50*float64(v.shape.Nodes)/w) // bytes by GB/s
		}
	}
	return time.Duration(all)
}

// launch adds the cells that a launch reaches within its time.
func (v *visitor) launch(x *engine.Experiment, slice time.Duration) (reached []engine.Cell) {
	v.laid = make(map[string]bool)
	cells := slices.Clone(x.Cells)
	slices.SortStableFunc(cells, func(a, b engine.Cell) int { return a.Tier - b.Tier })
	var spent time.Duration
	for _, c := range cells {
		if spent += v.visit(c, false); spent > slice {
			break
		}
		reached = append(reached, c)
	}
	return reached
}

// The default minute of a large machine reaches, with up to 256 cores, a segment in cache at every τ
// with every setup and placement, and the sizes that predictions of the largest P need. A longer budget
// reaches more, in the order of worth.
func TestLargeMachines(t *testing.T) {
	skip.Short(t, "takes long under the race detector, and nothing is shared")
	few := map[int]bool{64: true, 192: true} // without TAULOP_LONG
	for _, s := range numatest.Shapes {
		m := s.Machine()
		reached := make(map[params.Key]bool)
		for _, budget := range []time.Duration{time.Minute, 10 * time.Minute} {
			if s.Cores < 64 || s.L3 > 512<<20 || os.Getenv("TAULOP_LONG") == "" && !few[s.Cores] || s.Cores == 64 && budget > time.Minute { // which reaches more
				continue
			}
			r := Request{Plan: params.Plan{Setups: []string{"ring", "ping", "sendrecv"}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}, Budget: budget}
			f := &params.File{Plan: r.plan(m)}
			f.Placements = lists.Map(f.Plan.Policies, func(policy numa.Policy) numa.Placement { return must.Get(m.Place(policy, s.Cores)) })
			x := must.Get(Experiment(f, m, 0))
			if s.Cores > 256 && budget == time.Minute { // five placements of 512 workers take longer
				continue
			}
			v := &visitor{shape: s, m: m}
			for _, c := range v.launch(x, budget/engine.LeastLaunches) {
				ns := v.takes(c.Key)
				c.Time = fit.Estimate{Center: ns, Lo: ns * .98, Hi: ns * 1.02, N: engine.LeastLaunches}
				f.Cells = append(f.Cells, c.Cell)
				reached[c.Key] = true
			}
			for _, c := range x.Cells {
				segment := c.Kind == params.TransferCell && c.Bytes == f.Plan.SegmentBytes && !c.OffCache || c.Kind == params.NullCell
				check.True(t, !segment || reached[c.Key], "%v, %v: %v is not reached", s, budget, c.Key)
			}
			if s.Cores > 128 && budget == time.Minute { // a warning asks for a longer one
				continue
			}
			p := must.Get(model.NewPredictor(f, model.Choice{}))
			for _, name := range []string{"bcast:binomial", "allgather:ring"} {
				schedule := must.Get(must.Get(collective.Lookup(name)).Schedule(collective.Call{P: s.Cores, M: 64 << 10}))
				cost, err := p.Cost(schedule)
				check.True(t, err == nil && cost.Seconds > 0, "%v, %v, %s: %+v, %v", s, budget, name, cost, err)
			}
		}
	}
}

// The default plan of every machine has τ from one to the default number of workers, and one fewer. Its
// placements exist and differ, and need no oversubscription, and cells keep to both.
func TestDefaultPlans(t *testing.T) {
	machines := make(map[string]*numa.Machine)
	for _, s := range numatest.Shapes {
		if s.Cores <= 128 || os.Getenv("TAULOP_LONG") != "" {
			machines[s.String()] = s.Machine()
		}
	}
	if snapshot.Available() {
		for _, name := range snapshot.Few(t) {
			machines[name] = must.Get(numa.Discover(snapshot.Unpack(t, name)))
		}
	}
	for name, m := range machines {
		n := m.Concurrency()
		r := Request{Plan: params.Plan{Setups: []string{"ring", "ping", "sendrecv"}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}}
		f := &params.File{Plan: r.plan(m)}
		x := must.Get(Experiment(f, m, 0))
		taus := f.Plan.Taus
		check.True(t, slices.IsSorted(taus) && taus[0] == 1 && taus[len(taus)-1] == n && (n == 1 || slices.Contains(taus, n-1)),
			"%s: τ = %v of %d workers", name, taus, n)
		placed := make(map[string]numa.Policy)
		for _, policy := range f.Plan.Policies {
			p, err := m.Place(policy, n)
			check.True(t, err == nil && !p.Oversubscribed, "%s, %s: %d workers by turns: %v, %v", name, policy, n, p.Oversubscribed, err)
			like, there := placed[fmt.Sprint(p.Workers)]
			check.True(t, !there, "%s: %s places %d workers as %s does", name, policy, n, like)
			placed[fmt.Sprint(p.Workers)] = policy
		}
		for _, c := range x.Cells {
			check.True(t, c.Tau <= n && (c.Placement == "" || slices.Contains(f.Plan.Policies, c.Placement)),
				"%s: %v, of %d workers and placements %v", name, c.Key, n, f.Plan.Policies)
		}
	}
}
