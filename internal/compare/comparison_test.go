package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
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

// machine has rings of segments of 8K whose L(8K,τ), in ns, are medians of nine
// samples, spread by ±1 % and not in order.
func machine(name string, times map[int]float64, change ...func(*params.File)) Machine {
	f := &params.File{Complete: true, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Segments: 2, SegmentBytes: 8192, Sizes: []int{8192}, Caches: []bool{false}}}
	for tau, L := range times {
		samples := lists.Map(lists.Indices(9), func(i int) float64 { return 2 * L * (1 + 0.01*float64(i*5%9-4)/4) })
		f.Cells = append(f.Cells, params.Cell{
			Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: tau, Bytes: 8192}, K: 1, Transfers: 2,
			Time: fit.Median(samples), Samples: params.Samples(samples...),
		})
	}
	for _, c := range change {
		c(f)
	}
	return Machine{Name: name, Path: name + ".json", File: f}
}

// at is the point of a τ that a curve has.
func at(c *Curve, tau int) Point {
	p, _ := c.At(tau)
	return p
}

// each changes every cell of a file.
func each(change func(*params.Cell)) func(*params.File) {
	return func(f *params.File) {
		for i := range f.Cells {
			change(&f.Cells[i])
		}
	}
}

func TestSignificance(t *testing.T) {
	a := machine("a", map[int]float64{1: 1000, 2: 1100, 4: 2000})
	c := must.Get(New([]Machine{a, machine("b", map[int]float64{1: 1001, 2: 1300, 8: 1500})}, Choice{Test: &Test{Drift: &Drift{}}})) // as if hours did not differ
	row := &c.Tables[0].Rows[1]
	check.True(t, c.Tables[0].Segment && slices.Equal(c.Tables[0].Taus, []int{1, 2, 4, 8}) && len(c.Warnings) == 0, "%+v, warnings %v", c.Tables[0], c.Warnings)
	// Launches of 1000 ± 1 % and of 1001 ± 1 % are mixed; launches of 1100 and 1300 are apart.
	r := at(&row.Curve, 1).Ratio
	check.True(t, r.Tested && !r.Differs && r.P >= 0.3 && r.Lo < 1 && r.Hi > 1 && math.Abs(r.Value-1.001) <= 1e-6, "τ = 1: %+v", r)
	r = at(&row.Curve, 2).Ratio
	check.True(t, r.Tested && r.Differs && r.P <= 1e-6 && r.Adjusted >= r.P && r.Lo >= 1.15 && r.Hi <= 1.21, "τ = 2: %+v", r)
	check.True(t, at(&row.Curve, 8).Ratio == nil, "τ = 8 of b alone has a ratio")
	check.True(t, row.Scalability == nil && strings.Contains(row.Unfitted, "too few τ for a fit: 3 of at least 4"), "fit of 3 τ: %+v, %q", row.Scalability, row.Unfitted)
}

func TestSaturation(t *testing.T) {
	exact := func(bandwidths ...float64) (points []Point) {
		for i, b := range bandwidths {
			points = append(points, Point{Tau: 1 << i, Bandwidth: fit.Estimate{Center: b, Lo: math.Inf(-1), Hi: math.Inf(1)}})
		}
		return points
	}
	sampled := func(half float64, bandwidths ...float64) []Point {
		points := exact(bandwidths...)
		for i := range points {
			b := &points[i].Bandwidth
			b.Lo, b.Hi, b.N = b.Center-half, b.Center+half, 9
		}
		return points
	}
	try := func(points []Point, want Saturation) {
		t.Helper()
		check.Equal(t, saturation(points), want, "%v", points)
	}
	try(exact(10, 20, 40), Saturation{Tau: 4, Reached: false})
	try(exact(10, 20, 20.9), Saturation{Tau: 2, Reached: true})    // 4.5 % more
	try(exact(10, 20, 19, 30), Saturation{Tau: 8, Reached: false}) // a dip is no end
	try(exact(10, 9, 8), Saturation{Tau: 1, Reached: true})
	try(exact(10), Saturation{Tau: 1, Reached: false})
	try([]Point{{Tau: 1, L: fit.Estimate{Center: 9, Lo: math.Inf(-1), Hi: math.Inf(1), N: 3}}}, Saturation{Unknown: true})
	try(sampled(1, 10, 20, 21.5), Saturation{Unknown: true})            // [20.5, 22.5] may be above [19, 21]
	try(sampled(0.2, 10, 20, 21.5), Saturation{Tau: 4, Reached: false}) // [21.3, 21.7] is above [19.8, 20.2]
}

