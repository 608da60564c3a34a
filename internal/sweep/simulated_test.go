package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	_ "github.com/taulop/taulop/internal/survey/levels" // registers the survey copy
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// simulatedCores is the number of the simulated machine's cores, each of two threads, in 16 complexes on two nodes.
const simulatedCores = 128

// swept is a sweep of 8 KB on the simulated machine.
func swept(t *testing.T, s surveytest.Simulated, seed uint64) (*params.File, *surveytest.Simulated) {
	t.Helper()
	if s.Machine == nil {
		s.Machine = numatest.EPYC(2, 1, 8, 8, 2)
	}
	s.Latency, s.PerByte, s.Far, s.Sigma, s.Kappa, s.Noise = 100, 0.05, 1, 0.08, 0.0003, 0.01
	s.Cost = func(setups.Work) float64 { return 2000 }
	sim := surveytest.Simulate(s, seed)
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: []int{8192}, Taus: transfers.Taus(simulatedCores), Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true}}
	f.Provenance.Allowed = s.Machine.Allowed
	x := must.Get(Experiment(f, s.Machine, 0))
	x.Start, x.Time, x.Launches, x.Seed = sim.Start(), time.Hour, 2*engine.LeastLaunches, 1
	must.Do(x.Run(context.Background()))
	check.Need(t, f.Complete, "%v", x.Missing())
	return f, sim
}

// A sweep finds the law of a simulated machine although some workers begin late, and raises no doubt.
func TestSimulatedLaw(t *testing.T) {
	f, sim := swept(t, surveytest.Simulated{Late: 0.001, LateBy: 200 * time.Microsecond}, 1)
	var taus []int
	var L []float64
	for _, of := range f.Transfers() {
		for _, c := range of.Cells {
			check.Near(t, c.Segment().Center/sim.L(8192, c.Tau), 1, 0.03, "L(8192,%d) by the one put in", c.Tau)
			taus, L = append(taus, c.Tau), append(L, c.Segment().Center)
		}
	}
	law, err := fit.ScalabilityOf(taus, L)
	check.True(t, err == nil && math.Abs(law.Sigma.Value/sim.Sigma-1) <= 0.05 && math.Abs(law.Kappa.Value/sim.Kappa-1) <= 0.05,
		"σ = %v, κ = %v, put in %g and %g; %v", law.Sigma, law.Kappa, sim.Sigma, sim.Kappa, err)
	b := f.Begun()
	check.True(t, b.Late >= b.Batches/200 && b.Late <= b.Batches/10 && b.Forced == 0, "of some 1 %% late starts: %+v", b)
	check.Empty(t, doubt.Of(f), "doubts")
}

// A disturbance raises its doubt.
func TestSimulatedDisturbances(t *testing.T) {
	try := func(name string, s surveytest.Simulated, says string) {
		t.Helper()
		f, sim := swept(t, s, 2)
		contains.All(t, fmt.Sprint(doubt.Of(f)), says)
		if s.Drift == 0 {
			return
		}
		n := float64(len(f.Launches))
		want := math.Expm1(sim.Drifted() * (n - 1) / n)
		all := doubt.Drifts(f)
		d := all[len(all)-1].(doubt.Drift)
		check.Near(t, d.Change/want, 1, 0.1, "drift %+v by the one put in", d)
	}
	try("a slow CPU", surveytest.Simulated{SlowCPU: 5, Slower: 1.2}, "CPU 5 is slower than the others: of τ = 128 (placement local) it was the last in 100 % of the visits, and took 20 % longer")
	try("late starts", surveytest.Simulated{Late: 0.02, LateBy: 200 * time.Microsecond}, "a worker began late")
	try("drift", surveytest.Simulated{Drift: 0.1}, "the reference probe took")
}

// A cost of the last CPU alone is distinguished from the line through fewer CPUs.
func TestSimulatedLastCPU(t *testing.T) {
	f, _ := swept(t, surveytest.Simulated{Machine: numatest.EPYC(2, 1, 8, 8, 1)}, 3) // siblings would be free
	for i := range f.Cells {
		c := &f.Cells[i]
		if c.Kind == params.TransferCell && c.Tau == simulatedCores {
			for j := range c.Samples {
				c.Samples[j].NS *= 1.3
			}
			c.Time = c.Replicates(f).Estimate()
		}
	}
	all := doubt.AllTaken(f)
	check.True(t, len(all) == 1 && strings.Contains(all[0].Error(), "% above what τ = 90 and 127 suggest"), "%v", all)
}

