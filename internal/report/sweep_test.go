package report

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// The summary of a file has the late batches and the clock.
func TestReach(t *testing.T) {
	f := &params.File{Launches: []params.Launch{
		{MHz: map[int]float64{0: 1, 1: 3400, 8: 2900}, Begun: params.Begun{Batches: 100, Late: 2}},
		{MHz: map[int]float64{1: 3600, 8: 3100}, Begun: params.Begun{Batches: 100}},
	}}
	try := func(change func(), want []string) {
		t.Helper()
		change()
		contains.All(t, text(func(d *document.Document) { sayReach(d, f) }), want...)
	}
	try(func() {}, []string{"2 of 200 batches were measured again, because a worker began late\n",
		"the clock of a worker's CPU was 3500 MHz at τ = 1, 3000 MHz at τ = 8: A(τ) has that in it, unless idle cores are kept busy\n"})
	try(func() { f.Provenance.Fill(true) }, []string{"3000 MHz at τ = 8\n"})
	try(func() { f.Launches[0].Begun.Forced = 2 }, []string{"in 2 of 200 batches a worker began late: 2 count nonetheless"})
	contains.None(t, text(func(d *document.Document) { sayReach(d, &params.File{}) }), "clock", "late")
}

// text is what is said in a document.
func text(say func(*document.Document)) string { return textOf(document.New("", nil, nil, say)) }

func textOf(d *document.Document) string { return must.Text(d.WriteText) }

// The plain command compares workers' times, and says that all CPUs have a worker.
func TestSeriesWorkers(t *testing.T) {
	s := fig18()
	s.Workers.Messages, s.Workers.Copies = &params.Balance{Fastest: 0.991, Typical: 0.995}, &params.Balance{Fastest: 0.9, Typical: 0.97}
	s.Begun = params.Begun{Batches: 300, Late: 3}
	s.Provenance.Allowed = numa.SetOf(0, 1, 2, 3)
	s.Results.Remarks = s.remarks(s.Results.Result)
	contains.All(t, textOf(s.Document()),
		"Of the slowest worker's time the fastest one took 99.1 % with messages, 90.0 % with copies, the median of the others 99.5 % with messages, 97.0 % with copies. 3 of 300 batches were measured again, because a worker began late.\n",
		"All 4 allowed CPUs have a worker, so other processes delay one of them: compare with τ = 3.",
	)
}

func TestSweep(t *testing.T) {
	at := func(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.02 * ns, N: 9} }
	f := &params.File{Seconds: 60, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Sizes: []int{64, 8192, 65536, 1 << 18, 1 << 19}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}}
	cell := func(setup string, tau, m, k, transfers int, l float64) {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m},
			K: k, Transfers: transfers, Time: at(l)})
	}
	cell("isolated", 1, 64, 1, 2, 300)
	cell("isolated", 1, 8192, 1, 2, 2000)
	cell("isolated", 1, 65536, 8, 2, 16000)
	cell("isolated", 1, 1<<19, 64, 2, 12560)
	cell("ring", 2, 1<<19, 64, 2, 9900)
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NullCell, Setup: "isolated", Placement: numa.Local, Tau: 1}, Time: at(40)})
	cell("ring", 2, 64, 1, 2, 400)
	cell("ring", 2, 8192, 1, 2, 1600)
	cell("ring", 2, 1<<18, 32, 2, 18000)
	f.Cells = append(f.Cells,
		params.Cell{Key: params.Key{Kind: params.MessageCell, Placement: numa.Local, Tau: 1, Bytes: 64, Variant: params.Segmented}, Time: at(380)},
		params.Cell{Key: params.Key{Kind: params.MessageCell, Placement: numa.Local, Tau: 1, Bytes: 8192, Variant: params.Segmented}, Time: at(1950)},
		params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1}.Named("0-1"), Time: at(50)},
		params.Cell{Key: params.Key{Kind: params.AccessCell, Placement: numa.Local, Tau: 1, Bytes: 4096}.Named("read-int32-1"), Time: at(2048)})
	few := &f.Cells[len(f.Cells)-3].Time // T(8K)
	*few = fit.Estimate{Center: few.Center, Lo: math.Inf(-1), Hi: math.Inf(1), N: 5}
	f.Cells[4].Time.Lo, f.Cells[4].Time.Hi = math.Inf(-1), math.Inf(1) // ring, 512K
	f.Launches = []params.Launch{{Relative: map[numa.Policy]float64{numa.Local: 0.98}}, {FirstCPU: 8, Relative: map[numa.Policy]float64{numa.Local: 1.078}}}
	// A(2) is 2·(150−20)/200 of 64 bytes, 2·(1000−20)/800, which is at least 2.35, of 8K, and 2·(6280−64·20)/4950 of 512K.
	check.Golden(t, textOf(Sweep(f, Reach{Cells: 13})), "sweep.txt")
}