func TestConclusion(t *testing.T) {
	times := func(L ...float64) map[int]float64 {
		return lists.ToMap(lists.Indices(len(L)), func(i int) (int, float64) { return i + 1, L[i] })
	}
	try := func(machines []Machine, want []string) {
		t.Helper()
		c := must.Get(New(machines, Choice{Test: &Test{Drift: &Drift{}}})) // as if hours did not differ
		contains.All(t, c.Tables[0].Conclusion, want...)
	}
	try([]Machine{machine("a", times(1000, 1000, 1000, 1000)), machine("b", times(500, 600, 900, 1000))}, []string{
		"a carries more transfers at once at every τ from 2 to 4 (A(4): a 4.00, b 2.00).",
		"None moves more bytes a second, beyond what launches and hours differ by (τ = 4: a 32.8, b 32.8 GB/s).",
	})
	try([]Machine{machine("a", times(1000, 1100, 1800, 2400)), machine("b", times(1000, 1100, 1500, 1600)), machine("c", times(1000, 1900))}, []string{
		"No machine carries more transfers at once than the others, beyond what launches and hours differ by (A(2): a 1.82, b 1.82, c 1.05).", // τ = 2 is all that c has
	})
	try([]Machine{machine("a", times(1000, 1100, 1800, 2400)), machine("b", times(1000, 1100, 1500, 1600))}, []string{
		"b carries more transfers at once from τ = 3 on (A(4): b 2.50, a 1.67).",
		"b moves more bytes a second from τ = 3 on (τ = 4: b 20.5, a 13.7 GB/s).",
	})
	try([]Machine{machine("a", times(1000, 1100, 1110, 2400)), machine("b", times(1000, 1100, 1100, 1600))}, []string{
		"b carries more transfers at once only at τ = 4",
	})
	try([]Machine{machine("a", times(1000, 1100)), machine("b", times(1000, 1900), few)}, []string{"Which machine carries more transfers at once was not tested (A(2): a 1.82, b 1.05)."})
	try([]Machine{machine("a", times(1000, 1100)), machine("b", map[int]float64{2: 1000, 4: 2000})}, []string{"A(τ) of b is unknown, since L(m,1) was not measured."})
	try([]Machine{machine("a", times(1000)), machine("b", times(1000, 2000))}, []string{"No τ above 1 was measured on all machines"})
}

// L(m,1) of a ring of one and L(m,1) between two processes are two things.
func TestAlone(t *testing.T) {
	times := map[int]float64{1: 1000, 2: 1100}
	isolated := machine("b", times, each(func(c *params.Cell) {
		if c.Tau == 1 {
			c.Setup = params.Isolated
		}
	}))
	c := must.Get(New([]Machine{machine("a", times), isolated}, Choice{}))
	table := c.Tables[0]
	b := &table.Rows[1].Curve
	check.True(t, at(b, 1).Ratio == nil && at(b, 2).Ratio != nil, "ratios of τ = 1 and 2: %+v", b.Points)
	check.True(t, strings.HasPrefix(table.Conclusion, "A(τ) is not compared") && len(c.Warnings) == 1 && strings.Contains(c.Warnings[0].Error(), "L(m,1) of a is not compared, nor is A(τ): in ring"),
		"%q, %q", table.Conclusion, c.Warnings)
}

// An isolated transfer stands in the tables of all setups, and is one test.
func TestIsolatedCountsOnce(t *testing.T) {
	both := func(name string, slower float64) Machine {
		m := machine(name, map[int]float64{1: 1000 * slower, 2: 1100 * slower})
		for i := range m.File.Cells {
			if c := &m.File.Cells[i]; c.Tau == 1 {
				c.Setup = params.Isolated
				continue
			}
			ping := m.File.Cells[i]
			ping.Setup = "ping"
			m.File.Cells = append(m.File.Cells, ping)
		}
		return m
	}
	c := must.Get(New([]Machine{both("a", 1), both("b", 3)}, Choice{}))
	one, two := c.Tables[0].Rows[1].Points[0].Ratio, c.Tables[1].Rows[1].Points[0].Ratio
	check.True(t, len(c.Tables) == 2 && one.Differs && *one == *two && c.Verdict.Cells == 3 && c.Verdict.Differ == 3, "%+v; %+v, %+v", c.Verdict, one, two)
}

