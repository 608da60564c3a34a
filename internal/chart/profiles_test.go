package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/access"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/strided"
)

// profiles draws what a survey measured.
func profiles(kind params.Kind) func([]compare.Machine, Choice) (*Chart, error) {
	return func(machines []compare.Machine, ch Choice) (*Chart, error) {
		i := slices.IndexFunc(survey.Drawn(), func(s *survey.Survey) bool { return s.Drawing.Kind == kind })
		return Profiles(survey.Drawn()[i].Drawing, machines, ch)
	}
}

var (
	accesses = profiles(params.AccessCell)
	packs    = profiles(params.PackCell)
	patterns = profiles(params.PatternCell)
	disks    = profiles(params.DiskCell)
	loads    = profiles(params.LoadedCell)
)

// surveyed is a machine with all surveys: passes over n elements, and patterns among ps ranks. A message at m takes
// 500 ns + m of them in a pattern, twice that from rank 0, and everything off cache ten times as long.
func surveyed(name string, n []int, ps ...int) compare.Machine {
	f := &params.File{Format: params.Format, Version: params.Version}
	f.Provenance.Hostname = name
	add := func(k params.Key, ns float64) {
		if k.Tau = max(k.Tau, 1); k.Placement == "" {
			k.Placement = numa.Local
		}
		if k.OffCache {
			ns *= 10
		}
		f.Cells = append(f.Cells, params.Cell{Key: k, Time: about(ns)})
	}
	for _, off := range []bool{true, false} { // not in the order in which they are drawn
		for _, p := range access.Grid([]string{"write", "read"}, []string{"float64", "int32"}, n, []int{1, 4, 16}) {
			add(params.Key{Kind: params.AccessCell, OffCache: off, Bytes: p.Bytes(), Variant: p.Variant()}, float64(p.N*p.Stride))
		}
		for _, p := range ps {
			for _, pattern := range verify.Patterns() {
				cases, _, err := pattern.Cases(p, []int{1024, 2048, 4096, 8192, 16384}, off, 0)
				if err != nil {
					panic(err)
				}
				for _, c := range cases {
					ns := 500 + float64(c.Schedule.Call.M)
					if strings.HasSuffix(c.Name, "-0") || strings.HasSuffix(c.Name, "-0-1") {
						ns *= 2
					}
					add(params.Key{Kind: params.PatternCell, OffCache: off, Tau: p, Bytes: c.Schedule.Call.M}.Named(c.Name), ns)
				}
			}
		}
	}
	for _, m := range []int{65536, 4096} {
		for _, d := range []int{512, 8, 4} {
			message := strided.Message{Bytes: m, Stride: d, Element: strided.Element}
			add(params.Key{Kind: params.PackCell, Placement: numa.List, Bytes: m}.Named(message.String()+"-L3"), float64(10*m*d))
			add(params.Key{Kind: params.PackCell, Bytes: m}.Named(message.String()), float64(m*d))
		}
		for _, variant := range []string{"write-cached", "read-cached", "write-direct", "read-direct"} {
			add(params.Key{Kind: params.DiskCell, Bytes: m}.Named(variant), float64(m))
		}
	}
	for i, tau := range []int{1, 2, 4, 8, 16, 32} {
		for j, ends := range []string{"L1-L1", "L2-L2", "L3-L3", "memory-memory", "L1-memory"} {
			for _, m := range []int{64, 4096, 65536} {
				add(params.Key{Kind: params.LevelCell, Tau: tau, Bytes: m}.Named(ends), float64(m)*float64(i+1)*float64(j+1))
			}
		}
	}
	for _, share := range []string{"0", "50", "100"} {
		ns := 100.0
		for _, variant := range []string{"read-" + share, "pair-" + share, "rate-read-" + share, "rate-pair-" + share} {
			ns += 50
			add(params.Key{Kind: params.LoadedCell}.Named(variant), ns*float64(len(share)))
		}
	}
	return compare.Machine{Name: name, Path: name, File: f}
}

