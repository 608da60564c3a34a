package sweep

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

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

// takes is a cell's time in ns: a core copies 10 GB/s from caches and 5 from memory, and a node's
// memory gives 150.
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
			for _, policy := range f.Plan.Policies {
				f.Placements = append(f.Placements, must.Get(m.Place(policy, s.Cores)))
			}
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
				if segment && !reached[c.Key] {
					t.Errorf("%v, %v: %v is not reached", s, budget, c.Key)
				}
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
			m := must.Get(numa.Discover(snapshot.Unpack(t, name)))
			machines[name] = m
		}
	}
	for name, m := range machines {
		n := m.Concurrency()
		r := Request{Plan: params.Plan{Setups: []string{"ring", "ping", "sendrecv"}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}}
		f := &params.File{Plan: r.plan(m)}
		x := must.Get(Experiment(f, m, 0))
		if taus := f.Plan.Taus; !slices.IsSorted(taus) || taus[0] != 1 || taus[len(taus)-1] != n || n > 1 && !slices.Contains(taus, n-1) {
			t.Errorf("%s: τ = %v of %d workers", name, taus, n)
		}
		placed := make(map[string]numa.Policy)
		for _, policy := range f.Plan.Policies {
			p, err := m.Place(policy, n)
			check.True(t, err == nil && !p.Oversubscribed, "%s, %s: %d workers by turns: %v, %v", name, policy, n, p.Oversubscribed, err)
			like, there := placed[fmt.Sprint(p.Workers)]
			check.True(t, !there, "%s: %s places %d workers as %s does", name, policy, n, like)
			placed[fmt.Sprint(p.Workers)] = policy
		}
		for _, c := range x.Cells {
			if c.Tau > n || c.Placement != "" && !slices.Contains(f.Plan.Policies, c.Placement) {
				t.Errorf("%s: %v, of %d workers and placements %v", name, c.Key, n, f.Plan.Policies)
			}
		}
	}
}