func TestNothingInCommon(t *testing.T) {
	times := map[int]float64{1: 1000, 2: 1100}
	a, bcast := machine("a", times), machine("b", times, each(func(c *params.Cell) { c.Setup = "bcast" }))
	large := machine("c", times, each(func(c *params.Cell) { c.Bytes = 65536 }))
	old := machine("d", times, each(func(c *params.Cell) { c.Setup, c.Placement = params.Published, params.Published }))
	sized := func(name string, sizes ...int) Machine {
		m := machine(name, nil)
		m.File.Cells = lists.Concat(sizes, func(size int) []params.Cell {
			return machine(name, times, each(func(c *params.Cell) { c.Bytes = size })).File.Cells
		})
		return m
	}
	few := must.Get(New([]Machine{sized("a", 64, 8192, 65536), sized("b", 64, 4096, 8192, 65536)}, Choice{}))
	check.True(t, len(few.Tables) == 1 && slices.Equal(few.Unshown, []int{64, 65536}), "not shown: %v", few.Unshown)
	try := func(machines []Machine, choice Choice, want string) {
		t.Helper()
		contains.Error(t, must.Err(New(machines, choice)), want)
	}
	try([]Machine{a}, Choice{}, "name another file")
	try([]Machine{a, bcast}, Choice{}, "a has ring, placement local, in cache, m = 8192; b has bcast, placement local, in cache, m = 8192; choose others")
	try([]Machine{a, large}, Choice{}, ", m = 65536; choose others, or sweep")
	try([]Machine{a, old}, Choice{}, "take them for a setup")
	try([]Machine{a, a}, Choice{Sizes: []int{64}}, "transfers of m = 64 in common: a has m = 8192; a has m = 8192; choose")
	try([]Machine{a, bcast}, Choice{Setups: []string{"ping"}, Sizes: []int{64}}, "transfers of setup ping in common: a has ring; b has bcast; choose")
	try([]Machine{sized("a", 64, 128, 256, 512, 1024), a}, Choice{Sizes: []int{64}}, "transfers of m = 64 in common: a has m = 64; m = 128; m = 256; …; a has m = 8192; choose")
	try([]Machine{a, a}, Choice{Placements: []numa.Policy{numa.Remote}}, "in common: a has placement local; a has placement local; choose")
	try([]Machine{a, a}, Choice{Caches: []bool{true}}, "no two machines have transfers off cache in common: a has in cache; a has in cache; choose")
	try([]Machine{a, {Name: "e", File: &params.File{}}}, Choice{}, "e has no transfers")
}

func TestWarnings(t *testing.T) {
	times := map[int]float64{1: 1000, 2: 1100}
	a := machine("a", times, func(f *params.File) {
		f.Provenance.Taulop, f.Plan.Copy = "v1", "AVX"
		f.Provenance.Give(false)
		f.Launches = make([]params.Launch, 1)
	})
	b := machine("b", map[int]float64{1: 1000e3, 2: 2100e3}, func(f *params.File) {
		f.Provenance.Taulop, f.Plan.Copy, f.Plan.Segments, f.Complete = "v2", "REP MOVSB", 4, false
		f.Warnings = []string{"this is a virtual machine"}
		f.Provenance.Give(true)
		f.Provenance.Fill(true)
	})
	contains.All(t, sentences(must.Get(New([]Machine{a, b}, Choice{})).Warnings),
		"different versions of taulop: v1 (a); v2 (b)", "different ways to copy: AVX (a); REP MOVSB (b)", "different pages of buffers: small (a); huge (b)", "different states of idle cores: asleep (a); kept busy (b)", "2 segments of 8192 bytes (a); 4 segments",
		"b: the file is incomplete, cells are missing",
		"b: this is a virtual machine", "b: at a compared size L is outside its bounds: eq. (8)",
	)
}

func sentences(warnings []Warning) string {
	return strings.Join(lists.Map(warnings, Warning.Error), "\n")
}

