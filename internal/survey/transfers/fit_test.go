package transfers

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

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
		if f.Placements, err = placements(f.Plan, m, -1); err != nil {
			t.Fatal(err)
		}
		change(f)
		return f
	}
	for _, tt := range []struct {
		change func(*params.File)
		want   string
	}{
		{func(*params.File) {}, ""},
		{func(f *params.File) { f.Provenance.Hostname = "b" }, `its host was "b", here it is "a"`},
		{func(f *params.File) { f.Provenance.CPUModel = "EPYC" }, "processor"},
		{func(f *params.File) { f.Provenance.Allowed = numa.SetOf(0, 1) }, "measured on CPUs 0-1, and here "},
		{func(f *params.File) { f.Placements[1].Workers[0].ID = 3 }, "placement spread puts workers elsewhere"},
		{func(f *params.File) { f.Placements = f.Placements[:1] }, "placement spread"},
		{func(f *params.File) { f.Provenance.Reduction = "AVX2" }, "loops in AVX2, and here they have them in Go"},
		{func(f *params.File) { f.Provenance.Reduction, f.Plan.NoGamma = "AVX2", true }, ""},
		{func(f *params.File) { f.Provenance.HugePages = "always" }, "what size the kernel chose"},
		{func(f *params.File) { f.Provenance.HugePages = "madvise" }, ""},
		{func(f *params.File) { f.Provenance.HugePages = "always"; f.Provenance.Give(true) }, ""},
		{func(f *params.File) { f.Plan = params.Plan{} }, "no plan"},
	} {
		err := SameMachine(file(tt.change), m, here)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// A plan whose buffers exceed the memory is rejected before any is mapped.
func TestHolds(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Skip(err)
	}
	plan := func(change func(*params.Plan)) params.Plan {
		p := params.Plan{Setups: []string{"ring"}, Sizes: []int{64}, Taus: []int{1}, Segments: 2, SegmentBytes: 64,
			Caches: []bool{false, true}, Policies: []numa.Policy{numa.Local}, ArenaCaches: 0.1, ArenaDown: true}
		change(&p)
		return p
	}
	for _, tt := range []struct {
		change func(*params.Plan)
		want   string
	}{
		{func(*params.Plan) {}, ""},
		{func(p *params.Plan) { p.ArenaCaches = 1 << 45 }, "3.5184372088832e+13 times what caches hold"},
		{func(p *params.Plan) { p.ArenaCaches = 0 }, "measure it anew"},
		{func(p *params.Plan) { p.ArenaDown = false }, "fetched ahead"}, // files of earlier versions
		{func(p *params.Plan) { p.ArenaCaches, p.Caches = 0, []bool{false} }, ""},
		{func(p *params.Plan) { p.Sizes = []int{1 << 45} }, "memory"},
		{func(p *params.Plan) { p.SegmentBytes = 1 << 45 }, "memory"},
		{func(p *params.Plan) { p.Segments = 1 << 45 }, "memory"},
		{func(p *params.Plan) { p.Taus = []int{1 << 40} }, "at most"},
	} {
		if err := Holds(plan(tt.change), m); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
