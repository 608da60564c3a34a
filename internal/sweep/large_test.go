package sweep

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
	"github.com/taulop/taulop/params"
)

// The default plan of every machine reaches from one worker to the default number, and has one
// fewer, in placements that it has and that differ; each cell is there once, all can be placed
// without taking turns, and a segment comes before other sizes.
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
		x, err := Experiment(f, m, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if taus := f.Plan.Taus; !slices.IsSorted(taus) || taus[0] != 1 || taus[len(taus)-1] != n || n > 1 && !slices.Contains(taus, n-1) {
			t.Errorf("%s: τ = %v of %d workers", name, taus, n)
		}
		placed := make(map[string]numa.Policy)
		for _, policy := range f.Plan.Policies {
			p, err := m.Place(policy, n)
			if err != nil || p.Oversubscribed {
				t.Errorf("%s, %s: %d workers by turns: %v, %v", name, policy, n, p.Oversubscribed, err)
			}
			if like, there := placed[fmt.Sprint(p.Workers)]; there {
				t.Errorf("%s: %s places %d workers as %s does", name, policy, n, like)
			}
			placed[fmt.Sprint(p.Workers)] = policy
		}
		seen := make(map[string]bool)
		segments, others := 0, math.MaxInt // the last tier of segments in cache, the first of other sizes
		for _, c := range x.Cells {
			if key := c.Survey + fmt.Sprint(c.Key); seen[key] {
				t.Errorf("%s: %v twice", name, c.Key)
			} else {
				seen[key] = true
			}
			if c.Tau > n || c.Placement != "" && !slices.Contains(f.Plan.Policies, c.Placement) {
				t.Errorf("%s: %v, of %d workers and placements %v", name, c.Key, n, f.Plan.Policies)
			}
			if c.Kind == params.TransferCell && c.Setup == params.Ring && !c.OffCache {
				if c.Bytes == f.Plan.SegmentBytes {
					segments = max(segments, c.Tier)
				} else {
					others = min(others, c.Tier)
				}
			}
		}
		if segments >= others {
			t.Errorf("%s: segments until tier %d, other sizes from tier %d", name, segments, others)
		}
	}
}