// Of copies between levels the colour is the level and the dash τ, of which four are drawn;
// of several machines each has its colour, and each τ its panel.
func TestCopiesBetweenLevels(t *testing.T) {
	a, b := surveyed("a", []int{1024}, 2), surveyed("b", []int{1024}, 2)
	c := must.Get(Copies([]compare.Machine{a}, Choice{}))
	check.Need(t, len(c.Panels) == 1 && len(c.Panels[0].Series) == 16, "%s", shown(c))
	colours, dashes := make(map[string]int), make(map[string]int)
	for _, s := range c.Panels[0].Series {
		level, tau, _ := strings.Cut(s.Name, ", ")
		colour, known := colours[level]
		check.True(t, !known || colour == s.Colour, "%s has two colours", level)
		dash, known := dashes[tau]
		check.True(t, !known || dash == s.Style, "%s has two dashes", tau)
		colours[level], dashes[tau] = s.Colour, s.Style
	}
	check.Equal(t, len(colours), 4, "number of colours")
	check.Equal(t, len(dashes), 4, "number of dashes")
	for _, tau := range []string{"τ = 1", "τ = 32"} {
		_, drawn := dashes[tau]
		check.True(t, drawn, "%s is not drawn", tau)
	}
	c = must.Get(Copies([]compare.Machine{a}, Choice{Bandwidth: true}))
	check.Equal(t, c.Title, "Bandwidth of τ processes that copy at once", "title")
	c = must.Get(Copies([]compare.Machine{a, b}, Choice{Taus: []int{1, 2}, Variants: []string{"L1-L1", "L1-memory"}}))
	check.Equal(t, shown(c), "τ = 1: a, L1 → L1, a, L1 → memory, b, L1 → L1, b, L1 → memory | τ = 2: a, L1 → L1, a, L1 → memory, b, L1 → L1, b, L1 → memory", "shown")
	c = must.Get(Copies([]compare.Machine{a}, Choice{Taus: []int{1, 2, 4, 8, 16}, Variants: []string{"L1-L1", "L1-memory"}}))
	check.Equal(t, len(c.Panels), 5, "panels of five τ, more than there are dashes")
}

// shown is what a chart shows in words: panels, and what of measured lines is in each.
func shown(c *Chart) string {
	panels := lists.Map(c.Panels, func(p Panel) string {
		measured := lists.Filter(p.Series, func(s Series) bool { return !s.Faint })
		return strings.TrimPrefix(p.Name+": ", ": ") + strings.Join(lists.Map(measured, func(s Series) string { return s.Name }), ", ")
	})
	return strings.Join(panels, " | ")
}

func TestProfileCharts(t *testing.T) {
	a, b := surveyed("a", []int{1024, 4096}, 2, 8), surveyed("b", []int{1024}, 2, 4)
	choice := func(words ...string) Choice { return Choice{Variants: words} }
	try := func(what string, make func([]compare.Machine, Choice) (*Chart, error), of []compare.Machine, ch Choice, want, caption string) {
		t.Helper()
		c := must.Get(make(of, ch))
		check.Equal(t, shown(c), want, "%s", what)
		got := strings.Join(c.Caption, " · ")
		check.True(t, strings.Contains(got, caption) && strings.HasSuffix(got, "lower is better"), "%s: caption %q, want %q", what, got, caption)
	}
	try("accesses of the largest N", accesses, []compare.Machine{a}, Choice{}, "int32: read, write | float64: read, write", "a · placement local · in cache · N = 4K")
	try("the largest N of both", accesses, []compare.Machine{a, b}, choice("float64"), "a, read, a, write, b, read, b, write", "placement local · in cache · float64 · N = 1K")
	try("words that go together", accesses, []compare.Machine{a}, choice("FLOAT64", "read"), "", "a · read · placement local · in cache · float64 · N = 4K")
	try("words that do not", accesses, []compare.Machine{a}, choice("float64", "n=1k", "n=4k", "read"), "N = 1K:  | N = 4K: ", "a · read · placement local · in cache · float64")
	try("both caches", accesses, []compare.Machine{a}, Choice{Variants: []string{"int32", "write"}, Choice: compare.Choice{Caches: []bool{false, true}}}, "in cache, off cache", "a · write · placement local · int32 · N = 4K")
	try("strided messages", packs, []compare.Machine{a}, Choice{}, "packing: 4K, 64K | one way, L3: 4K, 64K", "a · in cache · bars")
	try("of one size", packs, []compare.Machine{a, b}, Choice{Choice: compare.Choice{Sizes: []int{4096}}}, "packing: a, b | one way, L3: a, b", "4K · in cache · bars")
	try("patterns of the largest P", patterns, []compare.Machine{a}, Choice{},
		"permutation: the median of 7 variants:  | ping-pong: the median of 28 variants:  | scatter: the median of 8 variants:  | broadcast: the median of 8 variants: ",
		"a · placement local · in cache · P = 8 · pale: T_s + m·τ_d, fitted to every other m · thin: each variant · lower")
	try("few variants", patterns, []compare.Machine{a}, Choice{P: 2}, "permutation: permutation-1 | ping-pong: ping-pong-0-1 | scatter: scatter-0, scatter-1 | broadcast: broadcast-0, broadcast-1", "P = 2")
	try("the largest P of both", patterns, []compare.Machine{a, b}, Choice{}, "permutation: a, b | ping-pong: a, b | scatter: the median of 2 variants: a, b | broadcast: the median of 2 variants: a, b", "thin: each variant · bars: 95 % intervals")
	try("chosen variants", patterns, []compare.Machine{a}, choice("scatter", "P = 8"), "scatter-0, scatter-1, scatter-2, scatter-3, scatter-4, scatter-5, scatter-6, scatter-7", "scatter · P = 8 · bars")
	try("more than can be told apart", patterns, []compare.Machine{a}, choice("ping-pong"), "the median of 28 variants: ", "ping-pong · P = 8")
	try("of two patterns", patterns, []compare.Machine{a}, choice("permutation-1", "scatter-0"), "permutation: permutation-1 | scatter: scatter-0", "P = 8")
	try("disks", disks, []compare.Machine{a}, Choice{}, "page cache out: read, write | page cache in: read, write", "a · bars: 95 % intervals · lower is better")
	try("writes of two", disks, []compare.Machine{a, b}, choice("cacheout", "write"), "a, b", "write · page cache out · bars")
}

