package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// visited gives the cells of a file samples of launches in sessions, an hour apart, about ns. What an hour does to all
// cells alike and to each of them, and what launches differ by, are standard deviations of logarithms.
func visited(r *rand.Rand, f *params.File, sessions int, hour, own, launch float64, ns func(cell int) float64) {
	for s := range sessions {
		all, centers := hour*r.NormFloat64(), make([]float64, len(f.Cells))
		for i := range centers {
			centers[i] = ns(i) * math.Exp(all+own*r.NormFloat64())
		}
		for n := range 9 {
			f.Launches = append(f.Launches, params.Launch{Session: s, Began: time.Date(2026, 1, 1, s, n, 0, 0, time.UTC).Format(time.RFC3339)})
			for i := range f.Cells {
				s := params.Sample{NS: centers[i] * math.Exp(launch*r.NormFloat64()), Launch: int32(len(f.Launches) - 1)}
				f.Cells[i].Samples = append(f.Cells[i].Samples, s)
			}
		}
	}
	for i := range f.Cells {
		f.Cells[i].Time = f.Cells[i].Replicates(f).Estimate()
	}
}

// session is a file of transfers at 16 τ on a simulated virtual machine.
func session(r *rand.Rand, name string, sessions int, slower float64) Machine {
	m := machine(name, nil)
	for tau := 1; tau <= 16; tau++ {
		m.File.Cells = append(m.File.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: "local", Tau: tau, Bytes: 8192}, K: 1, Transfers: 2})
	}
	visited(r, m.File, sessions, 0.08, 0.03, 0.02, func(i int) float64 { return slower * 2000 * float64(i+1) })
	return m
}

// Of comparisons of a machine with itself at another hour, one in twenty or fewer
// find a difference, and of their cells one in twenty or fewer; a machine that is three
// times as slow is found by single sessions, twice as slow by three.
func TestSameMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, tt := range []struct {
		sessions int
		slower   float64
	}{{1, 3}, {3, 2}} {
		const tries = 300
		different, cells, found := 0, 0, 0
		for range tries {
			a := session(r, "a", tt.sessions, 1)
			v := must.Get(New([]Machine{a, session(r, "b", tt.sessions, 1)}, Choice{})).Verdict
			if cells += v.Differ; v.Differ > 0 {
				different++
			}
			if must.Get(New([]Machine{a, session(r, "b", tt.sessions, tt.slower)}, Choice{})).Verdict.Differ == 16 {
				found++
			}
		}
		check.True(t, 20*different <= tries && 20*cells <= 16*tries && 10*found >= 9*tries,
			"%d sessions each: %d of %d comparisons differ, in %d cells of %d; %g times as slow is found in %d", tt.sessions, different, tries, cells, 16*tries, tt.slower, found)
	}
}

// A(τ) is of launches that measured both of its times: an hour that slows all cells is not in it.
func TestConcurrencyIsPaired(t *testing.T) {
	m := session(rand.New(rand.NewPCG(9, 10)), "a", 1, 1)
	for i := range m.File.Cells {
		for j := range m.File.Cells[i].Samples { // each launch has a clock of its own
			m.File.Cells[i].Samples[j].NS = 2000 * float64(i+1) * (1 + 0.3*float64(j%3))
		}
	}
	m.File.Cells[0].Setup = params.Isolated
	p := at(&must.Get(Curves("a", m.File))[0], 4)
	check.True(t, math.Abs(p.A.Center-1) <= 1e-9 && p.A.Width() <= 1e-9 && p.AReplicates.Launches() == 9, "A(4) = %v of %v, want exactly 1", p.A, p.AReplicates)
}

// Of tables of messages that others published no session can be added, and an hour is not known.
func TestVerdictOfImported(t *testing.T) {
	imported := func(name string, times int, ns float64) Machine {
		f := &params.File{Complete: true, Plan: params.Plan{Setups: []string{params.Published}, Policies: []numa.Policy{params.Published}}}
		c := params.Cell{Key: params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: 1, Bytes: 64, Variant: params.Parameter{Of: "socket", Name: params.ChannelMessage}}}
		for i := range times {
			c.Samples = append(c.Samples, params.Sample{NS: ns + float64(i%3), Launch: params.Unlaunched})
		}
		c.Time = fit.Median(c.Values())
		f.Cells = []params.Cell{c}
		return Machine{Name: name, File: f}
	}
	for times, want := range map[int]string{12: "Intervals of a, b are over pairs of cores", 1: "Nothing could be tested: published tables have few times"} {
		c := must.Get(New([]Machine{imported("a", times, 100), imported("b", times, 150)}, Choice{}))
		contains.All(t, said(&c.Verdict), want)
		contains.None(t, said(&c.Verdict), "session")
		check.True(t, !c.Untested(), "%d times: that nothing could be tested is a failure", times)
	}
	sweep := machine("c", map[int]float64{1: 1000})
	contains.Error(t, must.Err(New([]Machine{sweep, imported("a", 12, 100)}, Choice{})), "a has messages by levels and no transfers, L(m,τ): put the machines side by side with taulop predict")
}