// What two machines have in common is said once; in JSON warnings are sentences.
func TestTold(t *testing.T) {
	file := func(complete bool, warnings ...string) *params.File {
		return &params.File{Complete: complete, Warnings: warnings}
	}
	machines := []Machine{
		{Name: "a", File: file(true, "the load is 1.36", "turbo is on")},
		{Name: "b", File: file(false, "turbo is on", "the load is 2.1", "the load is 3")},
	}
	try := func(more int, want string) {
		t.Helper()
		many := append(slices.Clone(machines), slices.Repeat([]Machine{{Name: "c", File: file(true)}}, more)...)
		check.Equal(t, string(must.Get(json.Marshal(Told(many)))), want, "%d more", more)
	}
	try(0, `["a, b: turbo is on","a: the load is 1.36","b: the load is 2.1","b: the load is 3","b: the file is incomplete, cells are missing or have too few samples for an interval: measure it again, and allow more time"]`)
	try(Fleet, `["a, b: the load is 1.36","a, b: turbo is on","b: the file is incomplete, cells are missing or have too few samples for an interval: measure it again, and allow more time"]`)
}

func TestOverview(t *testing.T) {
	machines := lists.Map(lists.Indices(20), func(i int) Machine {
		f := 1 + 0.002*float64(i-10) // 0.98 … 1.018
		times := map[int]float64{1: 1000 * f, 2: 1200 * f}
		if i == 7 {
			times[2] = 1800
		}
		return machine(fmt.Sprintf("node%02d", i), times, func(f *params.File) {
			f.Warnings = []string{fmt.Sprintf("the load of the last minute is %d.5: stop what else runs here", i)}
			if i == 3 {
				f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool { return c.Tau == 2 })
			}
		})
	})
	machines = append(machines, machine("empty", nil)) // does not keep the others from being compared
	o, err := NewOverview(lists.Map(machines, Reduce), Choice{})
	check.Need(t, err == nil && len(o.Tables) == 1 && len(o.Tables[0].Cells) == 2, "%+v, %v", o, err)
	two := o.Tables[0].Cells[1]
	// Without node 3 and with node 7 on top, the middle of 19 is node 11, 1.002·1200.
	check.True(t, two.Tau == 2 && two.Machines == 19 && math.Abs(two.Time.Median-1202.4) <= 1e-6 && two.Time.Most == 1800 && math.Abs(two.Time.Least-1176) <= 1e-6,
		"%+v", two.Time)
	// Neighbours are 2.4 ns apart, so that the tenth of the 19 deviations is 12 ns:
	// 1.4826·12 = 17.79, z = 597.6/17.79 = 33.59.
	check.True(t, len(o.Outliers) == 1 && o.Outliers[0].Machine == "node07" && o.Outliers[0].Key.Tau == 2 && math.Abs(o.Outliers[0].Score-33.59) <= 0.01 && o.Outliers[0].Off == 1 && o.Outliers[0].Cells == 2,
		"outliers %+v", o.Outliers)
	contains.All(t, o.Conclusion(), "Outliers: 1 of 21 machines, 1 slow and 0 fast; farthest node07: L(8K,2) is 1800 ns where the median is 1202 ns")
	rough := &Outlier{Time: fit.Estimate{Center: 586, Lo: 480, Hi: 700, N: 9}, Median: 5.2}
	check.Equal(t, rough.times(), "590 ns where the median is 5.20 ns", "digits as in tables")
	all := sentences(o.Warnings)
	contains.All(t, all, "node00, node01, node02, node03 and 16 more: the load of the last minute is 0.5", "node03: 1 of 2 cells are there", "empty: no transfer of it is compared")

	// All but alike: no outliers by a hair.
	alike := slices.Repeat([]Machine{machine("", map[int]float64{1: 1000, 2: 1000})}, 12)
	alike[3] = machine("", map[int]float64{1: 1020, 2: 1000})
	for i := range alike {
		alike[i].Name = fmt.Sprint(i)
	}
	o, err = NewOverview(lists.Map(alike, Reduce), Choice{})
	check.True(t, err == nil && len(o.Outliers) == 0 && strings.HasPrefix(o.Conclusion(), "No outlier among 12 machines"), "%+v, %v", o, err)
	check.Error(t, must.Err(NewOverview(lists.Map(alike[:2], Reduce), Choice{})), "a fleet of two")
}

