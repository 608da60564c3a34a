package model

import (
	"math"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// measure adds a cell of a key, of a single transfer, for each size and τ of the plan.
func measure(f *params.File, k params.Key, ns func(m, tau int) float64) {
	for _, k.Tau = range f.Plan.Taus {
		for _, k.Bytes = range f.Plan.Sizes {
			at := ns(k.Bytes, k.Tau)
			f.Cells = append(f.Cells, params.Cell{Key: k, K: 1, Transfers: 1, Time: fit.Estimate{Center: at, Lo: at, Hi: at, N: 6}})
		}
	}
}

// always is a time for all sizes and τ.
func always(ns float64) func(m, tau int) float64 { return func(int, int) float64 { return ns } }

// twoNodes is a file of four CPUs on two NUMA nodes: a transfer takes 1000 ns within a node and 3000 ns
// across, for all m and τ; a one-way transfer 10 ns more.
func twoNodes() *params.File {
	f := &params.File{Plan: params.Plan{
		Setups: []string{"ring", "ping"}, Policies: []numa.Policy{numa.Local, numa.Spread},
		Sizes: []int{1024, 8192}, Taus: []int{2, 4}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true,
	}}
	for policy, nodes := range map[numa.Policy][]int{numa.Local: {0, 0, 1, 1}, numa.Spread: {0, 1, 0, 1}} {
		workers := lists.Map(nodes, func(n int) numa.Worker { return numa.Worker{UserNode: n} })
		f.Placements = append(f.Placements, numa.Placement{Policy: policy, Workers: workers})
		for setup, ns := range map[string]float64{"ring": 1000, "ping": 1010} {
			if policy == numa.Spread {
				ns += 2000
			}
			measure(f, params.Key{Kind: params.TransferCell, Setup: setup, Placement: policy}, always(ns))
		}
	}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.OverheadCell, Placement: numa.Local, Tau: 1}})
	return f
}

// Stages of four ranks on two nodes: in recursive doubling the first exchange is within nodes with placement
// local, and the second one with spread; a ring crosses nodes in each of its three stages.
func TestStagesTakeTheTableOfTheirNodes(t *testing.T) {
	f := twoNodes()
	try := func(placement numa.Policy, algorithm string, want float64) { // want: ns, 2 transfers a stage of one segment
		t.Helper()
		p := predictorOf(t, f, Choice{Placement: placement})
		c := expect(t, p, algorithm, collective.Call{P: 4, M: 8192}, want, "")
		n := lists.Sum(c.Stages, func(s StageCost) int { return s.Repeat })
		last := c.Stages[len(c.Stages)-1]
		check.Equal(t, last.First+(last.Repeat-1)*last.Every, n, "%s: number of the last stage", algorithm)
	}
	try(numa.Local, "allgather:recursive-doubling", 2*1000+4*3000)
	try(numa.Spread, "allgather:recursive-doubling", 2*3000+4*1000)
	try(numa.Local, "allgather:ring", 3*2*3000)
	try(numa.Local, "alltoall:pairwise", 2*1000+2*2*3000)
	try(numa.Local, "bcast:binomial", 2*3010+2*1010)
}

// tripsOf is a file of launches with a factor each, and a function that adds a round trip's times by factor, 0
// for none.
func tripsOf(factors ...float64) (f *params.File, add func(n, m, delay int, variant string, ns func(factor float64) float64)) {
	f = &params.File{Plan: params.Plan{Policies: []numa.Policy{numa.Local}}, Launches: make([]params.Launch, len(factors))}
	return f, func(n, m, delay int, variant string, ns func(factor float64) float64) {
		c := params.Cell{Key: params.Key{Kind: params.PRTTCell, Placement: numa.Local, Tau: 1, N: n, Bytes: m, Delay: delay}.Named(variant)}
		for launch, factor := range factors {
			if time := ns(factor); time > 0 {
				c.Samples = append(c.Samples, params.Sample{NS: time, Launch: int32(launch)})
			}
		}
		c.Time = c.Replicates(f).Estimate()
		f.Cells = append(f.Cells, c)
	}
}