// Times that are T_s + m·τ_d lie on their fitted line, which begins and ends where they do.
func TestFittedLines(t *testing.T) {
	c := must.Get(patterns([]compare.Machine{surveyed("a", []int{1024}, 2)}, Choice{}))
	for _, p := range c.Panels {
		var lines, fits int
		for _, s := range p.Series {
			if !s.Fitted {
				lines++
				continue
			}
			fits++
			factor := s.Points[0].Y.Center / (500 + 1024)
			for _, q := range s.Points {
				check.Near(t, q.Y.Center, factor*(500+q.X), 2*factor, "%s: fitted at m = %g", p.Name, q.X) // of whole bytes
			}
			first, last := s.Points[0].X, s.Points[len(s.Points)-1].X
			check.True(t, first == 1024 && last == 16384, "%s: fitted from m = %g to %g", p.Name, first, last)
		}
		check.True(t, lines != 0 && fits == lines, "%s: %d fitted lines of %d", p.Name, fits, lines)
	}
	few := Choice{Choice: compare.Choice{Sizes: []int{1024, 2048, 4096}}}
	c = must.Get(patterns([]compare.Machine{surveyed("a", []int{1024}, 2)}, few))
	check.True(t, !slices.ContainsFunc(c.Panels[0].Series, func(s Series) bool { return s.Fitted }) && !strings.Contains(strings.Join(c.Caption, ""), "T_s"),
		"a line is fitted to two sizes")
}

