package transfers

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// FuzzPlan: whatever a file to go on with has for a plan, it is refused in a sentence,
// or everything that a sweep makes of it before it measures can be made.
func FuzzPlan(f *testing.F) {
	m := &numa.Machine{
		CPUs:    []numa.CPU{{ID: 0, Core: 0}, {ID: 1, Core: 1}},
		Nodes:   []numa.Node{{ID: 0, CPUs: numa.SetOf(0, 1), MemoryBytes: 1 << 30, FreeBytes: 1 << 30}},
		Allowed: numa.SetOf(0, 1),
	}
	place, err := m.Place(numa.Local, 2)
	if err != nil {
		f.Fatal(err)
	}
	here := provenance.Provenance{Hostname: "a", CPUModel: "b", Arch: "c", Allowed: m.Allowed}
	file := params.File{Provenance: here, Placements: []numa.Placement{place}, Plan: params.Plan{Setups: []string{"ring", "ping"},
		Policies: []numa.Policy{numa.Local}, Sizes: []int{1, 8192}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false},
		CacheBytes: 1 << 20, ArenaCaches: 4, NoGamma: true, Budget: 60, Width: 0.03, With: []string{"copy"}}}
	var b bytes.Buffer
	if err := file.Write(&b); err != nil {
		f.Fatal(err)
	}
	whole := b.String()
	begin := strings.Index(whole, `"plan": `) + len(`"plan": `)
	end := begin + strings.Index(whole[begin:], "}") + 1
	plan := whole[begin:end]
	f.Add(plan)
	for _, change := range [][2]string{
		{`"segment_bytes": 8192`, `"segment_bytes": 0`}, {`"segment_bytes": 8192`, `"segment_bytes": 1125899906842624`}, {`"segments": 2`, `"segments": 0`},
		{`"taus": [1,2]`, `"taus": [100000000]`}, {`"sizes": [1,8192]`, `"sizes": [1125899906842624]`}, {`"off_cache": [false]`, `"off_cache": [true,false]`},
		{`"off_cache": [false]`, `"off_cache": []`}, {`["local"]`, `["cpus"], "cpus": [1,0]`}, {`"copy"]`, `"copy","copy","x"]`}, {`"ring","ping"`, `"x"`},
	} {
		f.Add(strings.Replace(plan, change[0], change[1], 1))
	}
	f.Fuzz(func(t *testing.T, plan string) {
		file, err := params.Read(strings.NewReader(whole[:begin]+plan+whole[end:]), "f")
		if err != nil {
			return
		}
		if err := SameMachine(file, m, here); err != nil {
			if text := err.Error(); text == "" || strings.Contains(text, "\n") {
				t.Errorf("no sentence: %q", text)
			}
			return
		}
		p := file.Plan
		bound := cells(&p)
		for _, place := range file.Placements {
			room(p, place, m).Rows([]int{(p.Sizes[len(p.Sizes)-1]-1)/p.SegmentBytes + 1})
		}
		if bound > 200 { // as good as any other, and slow
			return
		}
		all := Keys(p, m.Allowed.Len())
		if ranks := float64(len(p.Policies) * len(p.Caches) * (2*tripSizes + 3 + 2*(messagesOfOne+messagesOfMore))); float64(len(all)) > bound+ranks {
			t.Errorf("%d cells of a plan of at most %g", len(all), bound)
		}
		for _, k := range all {
			tr, times, err := trial(p, k)
			if err != nil || !ranked(k) && (tr.K < 1 || tr.SegmentBytes < 0 || !(times >= 1)) {
				t.Errorf("%v: %+v, %g, %v", k, tr, times, err)
			}
			if _, err := work(p, k, tr); err != nil {
				t.Errorf("%v: %v", k, err)
			}
			if _, err := m.Place(numa.Local, workers(k, tr.Setup)); err != nil {
				t.Errorf("%v: %v", k, err)
			}
		}
		if cells, _, err := (Request{p}).Cells(m); err != nil || len(cells) != len(all) {
			t.Errorf("%d cells of %d, %v", len(cells), len(all), err)
		}
	})
}
