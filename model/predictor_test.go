package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Defaults of a choice come from the file.
func TestPredictorFillsIn(t *testing.T) {
	f := twoNodes()
	p := predictorOf(t, f, Choice{})
	check.True(t, p.Model == "taulop" && p.Setup == "ring" && p.Placement == numa.Local && p.Segment == 8192 && p.Largest == 8192 && p.NoGamma != nil && len(p.Warnings) == 0,
		"%+v", p)
	check.Equal(t, p.Channel, "ring, one way ping, placement local, in cache", "Channel")
	p = predictorOf(t, f, Choice{Setup: "ping", Placement: numa.Spread})
	check.Equal(t, p.Channel, "ping, placement spread, in cache", "channel")
	// A message across nodes: 2L(S,1), which costs what ping measured there.
	c := costOf(t, p, "bcast:linear", collective.Call{P: 2, M: 8192})
	check.True(t, math.Abs(c.Seconds-2*3010e-9) <= 1e-12 && c.Extrapolated, "%g s, extrapolated %v; want 6020 ns, from τ = 2 to 1", c.Seconds, c.Extrapolated)
	f.Placements[0].Oversubscribed = true
	p = predictorOf(t, f, Choice{})
	check.True(t, len(p.Warnings) == 1 && strings.Contains(p.Warnings[0].Error(), "more workers than CPUs"), "warnings %v", p.Warnings)
}

func TestPredictorRefuses(t *testing.T) {
	library := must.Get(mpi.Named("openmpi4"))
	_, n := small(0)
	segments, whole := carriers(), carriers()
	segments.Cells = slices.DeleteFunc(segments.Cells, func(c params.Cell) bool { return c.Transport != "" })
	whole.Plan.Whole = true
	alone := twoNodes()
	alone.Plan.Taus = []int{1}
	alone.Cells = slices.DeleteFunc(alone.Cells, func(c params.Cell) bool { return c.Tau > 2 })
	for i := range alone.Cells {
		alone.Cells[i].Tau = 1
	}
	try := func(f *params.File, choice Choice, want string) {
		t.Helper()
		contains.Error(t, must.Err(NewPredictor(f, choice)), want)
	}
	try(alone, Choice{}, alone.OneWorker().Error())
	try(twoNodes(), Choice{Model: "hockney"}, "take one of taulop, libtaulop, lognp, mlognp, 2log23p, log3p, loggp")
	try(twoNodes(), Choice{Model: "loggp", Stride: 64}, "contiguous messages only")
	try(twoNodes(), Choice{Stride: 64}, "no packed messages")
	try(twoNodes(), Choice{Setup: "bcast"}, "no transfers of bcast")
	try(twoNodes(), Choice{OffCache: true}, "off cache")
	try(twoNodes(), Choice{Model: "loggp"}, "no LogGP parameters")
	try(twoNodes(), Choice{Model: "mlognp"}, "no pairs")
	try(twoNodes(), Choice{Transport: CMA}, "no transfers over cma")
	try(twoNodes(), Choice{Model: "lognp", Cluster: cluster(t, "block", 2, n)}, "has one node only")
	try(twoNodes(), Choice{Model: "loggp", Cluster: cluster(t, "block", 2, n)}, "has one node only")
	try(twoNodes(), Choice{Cluster: &Cluster{Nodes: 2}}, "2 nodes need a network between them")
	try(strided(twoLevels(2, 4)), Choice{Model: "mlognp", Stride: 512}, "there are those of 64")
	try(carriers(), Choice{Transport: CMA, Model: "loggp"}, "has no single copies")
	try(carriers(), Choice{Transport: CMA, OffCache: true}, "off cache")
	try(segments, Choice{As: library}, "no transfers over cma")
	try(whole, Choice{As: library, Transport: CMA}, "whole messages")
	try(carriers(), Choice{As: library, Model: "loggp"}, "one protocol for all messages")
	try(carriers(), Choice{As: library, Segment: 64}, "its own transport")
	try(carriers(), Choice{As: library, Transport: CMA}, "its own transport")
}