// L(m,1) between two processes stands in the tables of several setups and counts once, where most machines have it.
func TestOverviewOfSetups(t *testing.T) {
	machines := lists.Map(lists.Indices(14), func(i int) Machine {
		slow := 1 + 0.002*float64(i)
		if i == 7 {
			slow = 1.5
		}
		return machine(fmt.Sprintf("node%02d", i), map[int]float64{1: 1000 * slow, 2: 1200 * slow}, func(f *params.File) {
			f.Cells[slices.IndexFunc(f.Cells, func(c params.Cell) bool { return c.Tau == 1 })].Setup = params.Isolated
			two := *lists.Find(f.Cells, func(c params.Cell) bool { return c.Tau == 2 })
			two.Setup = "sendrecv"
			if f.Cells = append(f.Cells, two); i < 5 {
				f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool { return c.Setup == "ring" })
			}
		})
	})
	few(machines[13].File)
	o := must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
	check.Equal(t, [2]int{len(o.Tables), o.Tested}, [2]int{2, 2 * 13}, "tables, and tests of the 13 machines with intervals: too few have ring")
	check.Need(t, len(o.Outliers) == 1, "outliers %+v", o.Outliers)
	check.Equal(t, [2]int{o.Outliers[0].Off, o.Outliers[0].Cells}, [2]int{2, 3}, "cells off, and cells")
	contains.All(t, sentences(o.Warnings), "node13: 3 of 3 cells have too few samples", "node00, node01, node02, node03, node04: 2 of 3 cells are there")
}

// A machine that is slow in all cells makes no outlier of those that differ by chance.
func TestOverviewOfOneSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	machines := lists.Map(lists.Indices(100), func(i int) Machine {
		times := make(map[int]float64)
		for tau := 1; tau <= 30; tau++ {
			times[tau] = 1000 * math.Exp(0.03*r.NormFloat64())
			if i == 7 {
				times[tau] *= 1.5
			}
		}
		return machine(fmt.Sprintf("node%02d", i), times)
	})
	o := must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
	off := o.Off()
	check.True(t, len(off) == 1 && off[0] == "node07" && o.Outliers[0].Off == 30, "outliers %q, %+v", off, o.Outliers)
}

// A ring of two workers whose segments are copied twice: l = 2k·L.
func TestCurves(t *testing.T) {
	f := &params.File{Plan: params.Plan{SegmentBytes: 8192}}
	cell := func(setup string, tau, m, k int, samples ...float64) {
		f.Cells = append(f.Cells, params.Cell{
			Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m}, K: k, Transfers: 2,
			Time: fit.Estimate{Center: samples[1], Lo: samples[0], Hi: samples[2], N: len(samples)}, Samples: params.Samples(samples...),
		})
	}
	cell("ring", 2, 8192, 1, 2900, 3000, 3100)
	cell("ring", 1, 8192, 1, 1, 2, 3) // isolated is there instead
	cell("isolated", 1, 8192, 1, 1900, 2000, 2100)
	cell("ring", 2, 65536, 8, 23000, 24000, 25000)
	cell("ring", 1, 65536, 8, 7900, 8000, 8100) // is no L(m,1) in place of the isolated transfers'
	curves, err := Curves("a", f)
	check.Need(t, err == nil && len(curves) == 2, "%d curves, %v", len(curves), err)
	c := curves[0]
	check.True(t, c.Channel == Channel{"ring", numa.Local, false, 8192} && c.Segment && len(c.Points) == 2 && c.Machine == "a", "%+v", c)
	one, two := at(&c, 1), at(&c, 2)
	close := func(got fit.Estimate, center, lo, hi float64) bool {
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }
		return near(got.Center, center) && near(got.Lo, lo) && near(got.Hi, hi)
	}
	// L = l/2, A = 2·1000/1500 between 2·950/1550 and 2·1050/1450, 16384 bytes in 1500 ns.
	check.True(t, close(two.L, 1500, 1450, 1550) && close(two.A, 4./3, 1900./1550, 2100./1450) && close(two.Bandwidth, 16384/1500., 16384/1550., 16384/1450.),
		"τ = 2: %+v", two)
	check.Equal(t, two.Replicates.Launches(), 3, "launches of replicates")
	check.Equal(t, two.Replicates[0][0], 1450, "the first replicate")
	check.True(t, close(one.A, 1, 1, 1) && one.L.Center == 1000, "τ = 1: %+v", one)
	c = curves[1]
	p := at(&c, 2)
	check.True(t, !c.Segment && math.IsNaN(p.A.Center) && p.L.Center == 12000, "64K: %+v", c)
	check.Error(t, must.Err(Curves("b", &params.File{})), "no transfers: no error")
}

