package transfers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

func TestTaus(t *testing.T) {
	for _, tt := range []struct {
		cores int
		want  string
	}{
		{1, "[1]"}, {2, "[1 2]"}, {8, "[1 2 3 4 5 6 7 8]"}, {16, "[1 2 3 4 5 6 7 8 12 15 16]"},
		{256, "[1 2 3 4 5 6 7 8 12 18 27 40 60 90 135 202 255 256]"},
	} {
		check.Equal(t, fmt.Sprint(Taus(tt.cores)), tt.want, "%d cores", tt.cores)
	}
}

// A plan of the paper's scale has every cell once, and each has a valid trial.
func TestKeys(t *testing.T) {
	p := params.Plan{Setups: []string{"ring", "ping", "sendrecv"}, Policies: []numa.Policy{numa.Local, numa.Spread}, Sizes: Sizes,
		Taus: []int{1, 2, 3}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}
	ks := Keys(p, 4)
	seen, count := make(map[params.Key]bool), make(map[params.Kind]int)
	for _, k := range ks {
		check.True(t, !seen[k], "twice: %+v", k)
		seen[k] = true
		count[k.Kind]++
		tr, times, err := trial(p, k)
		check.True(t, err == nil && times >= 1 && tr.Segments >= 1 && tr.K >= 1 && tr.Bytes <= tr.K*tr.SegmentBytes && (tr.Bytes > (tr.K-1)*tr.SegmentBytes || k.Bytes <= 0),
			"%+v: trial %+v, %g times, %v", k, tr, times, err)
	}
	// Two placements, two states of the cache, 34 sizes: ring at three τ, ping at one, sendrecv at two,
	// isolated; copies of both kinds at three τ. γ has no longest two sizes, all others for three
	// operators, powers of 4 for 15, and three for the scalar one.
	for kind, want := range map[params.Kind]int{
		params.TransferCell: 2 * 2 * 34 * (3 + 1 + 2 + 1),
		params.NullCell:     2 * (3 + 1 + 2 + 1),
		params.CopyCell:     2 * 2 * 34 * 3,
		params.OwnCell:      2 * 2 * 34 * 3,
		params.MessageCell:  2 * 2 * 8,
		params.ExchangeCell: 2 * (2*8 + 1), // and of nothing
		params.GammaCell:    3 * (3*32 + 15*10 + 3),
	} {
		check.Equal(t, count[kind], want, "cells of kind %s", kind)
	}
	asked := p
	asked.Operators = lists.Map(reduce.Published, func(o reduce.Operator) string { return o.Name })
	check.Equal(t, len(Keys(asked, 4))-len(ks), 3*(15*22-3), "cells more with all sizes of all operators") // without the scalar operator
	// Messages and exchanges need two CPUs, and sendrecv of τ = 1 takes the place of isolated.
	check.Equal(t, len(Keys(p, 1)), len(ks)-2*2*2*8-2, "cells on one CPU")
	messages := lists.Filter(ks, func(k params.Key) bool {
		return k.Kind == params.MessageCell && k.Placement == numa.Local && !k.OffCache
	})
	sizes := lists.Map(messages, func(k params.Key) int { return k.Bytes })
	check.Slices(t, sizes, []int{1, 256, 1536, 4096, 8192, 12288, 24576, 65536}, "sizes of messages")
	// Ring, ping and sendrecv have all sizes again for four and eight segments, and sizes beyond 8 KB for
	// segments of 32 KB, as isolated has.
	longer := len(Sizes) - slices.Index(Sizes, 8192) - 1
	p.MoreSegments, p.MoreSegmentBytes = []int{4, 8}, []int{32 << 10}
	check.Equal(t, len(Keys(p, 4)), len(ks)+2*2*(len(Sizes)*2+longer*3)*(3+1+2)+2*2*longer+2*2*(3+1+2), "cells with more buffers")
	p.MoreSegments, p.MoreSegmentBytes = nil, nil
	check.Slices(t, Keys(p, 4), ks, "keys of the same plan")
	p.Setups = append(p.Setups, "share")
	check.Equal(t, len(Keys(p, 4)), len(ks)+2*2*len(Sizes)*3, "cells with share")
}

// Without a choice γ is measured of the published files' operators, and of sums one element at
// a time; any may be chosen, and a plan may name others, from an imported file.
func TestOperators(t *testing.T) {
	p := params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{1, 64}, Taus: []int{1}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}}
	for _, tt := range []struct{ chosen, want []string }{
		{nil, []string{"MAX_I 4", "MAX_I 64", "MIN_I 4", "MIN_I 64"}},
		{[]string{"SUM_F", "any", "SUM_L"}, []string{"SUM_F 4", "SUM_F 64", "SUM_L 8", "SUM_L 64"}},
	} {
		p.Operators = tt.chosen
		gammas := lists.Filter(Keys(p, 1), func(k params.Key) bool { return k.Kind == params.GammaCell })
		got := lists.Map(gammas, func(k params.Key) string { return fmt.Sprint(k.Operator, " ", k.Bytes) })
		check.True(t, (tt.chosen != nil || len(got) == 2*19) && slices.Equal(got[:4], tt.want), "operators %q: %d cells, %q", tt.chosen, len(got), got)
	}
}