// Messages over CMA are one copy with times of their own, by state of the send buffers.
func TestPredictorOverCMA(t *testing.T) {
	f := carriers()
	for _, setup := range f.Plan.Setups {
		measure(f, params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Transport: params.CMA, Buffers: params.Unchanged},
			func(m, tau int) float64 { return float64(5 * m * tau) })
	}
	try := func(choice Choice, algorithm string, ranks, m int, ns float64) {
		t.Helper()
		p := predictorOf(t, f, choice)
		expect(t, p, algorithm, collective.Call{P: ranks, M: m}, ns, "")
		contains.All(t, p.Channel, "cma", "send buffers "+choice.Buffers.String())
	}
	try(Choice{Transport: CMA}, "bcast:linear", 2, 4096, 10*4096)
	try(Choice{Transport: CMA, Buffers: params.Unchanged}, "bcast:linear", 2, 4096, 5*4096)
	try(Choice{Transport: CMA}, "allgather:ring", 2, 1024, 10*2*1024)
	try(Choice{Transport: CMA}, "allgather:ring", 4, 1024, 3*10*4*1024)
	try(Choice{Transport: CMA}, "bcast:sm-tree", 3, 4096, 10*4096+10*2*4096) // the root fills its buffer, and two read that at once
	try(Choice{Transport: CMA, BufferSegments: 8, Segment: 64}, "bcast:linear", 2, 4096, 10*4096)
}

// Costs from a time of 0 are unknown, under log_nP too.
func TestPredictorKnowsZeros(t *testing.T) {
	f := twoNodes()
	for i, c := range f.Cells {
		if c.Kind == params.TransferCell && c.Bytes == 1024 {
			f.Cells[i].Time = fit.Estimate{}
		}
	}
	for _, model := range []string{"taulop", "libtaulop", "lognp"} {
		p := predictorOf(t, f, Choice{Model: model})
		check.True(t, len(p.Warnings) != 0, "%s: no warning", model)
		for m, want := range map[int]bool{1024: true, 8192: false} {
			check.Equal(t, costOf(t, p, "allgather:ring", collective.Call{P: 2, M: m}).Unknown, want, "%s, m = %d: unknown", model, m)
		}
	}
}

// Local copies cost as measured, else a bare copy.
func TestPredictorCountsLocalCopies(t *testing.T) {
	f := twoNodes()
	without := costOf(t, predictorOf(t, f, Choice{}), "allgather:ring", collective.Call{P: 2, M: 8192}).Seconds * 1e9
	measure(f, params.Key{Kind: params.CopyCell, Placement: numa.Local}, always(100))
	expect(t, predictorOf(t, f, Choice{}), "allgather:ring", collective.Call{P: 2, M: 8192}, without+100, "")
	measure(f, params.Key{Kind: params.OwnCell, Placement: numa.Local}, always(700))
	expect(t, predictorOf(t, f, Choice{}), "allgather:ring", collective.Call{P: 2, M: 8192}, without+700, "")
}

// Predictors warn of missing measurements that their model uses.
func TestPredictorWarnsOfWhatLacks(t *testing.T) {
	f := twoNodes()
	for _, c := range f.Cells {
		c.OffCache = true
		if f.Cells = append(f.Cells, c); c.Kind == params.TransferCell {
			c.Kind, c.Setup = params.CopyCell, ""
			f.Cells = append(f.Cells, c)
			c.OffCache = false
			f.Cells = append(f.Cells, c)
		}
	}
	for _, off := range []bool{false, true} {
		for _, trip := range []struct {
			n, m, delay int
			ns          float64
		}{{1, 1, 0, 2800}, {16, 1, 0, 2800 + 15*300}, {16, 1, 9000, 2800 + 15*9200}, {1, 8192, 0, 10990}, {16, 8192, 0, 10990 + 15*4395}} {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.PRTTCell, Placement: numa.Local, OffCache: off, Tau: 1, N: trip.n, Bytes: trip.m, Delay: trip.delay},
				Time: fit.Estimate{Center: trip.ns, Lo: trip.ns, Hi: trip.ns, N: 6}})
		}
	}
	for _, ping := range []bool{true, false} {
		if !ping {
			f.Plan.Setups = f.Plan.Setups[:1]
			f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool { return c.Setup == params.Ping })
		}
		for name, lacks := range map[string]map[bool][]error{
			"taulop": {false: {errNoPing}, true: {errNoOwn, errNoPing, errNoSendrecv}},
			"lognp":  {false: {errNoPing}, true: {errNoOwn, errNoPing}}, "loggp": {true: {errNoOwn}}, "libtaulop": {},
		} {
			for _, off := range []bool{false, true} {
				want := slices.DeleteFunc(slices.Clone(lacks[off]), func(err error) bool { return ping && err == errNoPing })
				p := predictorOf(t, f, Choice{Model: name, OffCache: off})
				check.Slices(t, p.Warnings, want, "%s, off cache %v, ping %v", name, off, ping)
			}
		}
	}
}