// Check finds a machine unchanged, or a slow CPU. It measures the most significant cells, each once.
func TestCheck(t *testing.T) {
	was, sim := swept(t, surveytest.Simulated{}, 1)
	was.Provenance = provenance.Read("/", sim.Machine)
	was.Provenance.Give(false)
	was.Provenance.Hostname = "golden"
	must.Do(transfers.Fit(was, sim.Machine))
	was.Plan.Copy = "another program's loop"
	slow := *sim
	slow.SlowCPU, slow.Slower = 5, 2
	for on, want := range map[*surveytest.Simulated]compare.State{sim: compare.OK, surveytest.Simulate(slow, 3): compare.Critical} {
		x := must.Get(Check(was, sim.Machine, 0, time.Hour))
		f := x.File
		check.True(t, len(f.Warnings) == 1 && f.Plan.Copy == shm.CopyName(), "copied by %s, warnings %q", f.Plan.Copy, f.Warnings)
		names := lists.Map(x.Cells, func(c engine.Cell) string { return c.Key.String() })
		check.Equal(t, len(lists.Unique(names)), len(names), "different cells among %q", names)
		contains.All(t, strings.Join(names, "; "), "copy, placement local, in cache, τ = 128", "transfer of ring, placement local, in cache, τ = 128, m = 8192", "isolated", "null of ring")
		x.Start, x.Launches, x.Seed = on.Start(), engine.LeastLaunches, 1
		must.Do(x.Run(context.Background()))
		b := compare.NewBaseline(was, x.File, compare.Test{Drift: compare.Everywhere(0.01), Least: compare.DefaultLeast}, compare.Levels{Warning: 0.1, Critical: 0.3})
		check.Equal(t, b.State, want, "state")
		check.Equal(t, len(b.Cells), len(x.Cells), "number of cells")
	}
	empty := *was
	empty.Cells = nil
	check.ErrorIs(t, must.Err(Check(&empty, sim.Machine, 0, time.Hour)), params.ErrUnfinished, "of a file without cells")
	was.Provenance.CPUModel = "another"
	contains.Error(t, must.Err(Check(was, sim.Machine, 0, time.Hour)), "processor was")
}

// Missing names the cells that a short sweep did not reach.
func TestMissing(t *testing.T) {
	m := surveytest.Machine(t, 1)
	plan := params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: []int{2},
		Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, Operators: []string{"SUM_I"}, With: []string{"copy"}}
	f := &params.File{Plan: plan}
	x := must.Get(Experiment(f, m, 0))
	for i, c := range x.Cells {
		if c.Kind == params.TransferCell || c.Kind == params.NullCell || c.Kind == params.PRTTCell {
			c.Time = fit.Estimate{Center: 1, Lo: 1, Hi: 1, N: 6}
		} else if i%2 == 0 || c.Kind == params.LevelCell {
			continue
		}
		f.Cells = append(f.Cells, c.Cell)
	}
	s := &Session{Experiment: x}
	contains.All(t, fmt.Sprint(s.Missing()), " of copy, ", "(all ", "of 2 γ")
	contains.None(t, fmt.Sprint(s.Missing()), "transfers")
}

// Open refuses a file that a new sweep would replace, that is none of a sweep, or that cannot be replaced.
func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.json")
	must.Do(os.WriteFile(path, []byte("precious"), 0o600))
	try := func(r Request, want string) {
		t.Helper()
		_, err := Open(r, numatest.EPYC(1, 1, 1, 2, 1))
		refused := engine.RefusedError("")
		check.True(t, errors.As(err, &refused) && strings.Contains(err.Error(), want), "%+v: %v, want %q", r, err, want)
	}
	try(Request{Path: path}, "already exists: go on with it")
	try(Request{Path: path, Resume: true}, "host.json")
	try(Request{Path: os.DevNull, Force: true}, "is no regular file")
	check.Equal(t, string(must.Get(os.ReadFile(path))), "precious", "the file")
}