// said is all that a verdict says.
func said(v *Verdict) string {
	return strings.Join(append([]string{v.Headline, v.Text}, v.Notes...), " ")
}

func TestVerdict(t *testing.T) {
	r, brief := rand.New(rand.NewPCG(11, 12)), moved("a", 1, stay{60, 0.5, 1}, stay{240, 0.5, 1})
	for i := range brief.File.Cells {
		c := &brief.File.Cells[i]
		c.Samples = lists.Filter(c.Samples, func(s params.Sample) bool { return s.Launch < 5 })
	}
	try := func(a, b Machine, want []string) {
		t.Helper()
		c := must.Get(New([]Machine{a, b}, Choice{}))
		contains.All(t, said(&c.Verdict), want...)
		check.Equal(t, strings.Contains(said(&c.Verdict), "hour"), (c.Verdict.Sessions == 1 && c.Verdict.Cells > 0), "%d sessions: %q", c.Verdict.Sessions, c.Verdict.Text)
		fmt.Fprintln(t.Output(), c.Verdict.Text)
	}
	try(session(r, "a", 1, 1), session(r, "b", 1, 1), []string{"No difference between the two machines was found in 16 cells", "may go unseen", "cannot tell a machine from its hour", "would see differences half as large"})
	try(session(r, "a", 3, 1), session(r, "b", 3, 3), []string{"16 ratios of 16 cells differ by more than 3.0 %"})
	try(session(r, "a", 2, 1), session(r, "b", 1, 1), []string{"One session of b cannot tell a machine from its hour"})
	try(session(r, "a", 2, 1), machine("b", map[int]float64{1: 1000, 2: 3000}, published), []string{"Nothing could be tested: published tables have no samples"})
	try(machine("a", map[int]float64{1: 1000, 2: 1500}, few), machine("b", map[int]float64{1: 1000, 2: 3000}, few), []string{"Nothing could be tested: a test takes samples of six launches or more of each machine, and"})
	try(brief, moved("b", 2, stay{60, 0.5, 1}, stay{240, 0.5, 1}), []string{"six launches or more of each machine in each state, and no cell"})
}

// What may go unseen is told of cells in and off cache by themselves where hours differ more off cache.
func TestUnseen(t *testing.T) {
	in, off := &Ratio{Tested: true, Visible: 0.4, drift: 0.05}, &Ratio{Tested: true, Visible: 1, drift: 0.1}
	try := func(want string, drift Drift, all ...*Ratio) {
		t.Helper()
		check.Equal(t, unseen(all, drift), want, "what may go unseen")
	}
	try("40 % in cache and 100 % off cache", DefaultDrift, off, in, nil, &Ratio{Visible: 9})
	try("40 %", DefaultDrift, in, in)
	try("100 %", DefaultDrift, off)
	try("40 %", *Everywhere(0.05), in)
}

// published leaves no samples.
var published = each(func(c *params.Cell) { c.Samples, c.Time = nil, fit.Unbounded(c.Time.Center) })

// few leaves two samples of each cell.
var few = each(func(c *params.Cell) {
	c.Samples = c.Samples[:2]
	c.Time = fit.Median(c.Values())
})

// Among alike machines there is an outlier in one fleet of twenty or fewer; one that
// is half as fast in all its cells is found.
func TestFleetOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	outliers := func(n int, slower float64) []Outlier {
		machines := lists.Map(lists.Indices(n), func(i int) Machine {
			if i == 3 {
				return session(r, "node3", 1, slower)
			}
			return session(r, fmt.Sprint("node", i), 1, 1)
		})
		return must.Get(NewOverview(lists.Map(machines, Reduce), Choice{})).Outliers
	}
	for _, n := range []int{10, 30} {
		const tries = 100
		wrong, found := 0, 0
		for range tries {
			if len(outliers(n, 1)) > 0 {
				wrong++
			}
			if of := outliers(n, 2); len(of) > 0 && of[0].Machine == "node3" {
				found++
			}
		}
		check.True(t, 20*wrong <= tries && 10*found >= 9*tries,
			"%d machines: %d of %d fleets of alike ones have outliers, and one at half the speed is found in %d", n, wrong, tries, found)
	}
	check.Empty(t, outliers(9, 2), "nine machines have outliers")
}

