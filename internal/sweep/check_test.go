package sweep

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/params"
)

// Check finds a machine unchanged, or a slow CPU. It measures the most significant cells, each once.
func TestCheck(t *testing.T) {
	was, sim := swept(t, surveytest.Simulated{}, 1)
	was.Provenance = provenance.Read("/", sim.Machine)
	was.Provenance.Give(false)
	was.Provenance.Hostname = "golden"
	must.Do(transfers.Fit(was, sim.Machine))
	slow := *sim
	slow.SlowCPU, slow.Slower = 5, 2
	for _, tt := range []struct {
		sim  *surveytest.Simulated
		want compare.State
	}{{sim, compare.OK}, {surveytest.Simulate(slow, 3), compare.Critical}} {
		x := must.Get(Check(was, sim.Machine, 0, time.Hour))
		seen := make(map[params.Key]bool)
		var names []string
		for _, c := range x.Cells {
			if seen[c.Key] {
				t.Errorf("%v twice", c.Key)
			}
			seen[c.Key] = true
			names = append(names, c.Key.String())
		}
		all := strings.Join(names, "; ")
		contains.All(t, all, "copy, placement local, in cache, τ = 128", "transfer of ring, placement local, in cache, τ = 128, m = 8192", "isolated", "null of ring")
		x.Start, x.Launches, x.Seed = tt.sim.Start(), engine.LeastLaunches, 1
		must.Do(x.Run(context.Background()))
		b := compare.NewBaseline(was, x.File, fit.Test{Drift: 0.01, Least: compare.DefaultLeast}, compare.Levels{Warning: 0.1, Critical: 0.3})
		if b.State != tt.want || len(b.Cells) != len(x.Cells) {
			t.Errorf("%v, %d of %d cells: %s; want %v", b.State, len(b.Cells), len(x.Cells), b.Text, tt.want)
		}
	}
	empty := *was
	empty.Cells = nil
	if _, err := Check(&empty, sim.Machine, 0, time.Hour); !errors.Is(err, params.ErrUnfinished) {
		t.Errorf("of a file without cells: %v", err)
	}
	was.Provenance.CPUModel = "another"
	if _, err := Check(was, sim.Machine, 0, time.Hour); err == nil || !strings.Contains(err.Error(), "processor was") {
		t.Errorf("of another processor: %v", err)
	}
}