// The distance of two cores differs between launches, so o and gaps are differences within launches, not of
// the centres of cells.
func TestRoundTripsByLaunches(t *testing.T) {
	// o = 100 ns, times the factor; delayed trips have launches of distant cores alone.
	f, add := tripsOf(1, 1, 1, 1, 3, 3, 3)
	for _, m := range []int{1, 1024} {
		add(1, m, 0, "", func(x float64) float64 { return 1000 * x })
		add(16, m, 0, "", func(x float64) float64 { return 1000*x + 15*(200+float64(m-1)/1000) })
	}
	add(16, 1, 5000, "", func(x float64) float64 { return map[float64]float64{3: 3*1000 + 15*5100}[x] })
	off := params.Key{Kind: params.PRTTCell, Placement: numa.Local, OffCache: true, Tau: 1, N: 16, Bytes: 1} // of another state of the cache
	f.Cells = append(f.Cells, params.Cell{Key: off, Time: fit.Estimate{Center: 1e9}})
	m, warnings, err := assessLogGP(roundTrips(f, numa.Local, false))
	check.True(t, err == nil && len(warnings) == 0 && math.Abs(m.Overhead-1e-7) <= 1e-12 && math.Abs(m.Latency-3e-7) <= 1e-12 && math.Abs(m.Gap-2e-7) <= 1e-12,
		"%+v, %v, %v; want o = 100, L = 300 and g = 200 ns", m, warnings, err)
}

// L is over launches with all its parts, with an interval; a launch that is slow throughout does not bias it.
func TestLatencyOfAFile(t *testing.T) {
	f, add := tripsOf(1, 1.2, 1, 3, 1, 0.9, 1)
	// o_s = 50, o_r = 30 and L = 20 ns, times the factor.
	for _, m := range []int{1, 1024} {
		add(1, m, 0, "", func(x float64) float64 { return 200 * x })
		add(16, m, 0, "", func(x float64) float64 { return 200*x + 15*(60+float64(m)/64)*x })
	}
	add(16, 1, 5000, "", func(x float64) float64 { return 200*x + 15*(5000+50*x) })
	add(16, 1, 5000, params.Receiver.String(), func(x float64) float64 { return 30 * x })
	trips, latency := roundTrips(f, numa.Local, false)
	check.True(t, latency.Known() && latency.N == 7 && math.Abs(latency.Center-20e-9) <= 1e-15 && math.Abs(latency.Lo-18e-9) <= 1e-15 && math.Abs(latency.Hi-60e-9) <= 1e-15,
		"L is %+v, want 20 of 18 to 60 ns", latency)
	m, warnings, err := assessLogGP(trips, latency)
	check.True(t, err == nil && len(warnings) == 0 && len(trips) == 5 && math.Abs(m.Overhead-40e-9) <= 1e-15 && math.Abs(m.Latency-20e-9) <= 1e-15 && m.Measured == latency,
		"%d round trips, %+v, %v, %v; want o = 40 and L = 20 ns", len(trips), m, warnings, err)
}

// A ring among two packages of four NUMA nodes with two L3s of four cores each: 48 messages stay in an L3, 8
// in a node, 6 go between nodes and 2 between packages. A level's τ counts its own and all farther
// messages, and the slowest level counts.
func TestStagesTakeTheSlowestOfTheirLevels(t *testing.T) {
	m := numatest.EPYC(2, 4, 2, 4, 1)
	policies := []numa.Policy{numa.Local, numa.AcrossL3, numa.AcrossNodes, numa.AcrossPackages}
	file := func(each ...float64) *params.File { // ns of a transfer at a level, and 1 ns for each at once
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, Policies: policies,
			Sizes: []int{1024, 8192}, Taus: []int{2, 64}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, NoGamma: true}}
		f.Provenance.Levels = m.Levels(m.Allowed)
		for i, policy := range policies {
			f.Placements = append(f.Placements, must.Get(m.Place(policy, 64)))
			measure(f, params.Key{Kind: params.TransferCell, Setup: "ring", Placement: policy}, func(_, tau int) float64 { return each[i] + float64(tau) })
		}
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.OverheadCell, Placement: numa.Local, Tau: 1}})
		return f
	}
	try := func(each []float64, formula string, want float64) { // want: ns of a transfer
		t.Helper()
		p := predictorOf(t, file(each...), Choice{Strict: true})
		c := expect(t, p, "allgather:ring", collective.Call{P: 64, M: 8192}, 126*want, formula)
		levels := c.Stages[len(c.Stages)-1].Traffic.Levels
		check.True(t, levels[0].All == 48 && levels[1].All == 8 && levels[2].All == 6 && levels[3].All == 2, "messages of levels: %v", levels)
	}
	try([]float64{1000, 1000, 1000, 1000}, "63o(m) + 126L(S,64)", 1064)
	try([]float64{1000, 2000, 2000, 2000}, "63o*(m) + 126L*(S,16)", 2016)
	try([]float64{1000, 2000, 3000, 3000}, "63o**(m) + 126L**(S,8)", 3008)
	try([]float64{1000, 2000, 3000, 4000}, "63o***(m) + 126L***(S,2)", 4002)
}
