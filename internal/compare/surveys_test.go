package compare

import (
	"fmt"
	"math"
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

// Ratios of 2 and 8 have a geometric mean of 4; what only one machine has is left out. Slower and
// faster are results of the test of all cells with samples.
func TestSurveys(t *testing.T) {
	cell := func(kind params.Kind, variant string, ns ...float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: kind, Placement: "local", Tau: 1, Bytes: 64}.Named(variant), Time: fit.Median(ns), Samples: params.Samples(ns...)}
	}
	around := func(ns float64) []float64 {
		return lists.Map(lists.Indices(9), func(i int) float64 { return ns * (1 + 0.002*float64(i)) })
	}
	machine := func(name string, cells ...params.Cell) Machine {
		return Machine{Name: name, File: &params.File{Cells: cells}}
	}
	c := must.Get(New([]Machine{
		machine("a", cell(params.LevelCell, "L1-L2", around(10)...), cell(params.LevelCell, "L2-L2", 10), cell(params.LevelCell, "L3-L3", around(10)...),
			cell(params.PairCell, "0-1", around(100)...), cell(params.PairCell, "0-2", around(100)...), cell(params.PairCell, "0-3", around(100)...), cell(params.PackCell, "4K8S", 5)),
		machine("b", cell(params.LevelCell, "L1-L2", around(20)...), cell(params.LevelCell, "L2-L2", 80), cell(params.LevelCell, "L1-L1", 1),
			cell(params.PairCell, "0-1", around(102)...), cell(params.PairCell, "0-2", around(100)...), cell(params.PairCell, "0-3", around(80)...)),
	}, Choice{Test: &Test{Drift: &Drift{}, Least: 0.03}}))
	got := c.Surveys
	check.Need(t, len(got) == 2 && got[0].Kind == params.LevelCell && got[1].Kind == params.PairCell && len(got[0].Rows) == 1, "%+v", got)
	r := got[0].Rows[0]
	check.True(t, r.Machine == "b" && r.Cells == 2 && math.Abs(r.Mean-4) <= 1e-12 && r.Tested == 1 && r.Slower == 1 && r.Faster == 0 && r.Farthest.Key.VariantName() == "L2-L2" && r.Farthest.Ratio == 8,
		"%+v", r)
	first, second := got[0].First, got[0].Rows[0].Compared
	check.True(t, len(first) == 2 && first[0].VariantName() == "L1-L2" && first[0].Ratio == nil && len(second) == 2 && math.Abs(second[0].Ratio.Value-2) <= 1e-12 && !second[1].Ratio.Tested,
		"%+v, %+v", first, second)
	r = got[1].Rows[0]
	check.True(t, r.Cells == 3 && r.Tested == 3 && r.Slower == 0 && r.Faster == 1, "%+v", r) // 2 % are less than the least difference
}

// What sweeps have beside transfers is compared at the sizes, placements and caches of these, y by setup.
func TestBeside(t *testing.T) {
	of := func(name string, slower float64) Machine {
		return machine(name, map[int]float64{1: 1000, 2: 1500}, func(f *params.File) {
			add := func(kind params.Kind, setup string, placement numa.Policy, off bool, bytes int) {
				key := params.Key{Kind: kind, Setup: setup, Placement: placement, OffCache: off, Tau: 2, Bytes: bytes}
				c := params.Cell{Key: key, Samples: params.Samples()}
				for i := range 9 {
					c.Samples = append(c.Samples, params.Sample{NS: slower * (100 + float64(i%3)), Launch: int32(i), At: 1})
				}
				c.Time = fit.Median(lists.Map(c.Samples, func(s params.Sample) float64 { return s.NS }))
				f.Cells = append(f.Cells, c)
			}
			add(params.GammaCell, "", numa.Local, false, 8192)
			add(params.GammaCell, "", numa.Local, true, 8192)
			add(params.CopyCell, "", numa.Local, false, 1024)
			add(params.CopyCell, "", numa.Remote, false, 8192)
			add(params.NullCell, params.Ring, numa.Local, false, 0)
			add(params.NullCell, params.Ping, numa.Local, false, 0)
		})
	}
	c := must.Get(New([]Machine{of("a", 1), of("b", 3)}, Choice{Test: &Test{Drift: &Drift{}, Least: 0.03}}))
	check.Need(t, len(c.Surveys) == 2 && c.Surveys[0].Kind == params.GammaCell && c.Surveys[1].Kind == params.NullCell, "%+v", c.Surveys)
	for _, k := range c.Surveys {
		check.True(t, Swept(k.Kind) && k.Rows[0].Cells == 1 && k.Rows[0].Slower == 1, "%+v", k)
	}
	contains.All(t, c.Verdict.Headline, "b takes 3.0 times as long as a")
}

