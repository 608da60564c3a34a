package predict

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestMarkCheapest(t *testing.T) {
	p := Predictions{Rows: []Prediction{
		{Collective: "bcast", Algorithm: "a", P: 2, Bytes: 8, Microseconds: 3},
		{Collective: "bcast", Algorithm: "b", P: 2, Bytes: 8, Microseconds: 2},
		{Collective: "bcast", Algorithm: "c", P: 2, Bytes: 8, Microseconds: math.Nextafter(2, 3)},
		{Collective: "reduce", Algorithm: "a", P: 2, Bytes: 8, Microseconds: 1}, // the only one
		{Collective: "bcast", Algorithm: "a", P: 4, Bytes: 8, Microseconds: 5},
		{Collective: "bcast", Algorithm: "b", P: 4, Bytes: 8, Microseconds: 5}, // all are equal
		{Collective: "bcast", Algorithm: "a", P: 4, Bytes: 9, Microseconds: 0},
		{Collective: "bcast", Algorithm: "b", P: 4, Bytes: 9, Microseconds: 1},
	}}
	p.MarkCheapest()
	cheapest := lists.Map(p.Rows, func(r Prediction) bool { return r.Cheapest })
	check.Slices(t, cheapest, []bool{false, true, true, false, false, false, true, false}, "cheapest rows")
}

// A row is tied with the cheapest if their costs are alike, or differ by less than their interval.
func TestMarkTies(t *testing.T) {
	try := func(us float64, draws []float64, want bool) {
		t.Helper()
		p := Predictions{ensemble: ensemble, Rows: []Prediction{
			{Algorithm: "a", Microseconds: 1, drawn: drawn(1, 0)},
			{Algorithm: "b", Microseconds: us, drawn: draws},
			{Algorithm: "c", Microseconds: 9, drawn: drawn(1, 0)},
		}}
		p.MarkCheapest()
		r := p.Rows
		check.True(t, r[0].Cheapest && r[1].Cheapest == want && !r[2].Cheapest, "%g µs, drawn %v: %v %v %v", us, draws, r[0].Cheapest, r[1].Cheapest, r[2].Cheapest)
	}
	try(1.009, nil, true)             // within 1 %, of published parameters
	try(1.02, nil, false)             //
	try(1.02, drawn(1, 0.01), true)   // ±3 % of the ratio
	try(1.30, drawn(1, 0.01), false)  //
	try(1.30, drawn(1, 0.15), true)   //
	try(1.009, drawn(1, 0.001), true) // within 1 %, although it is known better
}

// ensemble is of twelve launches.
var ensemble = model.NewEnsemble(&params.File{Launches: make([]params.Launch, 12)}, model.Choice{})

// drawn are draws of a cost with noise.
func drawn(cost, noise float64) []float64 {
	return lists.Map(lists.Indices(40), func(i int) float64 { return cost * (1 + noise*float64(i%5-2)) })
}

// machineOf is a machine whose costs in µs are known to 2 %.
func machineOf(name string, rows ...Prediction) *Predictions {
	for i := range rows {
		rows[i].drawn = drawn(rows[i].Microseconds/1e6, 0.01)
	}
	return &Predictions{Source: Source{Machine: name}, Rows: rows, ensemble: ensemble}
}

func call(collective, algorithm string, bytes int, us float64) Prediction {
	return Prediction{Collective: collective, Algorithm: algorithm, P: 4, Bytes: bytes, Microseconds: us}
}