// Panels of the same quantities have the same axes: what is as long is as high.
func TestPanelsCompare(t *testing.T) {
	c := must.Get(packs([]compare.Machine{surveyed("a", []int{1024}, 2)}, Choice{}))
	l := c.layout(ColumnWidth * 28)
	for _, p := range l.panels[1:] {
		if first := l.panels[0]; p.X.Min != first.X.Min || p.X.Max != first.X.Max || p.Y.Min != first.Y.Min || p.Y.Max != first.Y.Max {
			t.Errorf("axes from %g to %g and %g to %g, and from %g to %g and %g to %g",
				first.X.Min, first.X.Max, first.Y.Min, first.Y.Max, p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
		}
	}
	contains.All(t, c.describe(), "Panels: packing; one way, L3. Lines: 4K; 64K")
}

// A caption says why there are no bars: samples were few, or there are none.
func TestCertaintyWithoutIntervals(t *testing.T) {
	for n, want := range map[int]string{0: "no intervals: no samples", 3: "no intervals: too few samples"} {
		m := surveyed("a", []int{1024})
		for i := range m.File.Cells {
			e := &m.File.Cells[i].Time
			e.Lo, e.Hi, e.N = math.Inf(-1), math.Inf(1), n
		}
		for what, make := range map[string]func([]compare.Machine, Choice) (*Chart, error){"accesses": accesses, "disks": disks} {
			c := must.Get(make([]compare.Machine{m}, Choice{}))
			check.True(t, slices.Contains(c.Caption, want), "%s of %d samples: the caption is %q, want %q", what, n, c.Caption, want)
		}
	}
}

// Cells that no axis has a place for, as a file may have them.
func TestProfilesWithoutAPlace(t *testing.T) {
	m := surveyed("a", []int{1024}, 2)
	for i := range m.File.Cells {
		if c := &m.File.Cells[i]; c.Kind == params.PatternCell && c.Bytes == 1024 {
			c.Bytes = 0
		}
	}
	c := must.Get(patterns([]compare.Machine{m}, Choice{}))
	svg(t, c)
	for _, s := range c.Panels[0].Series {
		check.Equal(t, s.Points[0].X, 2048, "first m of %s", s.Name)
	}
}

// Machines that are too many to be told apart are thin lines about their median, of one τ and one size; those
// that stand out have their own look.
func TestFleet(t *testing.T) {
	fleet := lists.Map(lists.Indices(MaxLines+1), func(i int) compare.Machine { // A(2) = 2/(i + 1)
		return fromText(fmt.Sprint("node", i), []int{64, 8192}, 1000, float64(1000*(i+1)), 2000)
	})
	for _, out := range [][]string{nil, {"node3"}} {
		c := must.Get(Concurrency(fleet, Choice{Out: out}))
		p := c.Panels[0]
		check.True(t, len(p.Series) == len(fleet)+1 && p.Series[0].Of == Median && shown(c) == strings.Join(append([]string{Median}, out...), ", "), "%s", shown(c))
		// Half of all A(2) are within 2/9 - 2/15 of 2/9, the ninth.
		middle, above := p.Series[0].Points[1].Y.Center, 1.4826*(2./9-2./15)
		check.True(t, math.Abs(middle-2./9) <= 1e-9 && p.Bands[0].X[1] == 2 && math.Abs(p.Bands[0].Hi[1]-middle-above) <= 1e-9,
			"the median is %v, the band %v", middle, p.Bands[0])
		contains.All(t, fmt.Sprint(c.Caption), "the median of 17 machines in the band of a robust standard deviation")
	}
	moved := slices.Clone(fleet)
	moved[1].Path = moved[0].Path
	c := must.Get(Concurrency(moved, Choice{})) // a machine in two states counts once
	contains.All(t, fmt.Sprint(c.Caption), "the median of 16 machines in 17 states in the band of a robust standard deviation")
	c = must.Get(TransfersOverSize(fleet[:compare.Fleet], Choice{Bandwidth: true}))
	check.True(t, shown(c) == Median+", τ = 1, "+Median+", τ = 3" && math.Abs(c.Panels[0].Series[0].Points[1].Y.Center-8.192) <= 1e-9, // 8192 B in 1000 ns
		"ten machines: %s, %v", shown(c), c.Panels[0].Series[0].Points)
	for what, make := range map[string]func([]compare.Machine, Choice) (*Chart, error){"l-m": TransfersOverSize, "ratio": Ratios} {
		c := must.Get(make(fleet, Choice{}))
		check.True(t, shown(c) == Median && slices.Contains(c.Caption, "τ = 3"), "%s: %s, %q", what, shown(c), c.Caption)
	}
}

// costs are of two collectives, m from 1K to 4K, in µs as many as KB, of the second machine twice as many.
func costs(machines ...string) *predict.Machines {
	d := &predict.Machines{}
	for i, name := range machines {
		d.Machines = append(d.Machines, predict.Source{Machine: name, Model: "τ-Lop"})
		for _, of := range []string{"barrier:tree", "bcast:linear", "bcast:binomial"} {
			for bytes := 1 << 10; bytes <= 4<<10; bytes *= 2 {
				collective, algorithm, _ := strings.Cut(of, ":")
				r := predict.MachineCost{Machine: name, Of: of, Prediction: predict.Prediction{Collective: collective, Algorithm: algorithm, P: 4, Bytes: bytes, Microseconds: float64(bytes>>10) * float64(i+1)}}
				if algorithm == "linear" {
					r.Lo, r.Hi = new(r.Microseconds/2), new(r.Microseconds*2)
				}
				if collective == "barrier" {
					r.Bytes = 0
				}
				d.Rows = append(d.Rows, r)
			}
		}
	}
	return d
}

func TestCosts(t *testing.T) {
	c, both := must.Get(Costs(costs("a"), Choice{})), costs("a")
	for _, r := range both.Rows {
		if r.Algorithm == "linear" {
			r.Collective, r.Of = "scatter", "scatter:linear"
			both.Rows = append(both.Rows, r)
		}
	}
	check.Slices(t, must.Get(Costs(both, Choice{})).Omitted, []string{"scatter"}, "omitted of both")
	check.Empty(t, c.Omitted, "omitted of bcast alone")
	first := c.Panels[0].Series[0].Points
	check.True(t, shown(c) == "linear, binomial" && c.Title == "Predicted cost: bcast" && len(first) == 3 && first[2].Y.Center == 4000 && first[2].Y.Lo == 2000 && first[2].Y.Hi == 8000,
		"%s: %v %+v", c.Title, shown(c), first)
	c = must.Get(Costs(costs("a", "b"), Choice{Algorithms: []string{"bcast:linear"}, Bandwidth: true}))
	slow := c.Panels[0].Series[1]
	// 4 KiB in 8 µs, which may be 4 or 16.
	y := slow.Points[2].Y
	check.True(t, slow.Name == "b" && y.Center == 0.512 && y.Lo == 0.256 && y.Hi == 1.024 && c.Panels[0].Y.Quantity == Bandwidths, "%+v", slow)
}

// grouped are times of n CPUs, four of which share a cache.
func grouped(n int) (all []view.Matrix) {
	names := lists.Map(lists.Indices(n), strconv.Itoa)
	for _, m := range []view.Matrix{
		{Name: "null transfer, one way", Groups: []view.Group{{Name: "shared L3", Median: 60}, {Name: "nodes 21 apart", Median: 240}}},
		{Name: "transfer of 8K", Bytes: 8192, Groups: []view.Group{{Name: "shared L3", Median: 600}, {Name: "nodes 21 apart", Median: 1300}}},
	} {
		empty := view.NewMatrix("CPU", names)
		m.Axis, m.Names, m.Cells = empty.Axis, empty.Names, empty.Cells
		for a := range n {
			for b := a + 1; b < n; b++ {
				g := min(1, b/4-a/4)
				m.Groups[g].Pairs++
				t := m.Groups[g].Median
				*m.At(a, b) = view.Cell{Group: g, Time: fit.Estimate{Center: t * (1 + 0.02*float64((a*7+b)%5)), Lo: t, Hi: t, N: 6}}
			}
		}
		all = append(all, m)
	}
	return all
}

// Slower is darker, all the way.
func TestSlowerIsDarker(t *testing.T) {
	h, last := heat{least: 50, most: 400}, math.Inf(1)
	for v := 50.0; v <= 400; v += 10 {
		r, g, b, _ := h.shade(v).RGBA()
		light := 0.2126*float64(r) + 0.7152*float64(g) + 0.0722*float64(b)
		check.True(t, light < last, "%g ns is no darker than %g ns", v, v-10)
		last = light
	}
}

// Few CPUs have their numbers in the cells, many have fewer labels than CPUs.
func TestHeatMaps(t *testing.T) {
	last := vg.Length(0)
	for _, cpus := range []int{2, 8, 16, 128} {
		c := must.Get(HeatMaps("host", grouped(cpus), Choice{}))
		text := must.Text(func(w io.Writer) error { return c.Write(w, "svg", ColumnWidth) })
		contains.All(t, text, "shared L3", "null transfer, one way", "transfer of 8K", ">CPU<")
		check.Equal(t, strings.Count(text, ">CPU<"), 4, "%d CPUs: axes of two maps say that they are CPUs", cpus)
		check.Equal(t, strings.Count(text, ">61.2<") > 0 || strings.Count(text, ">60.0<") > 0, cpus <= 8, "%d CPUs: numbers in cells", cpus)
		labels := 0
		for cpu := range cpus {
			labels += strings.Count(text, fmt.Sprintf(">%d<", cpu))
		}
		l := c.layout(17 * vg.Centimeter) // few CPUs have a small map
		check.True(t, l.height >= last && (cpus != 2 || l.panels[0].height <= 5*vg.Centimeter), "%d CPUs: %g cm high", cpus, l.panels[0].height/vg.Centimeter)
		last = l.height
		check.True(t, labels >= 4 && labels <= 4*30+4, "%d CPUs: %d labels", cpus, labels)
	}
}
