package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/randtest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// twoLevels is a file of a machine of `nodes` nodes with `each` CPUs: within one,
// f(0) = 50 ns and f(8K) = 450 ns, across 100 and 1300 ns. Ranks fill node after node.
func twoLevels(nodes, each int) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	var groups []numa.CPUSet
	var all numa.CPUSet
	place := numa.Placement{Policy: numa.Local}
	for n := range nodes {
		var group numa.CPUSet
		for i := range each {
			group = append(group, n*each+i)
			place.Workers = append(place.Workers, numa.Worker{CPU: numa.CPU{ID: n*each + i, Node: n}})
		}
		groups, all = append(groups, group), append(all, group...)
	}
	f.Placements = []numa.Placement{place}
	f.Provenance.Levels = numa.Levels{{Name: "shared L3", Groups: groups}, {Name: "nodes 21 apart", Groups: []numa.CPUSet{all}}}
	for i, a := range all {
		for _, b := range all[i+1:] {
			times := map[int]float64{0: 50, 8192: 450}
			if a/each != b/each {
				times = map[int]float64{0: 100, 8192: 1300}
			}
			for m, ns := range times {
				f.Cells = append(f.Cells, params.Cell{Time: fit.Median([]float64{ns}),
					Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: params.PairVariant(a, b)}})
			}
		}
	}
	return f
}