// A small plan gives all cells. Transfers have their k.
func TestSurvey(t *testing.T) {
	m := surveytest.Machine(t, 2)
	p := params.Plan{Setups: []string{"ring", "share"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 20000},
		Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}, ArenaCaches: 0.01, Operators: []string{"SUM_I"}}
	f := surveytest.Run(t, m, Survey, Request{p})
	check.Equal(t, len(f.Cells), len(Keys(p, m.Allowed.Len())), "cells")
	for _, c := range f.Cells {
		// Ranks' times are less an empty round's, which may be as long on a busy machine.
		check.True(t, c.Time.Center > 0 || ranked(c.Key) && c.Time.Center == 0, "%v takes %v", c.Key, c.Time)
		check.True(t, c.Kind != params.TransferCell || c.Bytes != 20000 || c.K == 3 && c.Transfers == 2, "%+v: k = %d, %d transfers", c.Key, c.K, c.Transfers)
	}
}

// y and segments come first, and γ last, one operator after the other from SUM on.
func TestTiers(t *testing.T) {
	m := &numa.Machine{Allowed: numa.SetOf(0, 1)}
	cells, _, err := Request{params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{1, 64, 1024, 8192},
		Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}}}.Cells(m)
	must.Do(err)
	tier := lists.ToMap(cells, func(c engine.Cell) (string, int) { return fmt.Sprint(c.Kind, c.Bytes, c.Operator), c.Tier })
	check.Equal(t, tier["transfer8192"], tier["null0"], "tiers of segments and y")
	check.Equal(t, tier["overhead0"], tier["null0"], "tiers of o and y")
	order := []string{"null0", "transfer1", "copy64", "gamma64SUM_I", "gamma64SUM_R", "gamma64MAX_R", "gamma64MAX_I", "gamma64MAXLOC_R"}
	for i := 1; i < len(order); i++ {
		check.True(t, tier[order[i]] > tier[order[i-1]], "%s is not of a later tier than %s", order[i], order[i-1])
	}
}

// Ranks send messages of 0 bytes, too.
func TestEmptyExchange(t *testing.T) {
	w := must.Get(work(params.Plan{Segments: 2, SegmentBytes: 8192}, params.Key{Kind: params.ExchangeCell, Placement: numa.Local, Tau: 2}, setups.Trial{}))
	n := 0
	for _, step := range w.(setups.Collective).Schedule.Steps() {
		for msg := range step.Messages() {
			n++
			check.Equal(t, msg.Bytes(), 0, "bytes of a message")
		}
	}
	check.Equal(t, n, 2, "messages")
}

// A file is resumed only with its machine, CPUs and placements.
func TestSameMachine(t *testing.T) {
	m := &numa.Machine{
		CPUs:    []numa.CPU{{ID: 0, Core: 0}, {ID: 1, Core: 1}, {ID: 2, Core: 2, Node: 1}, {ID: 3, Core: 3, Node: 1}},
		Nodes:   []numa.Node{{ID: 0, CPUs: numa.SetOf(0, 1), MemoryBytes: 1 << 30}, {ID: 1, CPUs: numa.SetOf(2, 3), MemoryBytes: 1 << 30}},
		Allowed: numa.SetOf(0, 1, 2, 3),
	}
	here := provenance.Provenance{Hostname: "a", CPUModel: "Xeon", Arch: "amd64", Allowed: m.Allowed}
	file := func(change func(*params.File)) *params.File {
		f := &params.File{Provenance: here, Plan: params.Plan{Setups: []string{"ring"}, Sizes: []int{64}, Taus: []int{1, 3}, Segments: 2, SegmentBytes: 64, Caches: []bool{false},
			Policies: []numa.Policy{numa.Local, numa.Spread}}}
		var err error
		f.Placements, err = placements(f.Plan, m, -1)
		check.Need(t, err == nil, "%v", err)
		change(f)
		return f
	}
	try := func(change func(*params.File), want string) {
		t.Helper()
		contains.Error(t, SameMachine(file(change), m, here), want)
	}
	try(func(*params.File) {}, "")
	try(func(f *params.File) { f.Provenance.Hostname = "b" }, `its host was "b", here it is "a"`)
	try(func(f *params.File) { f.Provenance.CPUModel = "EPYC" }, "processor")
	try(func(f *params.File) { f.Provenance.Allowed = numa.SetOf(0, 1) }, "measured on CPUs 0-1, and here ")
	try(func(f *params.File) { f.Placements[1].Workers[0].ID = 3 }, "placement spread puts workers elsewhere")
	try(func(f *params.File) { f.Plan.Policies = f.Plan.Policies[:1] }, "its plan has placements local, and it was measured with local,spread: put")
	try(func(f *params.File) { f.Placements = f.Placements[:1] }, "its plan has placements local,spread")
	try(func(f *params.File) { f.Provenance.Reduction = "AVX2" }, "loops in AVX2, and here they have them in Go")
	try(func(f *params.File) { f.Provenance.Reduction, f.Plan.NoGamma = "AVX2", true }, "")
	try(func(f *params.File) { f.Plan = params.Plan{} }, "no plan")
}