// A fleet without samples has no answer, and no all-clear; a machine without them is named. What published tables
// lack by nature is no failure, and they are not tested beside too few machines that were measured.
func TestFleetUntested(t *testing.T) {
	try := func(tested int, others func(*params.File), untested bool, want string, few int) { // others: of machines that are not tested
		t.Helper()
		machines := lists.Map(lists.Indices(Fleet+1), func(i int) Machine {
			ns := map[int]float64{1: 1000, 2: 1500}
			if i == 7 {
				ns = map[int]float64{1: 3000, 2: 4500}
			}
			m := machine(fmt.Sprint("node", i), ns)
			if i >= tested {
				others(m.File)
			}
			return m
		})
		o := must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
		check.True(t, o.Untested() == untested && (len(o.Tables) == 0) == (few == len(machines)) && strings.Contains(o.Conclusion(), want),
			"%d machines have samples: untested %v, %q", tested, o.Untested(), o.Conclusion())
		named := 0
		for _, w := range o.Warnings {
			if strings.Contains(w.What.Error(), "too few samples for an interval and are not tested") {
				named += len(w.Machines)
			}
		}
		check.Equal(t, named, few, "machines with too few samples beside %d with enough", tested)
	}
	try(0, few, true, "Nothing could be tested: that takes a cell of which 10 machines have", 11)
	try(Fleet-1, few, true, "Nothing could be tested", 2)
	try(Fleet, few, false, "Outliers: 1 of 11 machines", 1)
	try(0, published, false, "an interval; published tables have none.", 0)
	try(Fleet-1, published, false, "an interval; published tables have none.", 0)
	try(Fleet, published, false, "Outliers: 1 of 11 machines", 0)
}

// simulated is some sessions of a simulated machine of 16 cores, whose host moves its CPUs between states.
func simulated(t *testing.T, name string, sessions int, slower float64, seed uint64, taus, sizes []int, states ...surveytest.State) Machine {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 2, 8, 1), Latency: 100 * slower, PerByte: 0.05 * slower, Far: 1,
		Sigma: 0.05, Kappa: 0.004, Noise: 0.01, Cost: func(setups.Work) float64 { return 2000 * slower },
		States: states, Between: 300 * time.Millisecond}, seed)
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: sizes, Taus: taus, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true}}
	for range sessions {
		s.Measure(t, f, transfers.Survey, transfers.Request{Plan: f.Plan})
	}
	return Machine{Name: name, Path: name + ".json", File: f}
}

// Where sessions differ by as little as they are taken to, a machine that is 10 % slower is found in
// 80 % of pairs or more; of a machine and itself one comparison in 20 at the most calls a cell
// different. States take eight samples each to be told apart, on the same CPUs in one session.
func TestPower(t *testing.T) {
	pairs := 2
	if os.Getenv("TAULOP_LONG") != "" {
		pairs = 100
	}
	taus, sizes := []int{1, 2, 8}, []int{64, 128, 256, 512, 1024, 2048, 4096, 8192}
	moving := []surveytest.State{{Flag: 60, Times: 1, Lasts: 40 * time.Millisecond}, {Flag: 240, Times: 1.5, Lasts: 40 * time.Millisecond}}
	for _, tt := range []struct {
		sessions int
		drift    float64
		states   []surveytest.State
	}{{1, 0.01, nil}, {3, 0.02, nil}, {3, 0.02, moving}} {
		for _, slower := range []float64{1, 1.1} {
			found, cells, differ := 0, 0, 0
			for i := range uint64(pairs) {
				a := simulated(t, "a", tt.sessions, 1, 2*i+100, taus, sizes, tt.states...)
				b := simulated(t, "b", tt.sessions, slower, 2*i+101, taus, sizes, tt.states...)
				c := must.Get(New([]Machine{a, b}, Choice{Sizes: sizes, Test: &Test{Drift: Everywhere(tt.drift), Least: DefaultLeast}}))
				cells, differ = cells+c.Verdict.Cells, differ+c.Verdict.Differ
				if c.Verdict.Differ > 0 {
					found++
				}
			}
			says := fmt.Sprintf("%d sessions, drift %g, %d states, %g times as slow: %d of %d pairs differ, %d of %d cells", tt.sessions, tt.drift, len(tt.states), slower, found, pairs, differ, cells)
			t.Log(says)
			check.True(t, cells != 0 && (slower <= 1 || 5*found >= 4*pairs) && (slower != 1 || 20*found <= pairs && 20*differ <= cells), "%v", says)
		}
	}
}

// Memory differs more from hour to hour than caches.
func TestDriftOfCells(t *testing.T) {
	test := Test{Drift: &Drift{0.05, 0.1}}
	for k, want := range map[params.Key]float64{
		{Kind: params.TransferCell}: 0.05, {Kind: params.TransferCell, OffCache: true}: 0.1,
		{Kind: params.PairCell}: 0.05, {Kind: params.LevelCell}: 0.1,
	} {
		check.Equal(t, test.cell(k).Drift, want, "%v", k)
	}
	check.Equal(t, test.Between(nil, true).Drift, 0.1, "of predictions off cache")
	check.Equal(t, test.Drift.String(), "5.0 % in cache and 10 % off cache", "in words")
	check.Equal(t, Everywhere(0.05).String(), "5.0 %", "in words")
}

// Hours differ less within a state of the machine; one file without looks does not tell states apart.
func TestAssumedDrift(t *testing.T) {
	looked, not := new(params.File), new(params.File)
	looked.Watch(0, []int{0, 1})
	check.Equal(t, AssumedDrift(looked, looked), DefaultDrift, "drift of files with looks")
	check.Equal(t, AssumedDrift(looked, not), MixedDrift, "drift of a file with looks and one without")
}
