package mpibench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A machine with a known channel: o is 500 ns, a byte takes 0.1 ns, and a share s longer for every other
// concurrent transfer.
const (
	overhead = 500.0
	perByte  = 0.1
)

func transferOf(m, tau int, share float64) float64 {
	return perByte * float64(m) * (1 + share*float64(tau-1))
}

var sizesOfTest = []int{0, 64, 1024, 65536, 1 << 20}

// imbText is IMB's output of a benchmark; times in ns.
func imbText(title, ranks, column string, sizes []int, ns func(m int) float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarking %s\n%s\n#----------\n #bytes #repetitions %s Mbytes/sec\n", title, ranks, column)
	for _, m := range sizes {
		fmt.Fprintf(&b, "%d 1000 %.6f 0.00\n", m, ns(m)/1e3)
	}
	return b.String() + "\n"
}

func processes(n int) string { return fmt.Sprintf("# #processes = %d", n) }

func groups(n int) string {
	return fmt.Sprintf("# ( %d groups of 2 processes each running simultaneous )", n)
}

func osuText(title, header string, sizes []int, value func(m int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# OSU MPI %s Test v7.4\n%s\n", title, header)
	for _, m := range sizes {
		fmt.Fprintf(&b, "%d  %s\n", m, value(m))
	}
	return b.String()
}

// All combinations of benchmarks give the same channel.
func TestChannelOf(t *testing.T) {
	const share = 0.3
	oneWay := func(tau int, copies Copies) func(m int) float64 {
		return func(m int) float64 { return overhead + float64(copies)*transferOf(m, tau, share) }
	}
	us := func(ns func(m int) float64) func(m int) string {
		return func(m int) string { return fmt.Sprintf("%.6f", ns(m)/1e3) }
	}
	alone := imbText("PingPong", processes(2), "t[usec]", sizesOfTest, oneWay(1, 2))
	// In a stream a pair copies into the segment and out of it concurrently.
	stream := func(pairs int, gap func(m int) float64) string {
		return osuText("Multiple Bandwidth / Message Rate", fmt.Sprintf("# [ pairs: %d ] [ window size: 64 ]\n# Size  MB/s  Messages/s", pairs),
			sizesOfTest[1:], func(m int) string {
				return fmt.Sprintf("%.9f  %.2f", float64(m*pairs)/(gap(m)/1e3), 1e9*float64(pairs)/gap(m))
			})
	}
	between := func(pairs int) func(m int) float64 {
		return func(m int) float64 { return 150 + transferOf(m, pairs, share) }
	}
	within := func(pairs int) func(m int) float64 { return between(2 * pairs) }
	for _, tt := range []struct {
		name                  string
		copies                Copies
		text                  string
		pairs, ping, sendrecv []int // ping and sendrecv: τ
	}{
		{"Sendrecv", WithinNode, alone +
			imbText("Sendrecv", processes(2), "t_max[usec]", sizesOfTest, oneWay(2, 2)) +
			imbText("Sendrecv", processes(4), "t_max[usec]", sizesOfTest, oneWay(4, 2)), nil, nil, []int{1, 2, 4}},
		{"PingPing and Exchange", WithinNode, alone +
			imbText("PingPing", processes(2), "t[usec]", sizesOfTest, oneWay(2, 2)) +
			imbText("Exchange", processes(8), "t_max[usec]", sizesOfTest, func(m int) float64 { return 2 * oneWay(8, 2)(m) }), nil, nil, []int{1, 2, 8}},
		{"Sendrecv rather than Exchange", WithinNode, alone +
			imbText("Sendrecv", processes(4), "t_max[usec]", sizesOfTest, oneWay(4, 2)) +
			imbText("Exchange", processes(4), "t_max[usec]", sizesOfTest, func(m int) float64 { return 9 * oneWay(4, 2)(m) }), nil, nil, []int{1, 4}},
		{"PingPong -multi 0", WithinNode, alone + imbText("Multi-PingPong", groups(3), "t_max[usec]", sizesOfTest, oneWay(3, 2)), nil, []int{1, 3}, nil},
		{"osu_multi_lat", WithinNode, osuText("Latency", "# Size  Latency (us)", sizesOfTest, us(oneWay(1, 2))) +
			osuText("Multi Latency", "# Size  Latency (us)", sizesOfTest, us(oneWay(2, 2))) +
			osuText("Multi Latency", "# Size  Latency (us)", sizesOfTest, us(oneWay(16, 2))), []int{2, 16}, []int{1, 2, 16}, nil},
		{"osu_mbw_mr", WithinNode, alone + stream(1, within(1)) + stream(4, within(4)), nil, []int{1, 4}, nil},
		{"osu_bw and osu_mbw_mr between nodes", BetweenNodes, imbText("PingPong", processes(2), "t[usec]", sizesOfTest, oneWay(1, 1)) +
			osuText("Bandwidth", "# Size  Bandwidth (MB/s)", sizesOfTest[1:], func(m int) string { return fmt.Sprintf("%.9f", float64(m)/(between(1)(m)/1e3)) }) +
			stream(2, between(2)) + stream(8, between(8)), nil, []int{1, 2, 8}, nil},
	} {
		results := must.Get(Read(strings.NewReader(tt.text), "out.txt"))
		left, lacking := results.SayPairs(tt.pairs)
		check.True(t, len(left) == 0 && lacking == 0, "%s: pairs %v are left, those of line %d lack", tt.name, left, lacking)
		c := must.Get(ChannelOf(results.Times, tt.copies))
		check.Near(t, c.Overhead.Center, overhead, 0.01, "%s: o, ns", tt.name)
		for i, taus := range [][]int{tt.ping, tt.sendrecv} {
			got := [][]Transfer{c.OneWay, c.Exchange}[i]
			for _, l := range got {
				x := transferOf(l.Bytes, l.Tau, share)
				check.Near(t, l.Time.Center, x, 1e-3*x+0.01, "%s, exchanges %t: L(%d,%d), ns", tt.name, i > 0, l.Bytes, l.Tau)
			}
			check.Slices(t, lists.Rising(lists.Map(got, func(l Transfer) int { return l.Tau })), taus, "%s, exchanges %t: τ", tt.name, i > 0)
		}
		file := c.File(true)
		if tt.copies == BetweenNodes {
			file = c.Network(params.Network{Name: "ib0", Kind: "ib"})
		}
		check.NoError(t, file.Validate(), "%s", tt.name)
	}
}

// The gap of a stream is not the time of a message: streams alone give no channel.
func TestChannelOfRefuses(t *testing.T) {
	const latency = "# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n0  1.00\n8  1.10\n64  1.20\n1024  2.00\n"
	stream := func(pairs int) string {
		return fmt.Sprintf("# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: %d ] [ window size: 64 ]\n# Size  MB/s\n64  1000.00\n1024  2000.00\n", pairs)
	}
	for _, tt := range []struct{ text, want string }{
		{stream(1) + stream(4), "no message was alone"},
		{latency, "one number of pairs of ranks"},
		{latency + latency, "one number of pairs of ranks"},
		{latency + stream(4), "a stream of one pair"},
		{"# Benchmarking Bcast\n# #processes = 2\n#bytes #repetitions t_max[usec]\n64 1000 3.00\n", "no message was alone"},
		{latency + "# Benchmarking Sendrecv\n# #processes = 2\n#bytes #repetitions t_max[usec]\n64 1000 3.00\n", "fewer than two sizes"},
	} {
		results := must.Get(Read(strings.NewReader(tt.text), "out.txt"))
		contains.Error(t, must.Err(ChannelOf(results.Times, WithinNode)), tt.want)
	}
}

// Sizes without some τ are left out, and so are messages that take no longer than o(m).
func TestChannelLeavesOut(t *testing.T) {
	text := imbText("PingPong", processes(2), "t[usec]", []int{1, 2, 64, 128, 4096}, func(m int) float64 { return max(500, 400+2*float64(m)) }) +
		imbText("Sendrecv", processes(2), "t_max[usec]", []int{1, 2, 64, 4096}, func(m int) float64 { return 600 + 3*float64(m) })
	results := must.Get(Read(strings.NewReader(text), "out.txt"))
	c := must.Get(ChannelOf(results.Times, WithinNode))
	check.Equal(t, len(c.LeftOut), 2, "left out")
	contains.All(t, strings.Join(omitted(c.LeftOut), "\n"), "m = 128 not every τ", "m = 1, 2 some took no longer")
	check.Equal(t, c.Overhead.Center, 500, "o")
	check.Equal(t, len(c.Exchange), 4, "number of exchanges")
	large := strings.ReplaceAll(strings.ReplaceAll(text, "\n1 1000", "\n10 1000"), "\n2 1000", "\n20 1000")
	results = must.Get(Read(strings.NewReader(large), "out.txt"))
	c = must.Get(ChannelOf(results.Times, WithinNode))
	check.True(t, c.Overhead.N == 0 && c.Overhead.Center == 0 && len(c.File(false).Warnings) == 2, "no small message: %+v", c)
}

// Own copies and γ are from the first placement of a sweep.
func TestWithOwn(t *testing.T) {
	results := must.Get(Read(strings.NewReader(imbText("PingPong", processes(2), "t[usec]", sizesOfTest, func(m int) float64 { return 400 + float64(m) })+
		imbText("Sendrecv", processes(2), "t_max[usec]", sizesOfTest, func(m int) float64 { return 500 + 2*float64(m) })), "out.txt"))
	c := must.Get(ChannelOf(results.Times, WithinNode))
	sweep := &params.File{Plan: params.Plan{Policies: []numa.Policy{numa.Local, numa.Spread}, Operators: []string{"SUM_I"}}}
	for _, placement := range sweep.Plan.Policies {
		for _, m := range []int{64, 4096} {
			for _, k := range []params.Key{{Kind: params.OwnCell}, {Kind: params.CopyCell}, {Kind: params.CopyCell, Setup: "share"}, {Kind: params.GammaCell, Operator: "SUM_I"}, {Kind: params.TransferCell, Setup: params.Ring}} {
				k.Placement, k.Tau, k.Bytes = placement, 1, m
				ns := fit.Estimate{Center: float64(m), Lo: float64(m), Hi: float64(m)}
				sweep.Cells = append(sweep.Cells, params.Cell{Key: k, Time: ns, Samples: params.Samples(float64(m))})
			}
		}
	}
	f := c.File(false)
	before := len(f.Cells)
	WithOwn(f, sweep)
	must.Do(f.Validate())
	check.Equal(t, len(f.Cells), before+6, "cells")
	check.Equal(t, must.Get(f.Own("", false)).Times[0][0], 64e-9, "own copies")
	check.Equal(t, len(must.Get(f.Gamma("")).Operators), 1, "γ")
	// A channel of the other state of the cache gives its messages, too.
	both := c.File(true)
	WithOwn(both, f)
	must.Do(both.Validate())
	for _, off := range []bool{false, true} {
		check.Slices(t, must.Get(both.Table(params.Selection{Setup: params.Sendrecv, OffCache: off})).Transfers.Sizes, f.Plan.Sizes, "off cache %v", off)
	}
	again := c.File(false)
	WithOwn(again, f)
	check.Equal(t, len(again.Cells), len(f.Cells), "cells of one state of the cache")
}

// Reductions are no messages: within nodes they give γ, between nodes nothing.
func TestChannelKnowsReductions(t *testing.T) {
	results := must.Get(Read(strings.NewReader("# MPI_Datatype for reductions : MPI_INT\n"+
		imbText("Reduce_local", processes(2), "t_max[usec]", sizesOfTest, func(m int) float64 { return 10 + float64(m) })+
		imbText("PingPong", processes(2), "t[usec]", sizesOfTest, func(m int) float64 { return 400 + float64(m) })+
		imbText("Multi-PingPong", groups(2), "t_max[usec]", sizesOfTest, func(m int) float64 { return 400 + 2*float64(m) })), "out.txt"))
	for copies, want := range map[Copies][]string{WithinNode: nil, BetweenNodes: {"Reduce_local"}} {
		check.Slices(t, lists.Map(must.Get(ChannelOf(results.Times, copies)).LeftOut, func(o Omission) string { return o.Benchmark }), want, "%d copies: left out", copies)
	}
}

// Times by one rank and by two replace γ of the same operator alone. Repeated runs count by their median.
func TestTakeGamma(t *testing.T) {
	text := "# MPI_Datatype for reductions : MPI_INT\n"
	for _, ns := range []float64{90, 100, 130} {
		one := func(m int) float64 { return ns + float64(m) }
		text += imbText("Reduce_local", processes(1), "t_max[usec]", []int{0, 64, 4096}, one) +
			imbText("Reduce_local", processes(2), "t_max[usec]", []int{64, 1024, 4096}, func(m int) float64 { return 2 * one(m) })
	}
	results := must.Get(Read(strings.NewReader(text), "out.txt"))
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Spread, numa.Local}, Operators: []string{"MAX_I", "SUM_I", "SUM_I_SCALAR"}}}
	for _, operator := range f.Plan.Operators {
		for _, tau := range []int{1, 2} {
			k := params.Key{Kind: params.GammaCell, Placement: numa.Spread, Operator: operator, Tau: tau, Bytes: 512}
			f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: 7, Lo: 7, Hi: 7}})
		}
	}
	operators, leftOut := TakeGamma(f, results.Times)
	check.True(t, slices.Equal(operators, []string{"SUM_I"}) && len(leftOut) == 1 && leftOut[0].Why == "of m = 1024 not every τ was timed of 1, 2",
		"γ of %v, left out %v", operators, leftOut)
	must.Do(f.Validate())
	gamma := must.Get(f.Gamma(""))
	for _, want := range []struct {
		operator string
		m, tau   int
		ns       float64
	}{{"SUM_I", 64, 1, 164}, {"SUM_I", 4096, 2, 8392}, {"MAX_I", 512, 2, 7}} {
		s, beyond, err := gamma.Gamma(want.operator, want.m, want.tau)
		ns := s * 1e9
		check.True(t, err == nil && !beyond && ns >= want.ns-1e-6 && ns <= want.ns+1e-6,
			"γ of %s, m = %d, τ = %d: %g ns, %v, %v; want %g", want.operator, want.m, want.tau, ns, beyond, err, want.ns)
	}
	check.Error(t, must.Err(gamma.Operator("SUM_I_SCALAR")), "γ of one element at a time stayed, which is not how the library reduces")
	operators, leftOut = TakeGamma(f, results.Times[:0])
	check.True(t, operators == nil && leftOut == nil, "γ of %v, left out %v, of nothing", operators, leftOut)
}