// o(m) of a size whose transfers were not measured does not lack samples.
func TestOverheadsWithoutTransfers(t *testing.T) {
	message := fit.Median([]float64{95, 96, 97, 98, 99, 100, 101})
	few := fit.Estimate{Center: 5, Lo: math.Inf(-1), Hi: math.Inf(1), N: 3}
	table := overheadTable(numa.Local, false, []params.Overhead{{Bytes: 1, Message: message, Time: fit.Unbounded(5)}, {Bytes: 64, Message: message, Time: few}}, nil)
	check.Slices(t, table.Rows[0], []string{"1", "98", "?", "[L not measured]"}, "m = 1")
	check.Slices(t, table.Rows[1], []string{"64", "98", "?", "[too few samples]"}, "m = 64")
}

// A published table has no segments, no duration and no launches.
func TestMeasuredOfPublishedTable(t *testing.T) {
	table := &params.Table{Transfers: params.Curve{Sizes: []int{8}, Taus: []int{1}, Times: [][]float64{{1e-6}}}, Overheads: []float64{0}}
	contains.All(t, textOf(Measured(params.FromText(table, nil))), "L(8B,1) = 1000 ns\n", "L(m,τ) in ns, published, placement published, in cache\n  m   τ=1\n  8  1000\n", "\n2 cells, no launches\n")
	// The first numbers are those of the verdict.
	table = &params.Table{Transfers: params.Curve{Sizes: []int{8192, 1 << 22}, Taus: []int{1, 2}, Times: [][]float64{{1e-6, 1.234e-6}, {1e-3, 2e-3}}}, Overheads: []float64{0, 0}}
	contains.All(t, textOf(Measured(params.FromText(table, nil))), "L(8KB,2) = 1234 ns, A(2) = 1.62\n")
}

// A sweep begins with its numbers, whether the file is fit for use, and advice.
func TestSweepAnswer(t *testing.T) {
	at := func(ns, width float64) fit.Estimate {
		return fit.Estimate{Center: ns, Lo: (1 - width) * ns, Hi: (1 + width) * ns, N: 9}
	}
	file := func(width float64) *params.File {
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{8192}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}}}
		key := params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: 2, Bytes: 8192}
		one, none := key, key
		one.Setup, one.Tau = "isolated", 1
		none.Kind, none.Bytes = params.NullCell, 0
		f.Cells = []params.Cell{{Key: one, K: 1, Transfers: 2, Time: at(1600, width)}, {Key: key, K: 1, Transfers: 2, Time: at(1600, width)}, {Key: none, Time: at(40, width)}}
		return f
	}
	try := func(width float64, reach Reach, want string) {
		t.Helper()
		contains.All(t, textOf(Sweep(file(width), reach)), want)
	}
	try(0.02, Reach{Cells: 3, Again: "again"}, "L(8KB,2) = 800 ns [784, 816], y(2) = 40.0 ns [39.2, 40.8], A(2) = 2.00 [1.92, 2.08]\nFit for use: all 3 cells measured, 95 % intervals within ±2 % for half of them, ±2 % for 9 of 10.\nagain\n\nL(m,τ)")
	try(0.5, Reach{Cells: 3, More: "more"}, "\nNot fit for use: 95 % intervals within ±50 % for half of them, ±50 % for 9 of 10.\nmore\n\n")
	try(0.02, Reach{Cells: 9, Missing: errors.New("of 9 cells 6 were not reached"), Rest: "rest"}, "\nNot fit for use: of 9 cells 6 were not reached; half of the measured cells are within ±2 %.\nrest\n\n")
	try(0.02, Reach{Cells: 6, Missing: errors.New("of 6 cells 3 were not reached"), Rest: "rest"}, "\nFit for use where it has intervals: of 6 cells 3 were not reached; half of the measured cells are within ±2 %.\nrest\n\n")
	try(0.5, Reach{Cells: 9, Missing: errors.New("of 9 cells 6 were not reached"), Rest: "rest"}, "\nNot fit for use: of 9 cells 6 were not reached; half of the measured cells are within ±50 %.\nrest\n\n")
	for _, tt := range []struct {
		share float64
		known bool
		want  string
	}{{0.18, true, "were not reached; measuring got 18 % of the CPU time that it asked for; half of the"}, {0.9, true, "were not reached; half of the"}, {0, false, "were not reached; half of the"}} {
		r := Reach{Cells: 9, Missing: errors.New("of 9 cells 6 were not reached"), Rest: "rest"}
		r.Crowded(tt.share, tt.known)
		contains.All(t, textOf(Sweep(file(0.02), r)), tt.want)
	}
	whole := Reach{Cells: 3}
	whole.Crowded(0.1, true)
	check.NoError(t, whole.Missing, "of a whole plan")
}