// Each machine has its own cheapest algorithm; costs that cannot be told apart are ties.
func TestMachines(t *testing.T) {
	a := func() *Predictions {
		return machineOf("a", call("bcast", "linear", 8, 4), call("bcast", "binomial", 8, 2), call("bcast", "linear", 64, 10), call("reduce", "linear", 8, 5))
	}
	try := func(others []*Predictions, test fit.Test, marks, want string) { // marks: by rows
		t.Helper()
		d := NewMachines(append([]*Predictions{a()}, others...), nil, test)
		got := strings.Join(lists.Map(d.Rows, func(r MachineCost) string { return map[bool]string{false: "-", true: "*"}[r.Cheapest] }), "")
		check.True(t, got == marks && strings.HasPrefix(d.Verdict.Text, want), "%s: %s\nwant %s: %s", got, d.Verdict.Text, marks, want)
	}
	try([]*Predictions{machineOf("b", call("bcast", "linear", 8, 3), call("bcast", "binomial", 8, 4), call("bcast", "linear", 64, 10.1), call("reduce", "linear", 8, 5))},
		fit.Test{Least: 0.03}, "*-----", "a is the better machine: cheaper in 1 of 3 calls, by 1.50 times at the median (bcast in 1 of 2); 2 are ties.")
	try([]*Predictions{machineOf("b", call("bcast", "linear", 8, 3), call("bcast", "linear", 64, 5), call("reduce", "linear", 8, 1))},
		fit.Test{Least: 0.03}, "*--*-*", "It depends: b is cheaper in 2 of 3 calls, by 3.5 times at the median (bcast in 1 of 2, reduce); a is cheaper in 1 of 3 calls, by 1.50 times at the median (bcast in 1 of 2).")
	// An hour may be as much.
	try([]*Predictions{machineOf("b", call("bcast", "linear", 8, 2.4), call("bcast", "linear", 64, 12), call("reduce", "linear", 8, 6))},
		fit.Test{Drift: 0.2, Least: 0.03}, "------", "Which machine is the better one cannot be told: no difference is certain in 3 calls, corrected for their number. The bare numbers are lower by more than 3 % on a in 3 of 3, by 1.20 times at the median. Single transfers, which taulop compare tests, may differ for certain where whole calls do not. Machines of one or two sessions")
	try([]*Predictions{machineOf("b", call("bcast", "linear", 8, 2), call("bcast", "linear", 64, 20)), machineOf("c", call("bcast", "linear", 8, 4), call("bcast", "linear", 64, 20))},
		fit.Test{}, "**-*---", "a is the better machine: cheaper in 1 of 2 calls, by 2.0 times at the median (bcast in 1 of 2); 1 is a tie.")
	// A machine that lacks a call does not take part in it, and has tests of its own.
	try([]*Predictions{machineOf("b", call("bcast", "linear", 8, 20), call("bcast", "linear", 64, 10)), machineOf("c", call("bcast", "linear", 64, 10))},
		fit.Test{}, "------", "Which machine is the better one cannot be told: no difference is certain in 1 call.")
	try([]*Predictions{machineOf("b", call("scatter", "linear", 8, 2))}, fit.Test{}, "----", "Nothing can be compared: no call has a cost on every machine.")
}

func TestRead(t *testing.T) {
	one := machineOf("a", call("bcast", "linear", 8, 4), call("bcast", "binomial", 8, 2))
	one.Rows[1].Lo, one.Rows[1].Hi = new(1.5), new(2.5)
	both := NewMachines([]*Predictions{one, machineOf("b", call("bcast", "linear", 8, 3))}, nil, fit.Test{})
	for kind, doc := range map[string]any{"taulop predict": one, "taulop predict machines": both} {
		var b bytes.Buffer
		must.Do(view.WriteJSON(&b, kind, 1, "", doc))
		d := must.Get(Read(&b, "a.json"))
		check.True(t, len(d.Rows) == 2 && d.Rows[0].Machine == "a" && d.Rows[0].Microseconds+d.Rows[1].Microseconds >= 5, "%+v", d)
	}
	for text, want := range map[string]string{
		`{"format":"taulop predict","rows":[]}`:                                                                                                                          "a.json has no costs",
		`{"format":"taulop verify","rows":[]}`:                                                                                                                           "not what taulop predict writes",
		`{"format":"taulop predict","rows":[{"collective":"bcast","algorithm":"x","P":0}]}`:                                                                              "row 1: bcast:x has P = 0",
		`{"format":"taulop predict","rows":[{"collective":"bcast","algorithm":"x","P":2,"cost_us":-1}]}`:                                                                 "has no cost",
		`{"format":"taulop predict","rows":[{"collective":"bcast","algorithm":"x","P":2,"cost_us":1,"lo_us":2,"hi_us":3}]}`:                                              "not within [2, 3]",
		`{"format":"taulop predict machines","machines":[{"machine":"a"}],"rows":[{"machine":"b","of":"bcast","collective":"bcast","algorithm":"x","P":2,"cost_us":1}]}`: `"b" is none of the machines`,
		``: "a.json is empty: this is not what taulop predict writes",
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(text), "a.json")), want)
	}
}

