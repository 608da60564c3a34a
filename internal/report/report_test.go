package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Times, bandwidths and A(τ) of too few launches are marked.
func TestSideBySideOfFew(t *testing.T) {
	of := func(name string, launches ...float64) compare.Machine {
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, SegmentBytes: 8192}}
		for tau, setup := range map[int]string{1: params.Isolated, 2: params.Ring} {
			c := params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: "local", Tau: tau, Bytes: 8192}, K: 1, Transfers: 2, Samples: params.Samples(launches...)}
			c.Time = fit.Median(launches)
			f.Cells = append(f.Cells, c)
		}
		return compare.Machine{Name: name, File: f}
	}
	c := must.Get(compare.New([]compare.Machine{of("a", 2000, 2000, 2000, 2000, 2000, 2000), of("b", 4000, 4000, 4000)}, compare.Choice{}))
	contains.All(t, textOf(SideBySide(c)), "1  1000 ±0.0 %  ≈2000  2.00 ?", "1  8.19  ≈4.10", "2  2.00  ≈2.00", "b  ≈2000 ns  ≈2.00 of 2", "≈ too few launches for an interval")
}

// Of several tables those in which a machine is ahead are named, the others are counted.
func TestConclusions(t *testing.T) {
	of := func(name string, slower float64, launches int) compare.Machine {
		f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, SegmentBytes: 8192}}
		for _, bytes := range []int{1024, 8192, 65536} {
			for tau, setup := range map[int]string{1: params.Isolated, 2: params.Ring} {
				c := params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: "local", Tau: tau, Bytes: bytes}, K: 1, Transfers: 2}
				n := launches
				if bytes == 65536 {
					n = min(n, 5)
				}
				for i := range n {
					ns := 2000 + float64(i)
					if bytes == 8192 && tau == 2 {
						ns *= slower
					}
					c.Samples = append(c.Samples, params.Sample{NS: ns, Launch: int32(i)})
				}
				c.Time = c.Replicates(f).Estimate()
				f.Cells = append(f.Cells, c)
			}
		}
		f.Launches = make([]params.Launch, launches)
		return compare.Machine{Name: name, File: f}
	}
	c := must.Get(compare.New([]compare.Machine{of("a", 1, 8), of("b", 8, 8)}, compare.Choice{Sizes: []int{1024, 8192, 65536}}))
	contains.All(t, textOf(SideBySide(c)), "1002 ±0.1 %  1.00 ~", "1.00 ?", "8014 ±0.1 %  8.00", "S = 8K: a carries more transfers at once", "In 1 of 3 tables no machine carries", "In 1 of 3 tables which machine is ahead was not tested")
}

// A mapping that saves nothing is not called the cheapest.
func TestMapsThatTie(t *testing.T) {
	try := func(best string, overBlock, overCyclic float64, want string) {
		t.Helper()
		r := &processmap.Result{Pairs: 1, Best: best, Mappings: []processmap.Mapping{{Method: best, OverBlock: &overBlock, OverCyclic: &overCyclic}}}
		said, _, _ := strings.Cut(textOf(ProcessMap(r)), "\n")
		check.Equal(t, said, want, "%s: %g and %g", best, overBlock, overCyclic)
	}
	try("mwpm", 0.0004, 0, "The order makes no difference: block and cyclic have the hop-bytes of the best mapping found, within 0.1 %.")
	try("mwpm", 0.0004, 0.1, "No mapping found is cheaper than block by 0.1 %.")
	try("block", 0, 0.1, "No mapping found is cheaper than block.")
	try("mwpm", 0.02, 0.1, "The cheapest mapping is mwpm: it saves 2.0 % of block's hop-bytes, 10.0 % of cyclic's.")
}

// A loss has the sign that other tables have.
func TestGain(t *testing.T) {
	for share, want := range map[float64]string{0.263: "26.3", -0.357: "-35.7", -0.0001: "0.0"} {
		check.Equal(t, gain(&share), want, "gain of %g", share)
	}
	check.Equal(t, gain(nil), "–", "gain that is not known")
}

// A node without memory offers none.
func TestMemoryOfNodes(t *testing.T) {
	m := numatest.EPYC(1, 2, 1, 2, 1)
	m.Nodes[0].MemoryBytes = 0
	contains.All(t, textOf(must.Get(Topology(m, provenance.Provenance{}, 1<<30, nil, 0))), "and the memory of NUMA node 1, 1 GiB of it")
}