// noisy has the intervals of a file ten times as wide as its samples say.
var noisy = each(func(c *params.Cell) { c.Time.Lo, c.Time.Hi = c.Time.Center/10, 2*c.Time.Center })

// twice has the interval of two sessions that differ by 8 %: ±51 %.
var twice = each(func(c *params.Cell) {
	c.Time = fit.Replicates{c.Values(), lists.Map(c.Values(), func(ns float64) float64 { return 1.08 * ns })}.Estimate()
})

// The largest certain difference comes first, from whichever machine it is seen. A file too noisy to
// be a reference is none where another one can be; of files that all are too noisy that is said.
func TestHeadline(t *testing.T) {
	slow, quick := map[int]float64{1: 1000, 2: 2000}, map[int]float64{1: 500, 2: 550}
	try := func(machines []Machine, reference, warning, headline string) {
		t.Helper()
		c := must.Get(New(machines, Choice{Test: &Test{Drift: &Drift{}, Least: 0.03}}))
		check.Equal(t, c.Tables[0].Rows[0].Machine, reference, "machine to compare with")
		warned, got := sentences(c.Warnings), c.Verdict.Headline
		check.True(t, strings.Contains(warned, warning) && (warning != "" || !strings.Contains(warned, "too noisy")), "warnings %q, want %q", warned, warning)
		check.True(t, strings.HasPrefix(got, headline) && (got == "") == (headline == ""), "%q, want %q", got, headline)
	}
	try([]Machine{machine("a", slow), machine("b", quick)}, "a", "", "b moves 3.6 times the bytes of a: 29.8 against 8.19 GB/s (ring, placement local, in cache, m = 8K, τ = 2).")
	try([]Machine{machine("b", quick), machine("a", slow)}, "b", "", "b moves 3.6 times the bytes of a: 29.8 against 8.19 GB/s (ring,")
	try([]Machine{machine("a", slow), machine("b", map[int]float64{1: 900, 2: 1800})}, "a", "", "b moves 11 % more bytes than a: ")
	try([]Machine{machine("a", slow), machine("b", slow)}, "a", "", "")
	try([]Machine{machine("a", slow, noisy), machine("b", quick)}, "b", "a: too noisy to compare with, its intervals are ±95 % in the median: ratios are to b", "b moves 3.6 times the bytes of a")
	try([]Machine{machine("a", slow, few), machine("b", quick)}, "b", "a: most of its cells have too few samples for an interval: ratios are to b", "")
	try([]Machine{machine("a", slow, few), machine("b", quick, few)}, "a", "", "")
	try([]Machine{machine("a", slow), machine("b", quick, noisy)}, "a", "", "b moves 3.6 times the bytes of a")
	try([]Machine{machine("a", slow, noisy), machine("b", slow, noisy)}, "a", "", "The files are too noisy to compare: their intervals are ±95 % (a), ±95 % (b) in the median. Measure again where nothing else runs.")
	// What two sessions leave open is no noise.
	try([]Machine{machine("a", slow, twice), machine("b", slow, twice)}, "a", "", "")
}

func TestDistinguish(t *testing.T) {
	for _, test := range []struct{ hosts, paths, want []string }{
		{[]string{"a", "b"}, []string{"f", "g"}, []string{"a", "b"}},
		{[]string{"a", "a"}, []string{"x/f.json", "x/g.json"}, []string{"f.json", "g.json"}},
		{[]string{"a", "a", "a"}, []string{"/x/1/f", "/x/2/f", "g"}, []string{"1/f", "2/f", "g"}},
		{[]string{"a", "a"}, []string{"f", "x/f"}, []string{"f", "x/f"}},
		{[]string{"a", "b", "a"}, []string{"x/f", "g", "y/f"}, []string{"a (x/f)", "b", "a (y/f)"}},
	} {
		check.Slices(t, distinguish(test.hosts, test.paths), test.want, "names of hosts %q of files %q", test.hosts, test.paths)
	}
}