// Cells of surveys that say where their data was are of the chosen caches; others stay.
func TestSurveysOfCaches(t *testing.T) {
	of := func(name string, slower float64) Machine {
		var cells []params.Cell
		for _, k := range []params.Key{{Kind: params.AccessCell}, {Kind: params.AccessCell, OffCache: true}, {Kind: params.PairCell}, {Kind: params.LevelCell}} {
			k.Placement, k.Tau, k.Bytes = "local", 1, 64
			cells = append(cells, params.Cell{Key: k.Named("x"), Time: fit.Median([]float64{100 * slower})})
		}
		return Machine{Name: name, File: &params.File{Cells: cells}}
	}
	for _, tt := range []struct {
		caches []bool
		want   []int // cells of each kind
	}{{nil, []int{2, 1, 1}}, {[]bool{false}, []int{1, 1, 1}}, {[]bool{true}, []int{1, 1}}, {[]bool{false, true}, []int{2, 1, 1}}} {
		c := must.Get(New([]Machine{of("a", 1), of("b", 2)}, Choice{Caches: tt.caches}))
		got := lists.Map(c.Surveys, func(k SurveyTable) int { return k.Rows[0].Cells })
		check.True(t, slices.Equal(got, tt.want), "off cache %v: %v, want %v", tt.caches, got, tt.want)
	}
}

// Placements and sizes choose among cells that have them. A note names kinds without, of few machines and of a fleet.
func TestChosenSurveys(t *testing.T) {
	of := func(name string) Machine {
		var cells []params.Cell
		for _, placement := range []numa.Policy{numa.Local, numa.Remote} {
			for _, kind := range []params.Kind{params.AccessCell, params.DiskCell} {
				for _, m := range []int{64, 4096} {
					cells = append(cells, params.Cell{Key: params.Key{Kind: kind, Placement: placement, Tau: 1, Bytes: m}.Named("x")})
				}
			}
		}
		for _, m := range []int{0, 64, 4096} {
			cells = append(cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m}.Named("0-1")})
		}
		for i := range cells {
			cells[i].Time = fit.Estimate{Center: 100, Lo: 99, Hi: 101, N: 9}
		}
		return Machine{Name: name, File: &params.File{Cells: cells}}
	}
	for _, tt := range []struct {
		choice Choice
		want   []int // cells of access, disk and pair
		notes  string
	}{
		{Choice{}, []int{4, 4, 3}, ""},
		{Choice{Placements: []numa.Policy{numa.Remote}}, []int{2, 2, 3}, "Surveys that have no placement are all shown: pair."},
		{Choice{Sizes: []int{4096, 8192}}, []int{4, 2, 2}, "Surveys that have no message size are all shown: access."},
		{Choice{Sizes: []int{64}, Placements: []numa.Policy{numa.Local}}, []int{2, 1, 2}, "Surveys that have no placement are all shown: pair.\nSurveys that have no message size are all shown: access."},
	} {
		machines := []Machine{of("a"), of("b"), of("c")}
		c, o := must.Get(New(machines, tt.choice)), must.Get(NewOverview(lists.Map(machines, Reduce), tt.choice))
		check.Deep(t, lists.Map(c.Surveys, func(k SurveyTable) int { return k.Rows[0].Cells }), tt.want, "cells of %+v", tt.choice)
		check.Deep(t, lists.Map(o.Surveys, func(k FleetKind) int { return len(k.Cells) }), tt.want, "cells of a fleet, %+v", tt.choice)
		got := lists.Filter(c.Verdict.Notes, func(note string) bool { return strings.HasPrefix(note, "Surveys") })
		check.Equal(t, strings.Join(got, "\n"), tt.notes, "notes of %+v", tt.choice)
		check.Equal(t, strings.Join(o.Notes, "\n"), tt.notes, "notes of a fleet, %+v", tt.choice)
	}
}

// Surveys have no setup, and a fleet says as two machines do which sizes it does not show.
func TestUnchosen(t *testing.T) {
	var machines []Machine
	for _, name := range []string{"a", "b", "c"} {
		machines = append(machines, machine(name, map[int]float64{1: 1000, 2: 1500}, func(f *params.File) {
			for _, c := range f.Cells {
				c.Bytes = 64
				f.Cells = append(f.Cells, c)
			}
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1}.Named("0-1"), Time: fit.Estimate{Center: 100, Lo: 99, Hi: 101, N: 9}})
		}))
	}
	choice := Choice{Setups: []string{params.Ring}}
	c, o := must.Get(New(machines, choice)), must.Get(NewOverview(lists.Map(machines, Reduce), choice))
	check.Deep(t, c.Unshown, []int{64}, "sizes that two machines do not show")
	check.Deep(t, o.Unshown, []int{64}, "sizes that a fleet does not show")
	const note = "Surveys that have no setup are all shown: pair."
	contains.All(t, strings.Join(c.Verdict.Notes, "\n"), note)
	contains.All(t, strings.Join(o.Notes, "\n"), note)
	choice.Sizes = []int{64}
	check.Empty(t, must.Get(NewOverview(lists.Map(machines, Reduce), choice)).Unshown, "sizes beside the chosen one")
}