func TestPredictionsValues(t *testing.T) {
	p := predict.Predictions{Source: predict.Source{Machine: "here"}, Rows: []predict.Prediction{
		{Collective: "bcast", Algorithm: "linear", P: 2, Bytes: 8192, Microseconds: 1.5, Lo: new(1.25), Hi: new(1.75), Extrapolated: true, Cheapest: true},
	}}
	want := "machine,collective,algorithm,P,m_bytes,cost_us,lo_us,hi_us,extrapolated,cheapest\nhere,bcast,linear,2,8192,1.500000,1.250000,1.750000,true,true\n"
	check.Equal(t, must.Text(Predictions(&p).WriteCSV), want, "CSV")
}

// A prediction without any known cost begins with a sentence, too.
func TestUnknownCosts(t *testing.T) {
	p := predict.Predictions{Rows: []predict.Prediction{{Collective: "bcast", Algorithm: "linear", P: 2, Bytes: 8, Unknown: true}}}
	check.Equal(t, Predictions(&p).Answer(), "No cheapest algorithm is known: each row has an unknown cost.", "Answer")
}

// The answer has three lines at most, the last of which counts the others.
func TestCheapestOfMany(t *testing.T) {
	var rows []predict.Prediction
	for p := range 5 {
		rows = append(rows, predict.Prediction{Collective: "bcast", Algorithm: "linear", P: p + 2, Bytes: 8, Microseconds: 1})
	}
	got := cheapest(rows)
	check.Equal(t, len(got), 3, "lines of %q", got)
	check.Equal(t, got[2], "The tables show the cheapest for 3 more ranges of m.", "the last line")
}

// A note names the machines with extrapolated costs.
func TestMachinesExtrapolated(t *testing.T) {
	machine := func(name string, us float64) *predict.Predictions {
		return &predict.Predictions{Source: predict.Source{Machine: name}, Rows: []predict.Prediction{{Collective: "bcast", Algorithm: "linear", P: 4, Bytes: 8, Microseconds: us}}}
	}
	a, b := machine("a", 4), machine("b", 2)
	a.Measured, b.Measured, b.Rows[0].Extrapolated = "m up to 4", "m up to 1", true
	got := textOf(Machines(predict.NewMachines([]*predict.Predictions{a, b}, nil, fit.Test{})))
	check.Equal(t, strings.Count(got, "~ extrapolated"), 1, "notes")
	contains.All(t, got, "~ extrapolated on b: measured are m up to 1.\n")
	check.True(t, strings.Index(got, "a, from") > strings.Index(got, "~ extrapolated"), "files are named before the costs: %s", got)
}

// Shares of terms add up to 100 %, and rare states share a line.
func TestExplanation(t *testing.T) {
	e := predict.Explanation{Described: "here", Formula: "a + b + c",
		States: []predict.StateCost{{State: params.State{NS: 60, Share: 0.6}, Microseconds: 1}, {State: params.State{NS: 240, Share: 0.33}, Microseconds: 2}}}
	for _, name := range []string{"L(S,1)", "L(S,2)", "L(S,4)"} {
		e.Terms = append(e.Terms, predict.ExplainTerm{Parameter: name, Times: 2, Value: 0.5, Microseconds: 1, Share: 1. / 3})
	}
	said := text(func(w *document.Document) { sayExplanation(w, &e) })
	contains.All(t, said, "  other states, 7 % of the time together: in the mean above", "     L(S,1)      2  ×  0.5000  =  1.000   33.4\n", "     L(S,2)      2  ×  0.5000  =  1.000   33.3\n", "  100.0\n")
}

// Numbers in text: costs have four digits, sizes three, an error that rounds to 0.0 a plus; gains are ranges
// over the sizes of a line, with or without a rule.
func TestTexts(t *testing.T) {
	stages := func(every, repeat int) string {
		return stageNumbers(predict.ExplainStage{First: 4, Every: every, Repeat: repeat})
	}
	gain := func(least, most float64, rule *mpi.Setting, why tune.Why) string {
		return (&tuningSpan{Gain: least, Most: most, Rule: rule, Why: why}).gain()
	}
	for _, tt := range []struct{ got, want string }{
		{microseconds(0, false), "0"}, {microseconds(0.00000125, false), "0.000001"}, {microseconds(0.00125, false), "0.001250"},
		{microseconds(6.5432, false), "6.543"}, {microseconds(654.32, false), "654.3"}, {microseconds(6543210, false), "6543000"},
		{microseconds(-0.08123, false), "-0.08123"}, {microseconds(1, true), "~1.000"},
		{signed(-1e-9), "+0.0"}, {signed(1e-9), "+0.0"}, {signed(-0.001), "-0.1"}, {signed(0.001), "+0.1"}, {signed(-12), "-1200"},
		{rounded(0), "-"}, {rounded(64), "64 B"}, {rounded(1280 << 10), "1.25 MiB"}, {rounded(1000 << 20), "0.977 GiB"}, {rounded(538 << 30), "538 GiB"},
		{stages(2, 1), "4"}, {stages(1, 7), "4–10"}, {stages(2, 2), "4, 6"}, {stages(2, 5), "4, 6 … 12"},
		{gain(0.21, 0.26, &mpi.Setting{ID: 4}, ""), "21–26 rule"}, {gain(0.04, 0.18, nil, tune.Little), "4–18"}, {gain(0.181, 0.184, nil, tune.Little), "18"},
		{gain(0, 0, nil, tune.Little), ""}, {gain(0.3, 0.4, nil, "unsure"), "30–40, unsure"}, {gain(0, 0, nil, "unsure"), "unsure"},
	} {
		check.Equal(t, tt.got, tt.want, "text")
	}
}