// A sweep of a machine in two states has transfers, y, c and widths of intervals in each. A sweep in one
// state does not mention states.
func TestSweepByState(t *testing.T) {
	f := must.Get(params.ReadFile(sweeptest.Moved(t)))
	text, states := textOf(Sweep(f, Reach{})), f.States()
	check.Need(t, len(states) == 2, "%v", states)
	near, far := compare.InWords(states[0]), compare.InWords(states[1])
	before := -1
	for _, want := range []string{
		"The machine was in 2 states, told apart by what a flag from one to the other takes:\nflag    of the time  lasts",
		"\n\nF" + near[1:] + " of the time:\n\nL(m,τ) in ns, ring, placement local",
		"\n\nF" + far[1:] + " of the time:\n\nL(m,τ) in ns, ring, placement local",
		"\ny(τ) and c(8K,τ) = L − y in ns by what a flag takes, ring, placement local, in cache\n  τ",
		" cells in ", "\n" + near + " of the time: 95 % intervals within ±", "\n" + far + " of the time: 95 % intervals within ±",
		" samples the machine changed its state: they count for none\n",
	} {
		at := strings.Index(text, want)
		check.True(t, at > before, "%q is not there, or too early, in\n%s", want, text)
		before = at
	}
	// y, c and L of the simulated machine, and four times these.
	for _, row := range []string{`\n  2 +\d{2,3} +\d{3} +\d{3} +\d{4}\n`, `\n  8K +\d{3} +\d{3} +[12][ ↑]*\n`, `\n  8K +\d{4} +\d{4} +[12][ ↑]*\n`} {
		check.True(t, regexp.MustCompile(row).MatchString(regexp.MustCompile(`\.\d+`).ReplaceAllString(strings.ReplaceAll(text, " ?", ""), "")),
			"no row is like %s in\n%s", row, text)
	}
	contains.None(t, strings.ToLower(textOf(Sweep(must.Get(f.InState(2, params.State{NS: 60})), Reach{}))), "state", "flag ")
	for i := range f.Cells { // of too few launches numbers are marked in the first table, too
		f.Cells[i].Samples = lists.Filter(f.Cells[i].Samples, func(s params.Sample) bool { return s.Launch < 5 })
	}
	first, _, _ := strings.Cut(textOf(Sweep(f, Reach{})), " for use")
	contains.All(t, first, "≈", "≈ too few launches for an interval")
}

func TestSlowedStates(t *testing.T) {
	alone, far := params.State{NS: 60, Share: 0.5}, params.State{NS: 240, Above: 120, Share: 0.5}
	slowed := params.State{NS: 60, Share: 0.5, Slow: 9.8}
	for want, states := range map[string][]params.State{
		"":                          {alone, far},
		"Slowed is":                 {slowed, far},
		"Cores were sl":             {slowed, {NS: 240, Above: 120, Slow: 9.8}},
		"Cores were slowed all the": {slowed},
	} {
		said := text(func(w *document.Document) { sayStates(w, 2, states) })
		contains.All(t, said, "\n"+want)
		check.Equal(t, strings.HasPrefix(said, "The machine was in 2"), (len(states) == 2), "%v: two states are said", states)
	}
}