// A rank touches what it sends and receives, a sender of one-way messages less.
func TestTouched(t *testing.T) {
	for _, tt := range []struct {
		algorithm  string
		want, sent int // times m
	}{{"bcast:binomial", 1, 1}, {"allgather:ring", 1 + 4, 1 + 4}, {"alltoall:pairwise", 4 + 4, 4 + 4}, {"scatter:linear", 4 + 1, 4 + 1}, {"gather:linear", 1 + 4, 1},
		{"gather:binomial", 1 + 4, 1 + 2}, {"allreduce:recursive-doubling", 1 + 1 + 1, 1 + 1 + 1}} {
		_, got, sent := touched(schedule(t, tt.algorithm, collective.Call{P: 4, M: 4096, Element: 4}))
		check.Equal(t, got, tt.want*4096, "%s: bytes", tt.algorithm)
		check.Equal(t, sent, tt.sent*4096, "%s: bytes sent", tt.algorithm)
	}
}

// A call has a context if its segments have the measured size and its footprint exceeds one.
func TestPredictorContext(t *testing.T) {
	try := func(choice Choice, algorithm string, m, want int) {
		t.Helper()
		p := predictorOf(t, twoNodes(), choice)
		check.Equal(t, p.Context(schedule(t, algorithm, collective.Call{P: 4, M: m})), want, "%+v, %s of %d", choice, algorithm, m)
	}
	try(Choice{}, "bcast:binomial", 8192, 0)
	try(Choice{}, "bcast:binomial", 8193, 8193)
	try(Choice{}, "allgather:ring", 2048, 5*2048)
	try(Choice{Model: "lognp"}, "allgather:ring", 2048, 5*2048)
	try(Choice{Strict: true}, "allgather:ring", 2048, 0)
	try(Choice{Segment: 1024}, "allgather:ring", 2048, 0)
	try(Choice{Transport: Whole}, "allgather:ring", 2048, 0)
	try(Choice{Model: "libtaulop"}, "allgather:ring", 2048, 0)
}

// Off cache, exchanges of temporary buffers cost as in cache; a local copy has one end there.
func TestTemporaryBuffersAreInCache(t *testing.T) {
	f := twoNodes()
	for _, c := range slices.Clone(f.Cells) {
		if c.Kind == params.TransferCell {
			c.OffCache = true
			c.Time.Center *= 10
			f.Cells = append(f.Cells, c)
		}
	}
	for off, ns := range map[bool]float64{false: 100, true: 300} {
		measure(f, params.Key{Kind: params.OwnCell, Placement: numa.Local, OffCache: off}, always(ns))
	}
	gamma := &params.Gamma{Operators: []params.Operator{{Name: "sum", Curve: params.Curve{Sizes: []int{1}, Taus: []int{1}, Times: [][]float64{{0}}}}}}
	c := costOf(t, predictorOf(t, f, Choice{OffCache: true, Gamma: gamma}), "reduce_scatter:recursive-halving", collective.Call{P: 2, M: 8192, Element: 4})
	for _, term := range c.Terms {
		name, ns := term.Name(), term.Seconds*1e9
		check.True(t, term.Parameter != "L" || strings.HasPrefix(name, "L°⇄°(") && math.Abs(ns-1000) <= 1e-6, "%s is %g ns, want L°⇄° and 1000", name, ns)
		check.True(t, term.Parameter != "c" || (strings.HasPrefix(name, "c→°(") || strings.HasPrefix(name, "c°→(")) && math.Abs(ns-200) <= 1e-6,
			"%s is %g ns; want c→° or c°→ and 200, half in cache and half off it", name, ns)
	}
}