// paired is a machine of 8 CPUs on two L3s, with strided messages and a network, as in Figs. 3 and 4 of mlognp-2009.
func paired() *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	near, all := []numa.CPUSet{numa.SetOf(0, 1, 2, 3), numa.SetOf(4, 5, 6, 7)}, numa.SetOf(0, 1, 2, 3, 4, 5, 6, 7)
	f.Provenance.Levels = numa.Levels{{Name: "shared L3", Groups: near}, {Name: "same node", Groups: []numa.CPUSet{all}}}
	add := func(k params.Key, ns float64) {
		if k.Placement == "" {
			k.Placement = numa.List
		}
		k.Tau = 1
		f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6}})
	}
	surveytest.Pairs(f, 8, []int{0, 16 << 10}, 0, func(a, b, bytes int) float64 {
		times := map[int]float64{0: 1, 16 << 10: 8}[bytes]
		if a/4 != b/4 {
			return 250 * times
		}
		return 100 * times
	})
	workers := lists.Map(lists.Indices(8), func(cpu int) numa.Worker { return numa.Worker{CPU: numa.CPU{ID: cpu}} })
	f.Placements = []numa.Placement{{Policy: numa.Local, Workers: workers}}
	for size, bytes := range map[string]int{"1K": 1 << 10, "4K": 4 << 10, "16K": 16 << 10} {
		for _, d := range []string{"8", "64", "512"} {
			add(params.Key{Kind: params.PackCell, Bytes: bytes}.Named(size+d+"S"), float64(bytes)/4)
		}
	}
	f.Networks = []params.Network{{Name: "eth0", Kind: "tcp"}}
	for _, bytes := range []int{1, 64 << 10} {
		add(params.Key{Kind: params.NetCell, Bytes: bytes, Variant: params.Parameter{Of: "eth0", Name: params.NetTransfer}}, 20000+float64(bytes))
		add(params.Key{Kind: params.NetCell, Bytes: bytes, Variant: params.Parameter{Of: "eth0", Name: params.NetOverhead}}, 4000)
	}
	return f
}

// The paper's 64 processes on 8 nodes of 8: three sizes of three strides each, and log_3P above
// 2log_{2,3}P throughout. A linear broadcast has 64 halves of o' + l' in it.
func TestStrided(t *testing.T) {
	const o, l, net = 4000.0 / 2, 4096.0 / 4, 20000.0 + 4096 // o and l at each end
	for name, want := range map[string]float64{"bcast:linear": 64*(o+l) + net, "bcast:binomial": 6 * (2*(o+l) + net)} {
		d := must.Get(StridedOf(paired(), model.Choice{Cluster: &model.Cluster{Nodes: 8}}, name, 64, nil))
		got := strings.Join(d.Where, " · ")
		check.True(t, got == "in cache · placement local · P = 64 on 8 nodes, block, network eth0" && len(d.Rows) == 27, "%s: %d rows, %s", name, len(d.Rows), got)
		at := make(map[[2]int][]float64) // by size and stride, log_3P first
		for _, r := range d.Rows {
			key := [2]int{r.Bytes, r.Stride}
			at[key] = append(at[key], r.Seconds*1e9)
		}
		for key, ns := range at {
			check.True(t, len(ns) == 3 && ns[1] <= ns[2] && ns[2] < ns[0], "%s, m = %d, d = %d: log_3P, 2log, mlog %g ns", name, key[0], key[1], ns)
		}
		check.Near(t, at[[2]int{4096, 64}][0], want, 1, "%s, log_3P of 4K64S, ns", name)
	}
	d := must.Get(StridedOf(paired(), model.Choice{}, "bcast:linear", 0, []int{4096}))
	check.True(t, d.Where[2] == "P = 8" && len(d.Rows) == 9, "%+v", d)
	bare := paired()
	bare.Networks = nil
	try := func(f *params.File, c model.Choice, name string, ranks int, want string) {
		t.Helper()
		contains.Error(t, must.Err(StridedOf(f, c, name, ranks, nil)), want)
	}
	try(bare, model.Choice{Cluster: &model.Cluster{Nodes: 2}}, "bcast:linear", 0, "no network")
	try(paired(), model.Choice{OffCache: true}, "bcast:linear", 0, "no strided messages")
	try(paired(), model.Choice{}, "bcast:linear", 9, "there are 8 CPUs")
	try(paired(), model.Choice{Cluster: &model.Cluster{Nodes: 1 << 17}}, "bcast:linear", 0, "more than 262144 messages")
	try(paired(), model.Choice{}, "bcast:nosuch", 0, "nosuch")
}