// fig18 is the output of taulop-2015, Fig. 18b, with intervals of ±1 %.
func fig18() *Series {
	s := &Series{Setup: "bcast", About: "about", Transfers: 1, Segments: 2, SegmentBytes: 8192, Label: "8KB", Tau: 4,
		Concurrent: true, OffCache: true, ArenaBytes: 32 << 20, Copy: "memcpy"}
	var res series.Result
	var Ls, ls []fit.Estimate
	ks := []int{1, 2, 8192, 12288}
	for i, ns := range []float64{3793, 7666, 31205259, 47056028} {
		l := fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 9}
		row := series.Row{K: ks[i], Bytes: ks[i] * 8192, Message: l, Transfer: fit.Transfer(l, ks[i], 1), Copy: fit.Median(nil)}
		res.Rows, Ls, ls = append(res.Rows, row), append(Ls, row.Transfer), append(ls, l)
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
	check.Golden(t, textOf(s.Document()), "series.txt") // L(8KB,4) is the mean of four rows of the paper's table
	known := s.Results.L
	s.Results.L = fit.Unbounded(known.Center)
	contains.All(t, textOf(s.Document()), "L(8KB,4) = 3816 ns  [too few samples]  mean over k\nL has no interval: more than a tenth of it is of caches or memory of which no row has launches enough.")
	s.Results.L = known
	s.Concurrent, s.Provenance.Allowed = false, numa.SetOf(0, 1, 2, 3)
	for i := range 4 {
		s.Placement.Workers = append(s.Placement.Workers, numa.Worker{CPU: numa.CPU{ID: i % 2}})
	}
	check.Equal(t, strings.SplitN(textOf(s.Document()), "\n", 3)[1], "NOT A CONCURRENCY MEASUREMENT: 4 workers take turns on fewer CPUs. Here take τ ≤ 2.", "second line")
	s.Results.Copy = fit.Median(nil) // not reached
	contains.None(t, textOf(s.Document()), "= ?")
}

// Monitoring data name the states of a machine by the baseline's flags, which stay the same from check to
// check. Without states they have no flags.
func TestCheckStates(t *testing.T) {
	cell := func(flag, ratio float64) compare.BaselineCell {
		return compare.BaselineCell{Key: params.Key{Kind: params.NullCell, Setup: "ring", Placement: "local", Tau: 2}, Flag: flag,
			Now: fit.Estimate{Center: 90}, Ratio: &compare.Ratio{Value: ratio}}
	}
	one := Check{Machine: "node07", Memory: &doubt.Carried{Share: 0.5}, Cells: []compare.BaselineCell{cell(0, 1.5)}}
	moved := Check{Machine: "node07", Cells: []compare.BaselineCell{cell(60.4, 1.5), cell(240, 1)}, States: []compare.BaselineState{
		{State: params.State{NS: 28, Share: 0.25}},
		{State: params.State{NS: 61, Share: 0.5}, Was: &params.State{NS: 60.4}},
		{State: params.State{NS: 250, Share: 0.25}, Was: &params.State{NS: 240}}}}
	try := func(name string, c Check, says, never []string) {
		t.Helper()
		var b strings.Builder
		b.WriteString(c.Performance(compare.Levels{Warning: 0.1, Critical: 0.3}) + c.Metrics())
		check.True(t, strings.HasSuffix(b.String(), "\n# EOF\n"), "%s: metrics without their end:\n%s", name, &b)
		must.Do(c.WriteJSON(&b))
		contains.All(t, b.String(), says...)
		contains.None(t, b.String(), never...)
	}
	try("one state", one, []string{"'null_ring_local_in_tau2_m0'=1.5;", `bytes="0"} 1.5`, "taulop_check_memory_peak_ratio 0.5\n", `"memory": {`}, []string{"flag", "unmet"})
	try("several", moved, []string{"'null_ring_local_in_tau2_m0_flag60ns'=1.5;", "'null_ring_local_in_tau2_m0_flag240ns'=1;", `bytes="0",flag_ns="60.4"} 1.5`,
		`taulop_check_flag_share{flag_ns="60.4"} 0.5`, `taulop_check_flag_share{flag_ns="240"} 0.25`, "taulop_check_unmet_share 0.25\n", `"flag_ns": 60.4`}, []string{`flag_ns="28"`, "memory"})
}