// A plan whose buffers exceed the memory is rejected before any is mapped.
func TestHolds(t *testing.T) {
	m := surveytest.Machine(t, 1)
	plan := func(change func(*params.Plan)) params.Plan {
		p := params.Plan{Setups: []string{"ring"}, Sizes: []int{64}, Taus: []int{1}, Segments: 2, SegmentBytes: 64,
			Caches: []bool{false, true}, Policies: []numa.Policy{numa.Local}, ArenaCaches: 0.1}
		change(&p)
		return p
	}
	try := func(change func(*params.Plan), want string) {
		t.Helper()
		contains.Error(t, Holds(plan(change), m), want)
	}
	try(func(*params.Plan) {}, "")
	try(func(p *params.Plan) { p.ArenaCaches = 1 << 45 }, "3.5184372088832e+13 times what caches hold")
	try(func(p *params.Plan) { p.ArenaCaches = 0 }, "measure it anew")
	try(func(p *params.Plan) { p.ArenaCaches, p.Caches = 0, []bool{false} }, "")
	try(func(p *params.Plan) { p.Sizes = []int{1 << 45} }, "memory")
	try(func(p *params.Plan) { p.SegmentBytes = 1 << 45 }, "memory")
	try(func(p *params.Plan) { p.Segments = 1 << 45 }, "memory")
	try(func(p *params.Plan) { p.Taus = []int{1 << 40} }, "at most")
}

// One placement for each distinct level, for any number of equal nodes.
func TestPolicies(t *testing.T) {
	for shape, want := range map[[4]int]string{ // packages, nodes, complexes, cores
		{1, 1, 1, 2}: "local", {1, 1, 1, 1}: "local", {2, 1, 1, 4}: "local spread remote", {1, 4, 1, 4}: "local spread remote",
		{1, 1, 8, 8}: "local across-l3", {1, 1, 16, 4}: "local across-l3", {2, 1, 8, 8}: "local across-l3 spread",
		{2, 4, 2, 8}: "local across-l3 across-nodes across-packages", {2, 4, 1, 8}: "local across-nodes across-packages",
	} {
		policies := Policies(numatest.EPYC(shape[0], shape[1], shape[2], shape[3], 2))
		check.Equal(t, strings.Trim(fmt.Sprint(policies), "[]"), want, "%v", shape)
	}
}

// Eight equal nodes have the cells of two, and launches begin at each in turn, except at nodes without
// room for the buffers. Chosen CPUs have one begin.
func TestFirstCPUs(t *testing.T) {
	m := numatest.EPYC(2, 4, 1, 2, 1)
	p := params.Plan{Setups: []string{"ring"}, Sizes: []int{64, 1 << 20}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192,
		Caches: []bool{false}, Policies: []numa.Policy{numa.Local, numa.AcrossNodes}, NoGamma: true}
	check.Slices(t, FirstCPUs(p, m), []int{0, 2, 4, 6, 8, 10, 12, 14}, "first CPUs of launches")
	m.Nodes[2].FreeBytes = 1 << 20 // node 1 has its neighbours' buffers there too
	check.Slices(t, FirstCPUs(p, m), []int{0, 6, 8, 10, 12, 14}, "first CPUs of launches with node 2 full")
	p.Policies, p.CPUs = []numa.Policy{numa.List}, []int{3, 5}
	got := FirstCPUs(p, m)
	check.True(t, got == nil, "CPUs are chosen, and launches begin at %v", got)
	one, eight := numatest.EPYC(1, 2, 1, 2, 1), numatest.EPYC(1, 8, 1, 2, 1)
	p.Policies = Policies(one)
	few := len(Keys(p, 4))
	p.Policies = Policies(eight)
	check.Equal(t, len(Keys(p, 4)), few, "cells of 8 nodes and of 2")
}