// Strict has one L(S,τ) for all segments, whatever their message and pattern.
func TestPredictorIsStrict(t *testing.T) {
	f := twoNodes()
	f.Plan.Policies = f.Plan.Policies[:1]
	for _, c := range f.Cells { // segments of messages of two cost ten times as much
		if c.Kind == params.TransferCell && c.Bytes == 8192 {
			c.Bytes, c.K, c.Time = 16384, 2, c.Time.Scale(20)
			f.Cells = append(f.Cells, c)
		}
	}
	for _, tt := range []struct {
		strict    bool
		algorithm string
		m         int
		want      float64 // ns
	}{
		{true, "allgather:ring", 8192, 2000}, {true, "allgather:ring", 16384, 4000}, {false, "allgather:ring", 16384, 40000},
		{true, "bcast:linear", 8192, 2000}, {false, "bcast:linear", 8192, 2020}, // of ring, and of ping
	} {
		p := predictorOf(t, f, Choice{Strict: tt.strict})
		expect(t, p, tt.algorithm, collective.Call{P: 2, M: tt.m}, tt.want, "")
		check.True(t, !tt.strict || p.Channel == "ring, placement local, in cache", "strict: %q", p.Channel)
	}
}

// LogGP adds τ-Lop's local copies.
func TestLogGPCountsLocalCopies(t *testing.T) {
	copies := TauLop{Channels: withChannels(func(m, tau int) (float64, bool) { return float64(m * tau), true }, Channel{Way: Alone})}
	m := LogGP{Latency: 1, Overhead: 2, Gap: 3}
	s := schedule(t, "allgather:bruck", collective.Call{P: 4, M: 100})
	without := priced(t, m, s)
	m.Local = &copies
	with, err := m.Cost(s)
	want := 100.*4 + 400*4
	check.True(t, err == nil && math.Abs(with.Seconds-without.Seconds-want) <= 1e-9 && with.Extrapolated,
		"local copies cost %g, want %g; %v", with.Seconds-without.Seconds, want, err)
	copies.Channels = Uniform(plain{})
	check.Equal(t, priced(t, m, s).Seconds, without.Seconds, "cost with copies that were not measured")
}

// Times are of the nearest buffers measured, with a warning if these differ from the choice.
func TestPredictorTakesTheNearestBuffers(t *testing.T) {
	f := twoNodes()
	for _, c := range f.Cells {
		if c.Kind == params.TransferCell && c.Bytes == 8192 {
			c.Segments, c.Time.Center = 4, c.Time.Center/2
			f.Cells = append(f.Cells, c)
			c.Segments, c.SegmentBytes, c.K, c.Time.Center = 0, 1024, 8, 16000
			f.Cells = append(f.Cells, c)
			c.Segments = 4
			f.Cells = append(f.Cells, c)
		} else if c.Kind == params.TransferCell {
			c.Segments = 4
			f.Cells = append(f.Cells, c)
		}
	}
	f.Plan.MoreSegments, f.Plan.MoreSegmentBytes = []int{4}, []int{1024}
	try := func(choice Choice, channel, warning string, ns float64) { // ns: of 8192 bytes with τ = 2; 0: not measured
		t.Helper()
		choice.Setup = "ring"
		p := predictorOf(t, f, choice)
		warnings := fmt.Sprint(p.Warnings)
		check.True(t, strings.HasSuffix(p.Channel, channel) && strings.Contains(warnings, warning) && (warning == "") == (len(p.Warnings) == 0),
			"%+v: %q, %s; want %q", choice, p.Channel, warnings, warning)
		if call := (collective.Call{P: 2, M: 8192, Segment: p.Segment}); ns > 0 {
			expect(t, p, "allgather:ring", call, 2*ns, "")
		}
	}
	try(Choice{}, "buffers of 2 segments of 8192 bytes", "", 1000)
	try(Choice{BufferSegments: 4}, "buffers of 4 segments of 8192 bytes", "", 500)
	try(Choice{BufferSegments: 3}, "buffers of 4 segments of 8192 bytes", "buffers of 3 segments were not measured: buffers of 4", 500)
	try(Choice{Segment: 1024}, "buffers of 2 segments of 1024 bytes", "", 16000)
	try(Choice{Segment: 512}, "buffers of 2 segments of 1024 bytes", "segments of 512 bytes were not measured: messages in segments of 1024", 0)
}
