package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// fig18 is the output of taulop-2015, Fig. 18b, with intervals of ±1 %.
func fig18() *Series {
	s := &Series{Setup: "bcast", About: "about", Transfers: 1, Segments: 2, SegmentBytes: 8192, Label: "8KB", Tau: 4,
		Concurrent: true, OffCache: true, ArenaBytes: 32 << 20, Copy: "memcpy"}
	res := series.Result{}
	var Ls []fit.Estimate
	var ks []int
	var ls []fit.Estimate
	for _, r := range []struct {
		k int
		l float64
	}{{1, 3793}, {2, 7666}, {8192, 31205259}, {12288, 47056028}} {
		l := fit.Estimate{Center: r.l, Lo: 0.99 * r.l, Hi: 1.01 * r.l, N: 9}
		row := series.Row{K: r.k, Bytes: r.k * 8192, Message: l, Transfer: fit.Transfer(l, r.k, 1), Copy: fit.Median(nil)}
		res.Rows = append(res.Rows, row)
		Ls, ks, ls = append(Ls, row.Transfer), append(ks, r.k), append(ls, l)
	}
	res.By = []series.Regime{{Level: "L2", K: [2]int{1, 2}, Bytes: [2]int{8192, 16384}, L: fit.Mean(Ls[:2])}, {Level: series.Memory, K: [2]int{8192, 8192}, Bytes: [2]int{64 << 20, 64 << 20}, L: Ls[2]}}
	res.L, res.Slope = fit.Mean(Ls), fit.Slope(ks, ls)
	res.Y = fit.Estimate{Center: 200, Lo: 195, Hi: 205, N: 9}
	res.C = fit.Copy(res.L, res.Y)
	res.Copy = fit.Estimate{Center: 2000, Lo: 1990, Hi: 2010, N: 9}
	s.Finish(res, &params.File{}, nil)
	return s
}

func TestSeriesText(t *testing.T) {
	s := fig18()
	var b bytes.Buffer
	s.Document().WriteText(&b)
	text := b.String()
	contains.All(t, text,
		"l(k,τ) = k·L(S,τ)",
		"user buffers walk through 32 MB a worker (off cache)",
		"\n         k          m    l(k,4)  L(8KB,4)  95 % interval of L  launches\n  segments      bytes        ns        ns  ns\n",
		"\n     12288  100663296  47060000      3829  [3791, 3868]               9\n",
		// The mean of four rows of the paper's table.
		"L(8KB,4) = 3816 ns  [3778, 3854]",
		"[3778, 3854]  mean over k\n   in L2 = 3813 ns  [3775, 3851]  mean over k = 1 … 2, m = 8K … 16K\n  memory = 3809 ns  [3771, 3847]  mean over k = 8192, m = 64M\n   slope",
		"\n    y(4) = 200 ns  [195, 205]  synchronisation",
		"c(8KB,4) = 3616 ns",
		"With flags and partners the copy costs 181 % of what it costs alone",
		"4 transfers at once move 8.59 GB/s together.",
	)
	if strings.Contains(text, "NOT A CONCURRENCY") || strings.Contains(text, "Not fit") {
		t.Error("says that it is no measurement of concurrency, or not fit for use")
	}
	if !strings.HasPrefix(text, "L(8KB,4) = ") {
		t.Errorf("the answer does not come first:\n%s", text)
	}
	s.Concurrent, s.Provenance.Allowed = false, numa.SetOf(0, 1)
	b.Reset()
	s.Document().WriteText(&b)
	if lines := strings.SplitN(b.String(), "\n", 3); lines[1] != "NOT A CONCURRENCY MEASUREMENT: 4 workers take turns on fewer CPUs. Here take τ ≤ 2." {
		t.Errorf("second line: %s", lines[1])
	}
}