func mlognp(t *testing.T, f *params.File) MLogNP {
	t.Helper()
	m, err := MLogNPOf(f, "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func costOf(t *testing.T, m MLogNP, name string, call collective.Call) Cost {
	t.Helper()
	a, err := collective.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Schedule(call)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Cost(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Section IV.B of mlognp-2009 with o_mw = 2·450 ns within a node and o'_mw = 2·1300 ns
// across, without strides and networks.
func TestMLogNPBroadcasts(t *testing.T) {
	const o, far = 900.0, 2600.0
	for _, tt := range []struct {
		nodes, each int
		name        string
		p           int
		want        float64 // ns
	}{
		{1, 2, "bcast:linear", 2, o},     // eq. (4), n = 2
		{2, 1, "bcast:linear", 2, far},   // one level, the far one
		{1, 8, "bcast:linear", 8, 4 * o}, // log_3P: P·o_mw/2
		{1, 8, "bcast:binomial", 8, 3 * o},
		{1, 8, "bcast:binomial", 5, 2 * o}, // the root sends three, of which two hide behind the third
		// 2log: (P/n−1)·o/2 + (P−P/n)·o'/2, and the last reception.
		{2, 4, "bcast:linear", 8, 3*o/2 + 4*far/2 + far/2},
		{4, 2, "bcast:linear", 8, o/2 + 6*far/2 + far/2},
		// 0→4 across, then 4→6→7 and 0→2→3 within: one of three across.
		{2, 4, "bcast:binomial", 8, 2*o + far},
		// 0→4, 4→6 across, 6→7 within.
		{4, 2, "bcast:binomial", 8, o + 2*far},
		{8, 1, "bcast:binomial", 8, 3 * far},
	} {
		m := mlognp(t, twoLevels(tt.nodes, tt.each))
		c := costOf(t, m, tt.name, collective.Call{P: tt.p, M: 8192})
		if math.Abs(c.Seconds*1e9-tt.want) > 1e-6 || c.Extrapolated {
			t.Errorf("%d × %d, %s, P = %d: %.1f ns (%s), want %.1f", tt.nodes, tt.each, tt.name, tt.p, c.Seconds*1e9, c.Formula(), tt.want)
		}
	}
	c := costOf(t, mlognp(t, twoLevels(2, 4)), "bcast:binomial", collective.Call{P: 8, M: 8192})
	if want := "2f[nodes 21 apart](m) + 4f[shared L3](m)"; c.Formula() != want {
		t.Errorf("formula %s, want %s", c.Formula(), want)
	}
}

// Whatever the algorithm, ranks and size: a machine of two levels costs no less than
// one where all pairs are as the near ones, and no more than one where all are as the
// far ones. Costs grow with the message as long as the algorithm is the same: what
// chooses among several by the size, as MPICH's broadcast does, may become cheaper
// where it changes, for it chooses by rules and not by these costs.
func TestMLogNPIsBetweenItsLevels(t *testing.T) {
	near, far, both := mlognp(t, twoLevels(1, 16)), mlognp(t, twoLevels(16, 1)), mlognp(t, twoLevels(4, 4))
	reduce := func(m *MLogNP) { m.Reductions = flatGamma{} }
	reduce(&near)
	reduce(&far)
	reduce(&both)
	random := randtest.New(t)
	for _, a := range collective.All() {
		for range 20 {
			p := 1 + random.IntN(16)
			for !a.Among.Has(p) {
				p = 1 + random.IntN(16)
			}
			call := collective.Call{P: p, Root: random.IntN(p), M: random.IntN(1 << 16)}
			if a.Collective.Empty() {
				call.M = 0
			}
			low, mid, high := costOf(t, near, a.String(), call), costOf(t, both, a.String(), call), costOf(t, far, a.String(), call)
			const slack = 1 + 1e-9
			if mid.Seconds*slack < low.Seconds || mid.Seconds > high.Seconds*slack {
				t.Errorf("%s %+v: %g ns, near %g, far %g", a, call, mid.Seconds*1e9, low.Seconds*1e9, high.Seconds*1e9)
			}
			if call.M > 0 {
				more := call
				more.M *= 2
				if c := costOf(t, both, a.String(), more); c.Seconds*slack < mid.Seconds && chosen(t, a, call) == chosen(t, a, more) {
					t.Errorf("%s %+v: %g ns, of twice as much %g", a, call, mid.Seconds*1e9, c.Seconds*1e9)
				}
			}
			sum := 0.0
			for _, term := range mid.Terms {
				sum += term.Times * term.Seconds
			}
			if math.Abs(sum-mid.Seconds) > 1e-12 {
				t.Errorf("%s %+v: terms add up to %g s of %g s", a, call, sum, mid.Seconds)
			}
		}
	}
}

// chosen is the algorithm that a call is carried out with.
func chosen(t *testing.T, a *collective.Algorithm, call collective.Call) *collective.Algorithm {
	t.Helper()
	s, err := a.Schedule(call)
	if err != nil {
		t.Fatal(err)
	}
	return s.Algorithm
}

// The two sides of the size where MPICH's broadcast leaves the binomial tree: with
// these parameters the longer message costs less.
func TestMLogNPWhereAnAlgorithmChanges(t *testing.T) {
	m := mlognp(t, twoLevels(4, 4))
	call := collective.Call{P: 16, M: 12<<10 - 1}
	more := collective.Call{P: 16, M: 12 << 10}
	a, err := collective.Lookup("bcast:mpich")
	if err != nil {
		t.Fatal(err)
	}
	if chosen(t, a, call) == chosen(t, a, more) {
		t.Fatalf("one algorithm for %d and %d bytes", call.M, more.M)
	}
	if low, high := costOf(t, m, "bcast:mpich", call), costOf(t, m, "bcast:mpich", more); high.Seconds >= low.Seconds {
		t.Errorf("%d bytes cost %g ns and %d bytes %g", call.M, low.Seconds*1e9, more.M, high.Seconds*1e9)
	}
}

type flatGamma struct{}

func (flatGamma) Gamma(string, int, int) (float64, bool, error) { return 1e-7, false, nil }

func TestMLogNPRefuses(t *testing.T) {
	a, _ := collective.Lookup("bcast:binomial")
	s, _ := a.Schedule(collective.Call{P: 8, M: 8})
	for _, tt := range []struct {
		change func(f *params.File)
		want   string
	}{
		{func(f *params.File) { f.Cells = nil }, "taulop pairs"},
		{func(f *params.File) { f.Placements = nil }, "another placement"},
		{func(f *params.File) { f.Placements[0].Workers = f.Placements[0].Workers[:7] }, "7 ranks"},
		{func(f *params.File) { // nobody measured across
			var within []params.Cell
			for _, c := range f.Cells {
				if a, b, _ := params.ParsePair(c.Variant); a/4 == b/4 {
					within = append(within, c)
				}
			}
			f.Cells = within
		}, "measure all pairs"},
	} {
		f := twoLevels(2, 4)
		tt.change(f)
		m, err := MLogNPOf(f, "")
		if err == nil {
			_, err = m.Cost(s)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want a sentence with %q", err, tt.want)
		}
	}
	reduces, _ := collective.Lookup("reduce:binomial")
	s, err := reduces.Schedule(collective.Call{P: 2, M: 8})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mlognp(t, twoLevels(1, 2)).Cost(s); err == nil || !strings.Contains(fmt.Sprint(err), "γ") {
		t.Errorf("a reduction without γ: %v", err)
	}
}