func TestProfiles(t *testing.T) {
	cell := func(kind params.Kind, variant string, bytes int, ns float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: kind, Placement: numa.Local, Tau: 1, Bytes: bytes}.Named(variant), Time: fit.Median([]float64{ns})}
	}
	file := &params.File{Cells: []params.Cell{
		cell(params.LevelCell, "L2-memory", 8192, 200),
		cell(params.LevelCell, "L2-memory", 64, 10), // X rises
		cell(params.AccessCell, "read-float64-4", 1024*4*8, 2048),
		cell(params.AccessCell, "read-float64-1", 1024*8, 1024),
		cell(params.AccessCell, "read-float64-1", 2048*8, 1024), // another N
		cell(params.AccessCell, "fly-float64-1", 2048*8, 1024),  // of a newer version
		cell(params.PackCell, "4K8S", 4096, 900),
		cell(params.PackCell, "4K16S-L3", 4096, 2000),
		cell(params.DiskCell, "read-direct", 4096, 90e3),
		cell(params.PairCell, "0-1", 0, 60),
		{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: 2, Bytes: 64}, K: 1, Transfers: 2, Time: fit.Median([]float64{5})},
	}}
	var got []string
	for _, p := range survey.Profiles(file) {
		text := fmt.Sprintf("%s: %s: %s (%d) over %s:", p.Kind, p.Panel, p.Line, p.Size, p.Over)
		for _, q := range p.Points {
			text += fmt.Sprintf(" %d %g", q.X, q.Y.Center)
		}
		got = append(got, text)
	}
	want := []string{
		"access: float64, N = 1K: read (0) over stride, elements: 1 1 4 2",
		"access: float64, N = 2K: read (0) over stride, elements: 1 0.5",
		"disk: page cache out: read (0) over m, bytes: 4096 90000",
		"level: τ = 1: L2 → memory (0) over m, bytes: 64 10 8192 200",
		"pack: packing: 4K (4096) over stride d, bytes: 8 900",
		"pack: one way, L3: 4K (4096) over stride d, bytes: 16 2000",
	}
	check.Slices(t, got, want, "got")
}

// A run of sizes says that its algorithm is the cheapest, also where its last size cannot tell; a lone one has only
// its cost.
func TestCheapestRun(t *testing.T) {
	row := func(algorithm string, bytes int, cost float64, cheapest bool) predict.Prediction {
		return predict.Prediction{Collective: "bcast", Algorithm: algorithm, P: 2, Bytes: bytes, Microseconds: cost, Cheapest: cheapest}
	}
	lone := []predict.Prediction{row("a", 1, 1, false), row("a", 1024, 10, false)}
	check.Slices(t, cheapest(lone), []string{"bcast, P = 2: a: 1.000 µs at m = 1 to 10.00 µs at m = 1K"}, "lone")
	two := []predict.Prediction{row("a", 1, 1, true), row("b", 1, 2, false), row("a", 1024, 10, false), row("b", 1024, 11, false)}
	check.Slices(t, cheapest(two), []string{"bcast, P = 2: a is the cheapest, alone or tied: 1.000 µs at m = 1 to 10.00 µs at m = 1K"}, "two")
	tied := []predict.Prediction{row("a", 1, 1.2, true), row("b", 1, 1.1, true), row("c", 1, 1, true), row("a", 1<<10, 10, true), row("b", 1<<10, 10.5, true), row("c", 1<<10, 20, false)}
	check.Slices(t, cheapest(tied), []string{"bcast, P = 2: within 1 % of each other are a and b: 1.100 µs at m = 1 to 10.00 µs at m = 1K"}, "c left the tie")
}