// A survey that the first file lacks is compared in the others.
func TestSurveysOfOthers(t *testing.T) {
	times, level := map[int]float64{1: 1000, 2: 1100}, func(ns float64) func(*params.File) {
		return func(f *params.File) {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.LevelCell, Placement: "local", Tau: 1, Bytes: 64}.Named("L1-L2"), Time: fit.Estimate{Center: ns}})
		}
	}
	for _, machines := range [][]Machine{
		{machine("a", times), machine("b", times, level(10)), machine("c", times, level(20))},
		{machine("b", times, level(10)), machine("a", times), machine("c", times, level(20))},
	} {
		c := must.Get(New(machines, Choice{}))
		check.True(t, len(c.Surveys) == 1 && c.Surveys[0].Machine == "b" && len(c.Surveys[0].Rows) == 1 && c.Surveys[0].Rows[0].Mean == 2, "%+v", c.Surveys)
	}
}

// Of twelve machines one copies at half the speed between two levels, and another has
// too few samples to say so. What one machine alone has is not compared.
func TestFleetSurveys(t *testing.T) {
	machines := lists.Map(lists.Indices(12), func(i int) Machine {
		m := machine(fmt.Sprintf("node%02d", i), map[int]float64{1: 1000, 2: 1500})
		for _, variant := range []string{"L1-L2", "L2-L2"} {
			ns := 100 + float64(i)
			e := fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 9}
			if i == 7 && variant == "L2-L2" {
				e = e.Scale(2)
			} else if i == 8 {
				e = fit.Median([]float64{900})
			}
			m.File.Cells = append(m.File.Cells, params.Cell{Key: params.Key{Kind: params.LevelCell, Placement: "local", Tau: 1, Bytes: 64}.Named(variant), Time: e})
		}
		return m
	})
	alone := params.Cell{Key: params.Key{Kind: params.PairCell, Placement: "cpus", Tau: 1}.Named("0-1"), Time: fit.Estimate{Center: 50, Lo: 49, Hi: 51, N: 9}}
	machines[0].File.Cells = append(machines[0].File.Cells, alone)
	o := must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
	check.Need(t, len(o.Surveys) == 1 && len(o.Surveys[0].Cells) == 2 && o.Surveys[0].Machines == 11, "%+v", o.Surveys)
	// 100 … 111 but 107 and 108, and 214 for 107: the middle one of 11 is 105.
	c := o.Surveys[0].Cells[1]
	check.True(t, c.VariantName() == "L2-L2" && c.Machines == 11 && c.Time.Median == 105 && c.Time.Most == 214, "%+v", c)
	out := o.Surveys[0].Outliers
	check.True(t, len(out) == 1 && out[0].Machine == "node07" && out[0].Key.VariantName() == "L2-L2" && out[0].Score >= fit.OutlierScore && out[0].Off == 1 && out[0].Cells == 2,
		"%+v", out)
	const want = "Outliers in surveys: 1 of 12 machines; farthest node07: level L2-L2, placement local, in cache, τ = 1, m = 64 takes 214 ns where the median is 105 ns."
	got := o.Conclusion()
	check.True(t, strings.HasPrefix(got, "No outlier among 12 machines") && strings.HasSuffix(got, want), "%v", got)
}

// Files without transfers meet by what else they hold; transfers that were asked for,
// or that machines have, must be in common or are said not to be.
func TestSurveysAlone(t *testing.T) {
	disk := func(m Machine) Machine {
		m.File.Cells = append(m.File.Cells, params.Cell{Key: params.Key{Kind: params.DiskCell, Placement: "local", Tau: 1, Bytes: 4096}.Named("read-direct"),
			Time: fit.Estimate{Center: 100, Lo: 99, Hi: 101, N: 9}, Samples: params.Samples(99, 100, 101)})
		return m
	}
	bare := func(name string) Machine { return disk(machine(name, nil)) }
	ring := disk(machine("ring", map[int]float64{1: 1000, 2: 1500}))
	ping := disk(machine("ping", map[int]float64{2: 1500}, each(func(c *params.Cell) { c.Setup = "ping" })))
	meet := func(warns string, machines ...Machine) {
		t.Helper()
		c, o := must.Get(New(machines, Choice{})), must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
		check.Equal(t, [4]int{len(c.Tables), len(c.Surveys), len(o.Tables), len(o.Surveys)}, [4]int{0, 1, 0, 1}, "tables and surveys, of few and of a fleet")
		for _, warnings := range [][]Warning{c.Warnings, o.Warnings} {
			contains.All(t, sentences(warnings), warns)
			check.Equal(t, len(warnings) > 0, warns != "", "%q: there is a warning", warnings)
		}
	}
	fail := func(says string, choice Choice, machines ...Machine) {
		t.Helper()
		contains.Error(t, must.Err(New(machines, choice)), says)
		contains.Error(t, must.Err(NewOverview(lists.Map(machines, Reduce), choice)), says)
	}
	meet("", bare("a"), bare("b"), bare("c"))
	meet("in common: ring has ring", bare("a"), ring, bare("c"))
	meet("in common: ping has ping", ping, ring, bare("c"))
	fail("a has no transfers", Choice{Setups: []string{"ring"}}, bare("a"), bare("b"), bare("c"))
	fail("in common: ping has ping", Choice{Sizes: []int{8192}}, ping, ring, bare("c"))
	fail("a has no transfers", Choice{}, machine("a", nil), machine("b", nil), machine("c", nil))
}
