package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A drawing is what an SVG shows.
type drawing struct {
	elements []string
	texts    []string
	paths    []path
}

type path struct {
	points [][2]float64
	style  string
}

func svg(t *testing.T, c *Chart) *drawing {
	t.Helper()
	var b bytes.Buffer
	must.Do(c.Write(&b, "svg", ColumnWidth))
	d, decoder := &drawing{}, xml.NewDecoder(&b)
	inText := false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return d
		}
		must.Do(err)
		switch token := token.(type) {
		case xml.StartElement:
			d.elements = append(d.elements, token.Name.Local)
			inText = token.Name.Local == "text"
			if token.Name.Local == "path" {
				d.paths = append(d.paths, parsePaths(token)...)
			}
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				d.texts = append(d.texts, string(token))
			}
		}
	}
}

// parsePaths takes the ends of straight lines of each part of a path, and how it looks.
func parsePaths(e xml.StartElement) (paths []path) {
	var style, data string
	for _, a := range e.Attr {
		if a.Name.Local == "d" {
			data = a.Value
		} else {
			style += a.Name.Local + ":" + a.Value + ";"
		}
	}
	for part := range strings.SplitSeq(data[1:], "M") {
		p := path{style: style}
		for end := range strings.FieldsFuncSeq(part, func(r rune) bool { return strings.ContainsRune("LAZ", r) }) {
			var x, y float64
			if n, _ := fmt.Sscanf(end, "%g,%g", &x, &y); n == 2 {
				p.points = append(p.points, [2]float64{x, y})
			}
		}
		paths = append(paths, p)
	}
	return paths
}

// lines are the series of a colour: strokes thicker than axes, grid and bars, but not those in the legend.
func (d *drawing) lines(colour string) (lines []path) {
	for _, p := range d.paths {
		sample := len(p.points) == 2 && math.Abs(p.points[1][0]-p.points[0][0]-float64(thumbWidth)) < 0.01 && p.points[0][1] == p.points[1][1]
		if strings.Contains(p.style, "stroke:"+colour) && !strings.Contains(p.style, "stroke-width") && !sample {
			lines = append(lines, p)
		}
	}
	return lines
}

func (d *drawing) text() string { return strings.Join(d.texts, "\n") }

func (d *drawing) has(text string) bool {
	return slices.ContainsFunc(d.texts, func(t string) bool { return strings.Contains(t, text) })
}

const (
	blue       = "#0072B2"
	vermillion = "#D55E00"
	green      = "#009E73"
)

// A(8) of Metropolis is 8·3046.6/6548.225 = 3.722, and the points stand where the
// bounds, 1 and τ, say that they belong.
func TestConcurrencyOfMetropolis(t *testing.T) {
	d := svg(t, must.Get(Concurrency([]compare.Machine{fromText("metropolis", []int{8192}, metropolis8K...)}, Choice{})))
	contains.All(t, d.text(), "metropolis", "published parameters", "m = 8K", "A(τ) = τ·L(8K,1)/L(8K,τ)", "no intervals", "higher is better",
		"ideal, all at once: A = τ", "serial, one at a time: A = 1", "τ, concurrent transfers")
	lines := d.lines(blue)
	check.Need(t, len(lines) == 1 && len(lines[0].points) == 8, "blue lines: %v", lines)
	var serial, perfect path
	for _, p := range d.paths {
		switch {
		case strings.Contains(p.style, "stroke-dasharray:3 2") && len(p.points) == 8:
			perfect = p
		case strings.Contains(p.style, "stroke-dasharray:1 1.5") && len(p.points) == 8:
			serial = p
		}
	}
	check.Need(t, serial.points != nil && perfect.points != nil, "the bounds are not drawn")
	one, eight := serial.points[0][1], perfect.points[7][1]
	for i, at := range lines[0].points {
		A := float64(i+1) * metropolis8K[0] / metropolis8K[i]
		check.Near(t, at[1], one+(A-1)/7*(eight-one), 0.05, "y of A(%d) = %.3f", i+1, A)
		check.Near(t, at[0], serial.points[i][0], 0.05, "x of τ = %d", i+1)
	}
}

// Of many τ powers of two are drawn.
func TestTransfersOverSize(t *testing.T) {
	m := fromText("metropolis", []int{1, 64, 4096, 262144}, metropolis8K[:4]...)
	d := svg(t, must.Get(TransfersOverSize([]compare.Machine{m}, Choice{})))
	for _, want := range []string{"1", "64", "4K", "256K", "10 µs", "τ = 1", "τ = 2", "τ = 4", "m, bytes", "L(m,τ)"} {
		check.True(t, slices.Contains(d.texts, want), "no %q in %q", want, d.texts)
	}
	check.True(t, !slices.Contains(d.texts, "τ = 3") && len(d.lines(green)) == 1 && len(d.lines(green)[0].points) == 4, "%q, lines %v", d.texts, d.lines(green))
}

// L(8K,τ) is drawn from zero, a line for each setup and machine, with bars.
func TestTransfersOverTau(t *testing.T) {
	two := []compare.Machine{swept("a", []string{"ring", "bcast"}, []numa.Policy{numa.Local, numa.Remote}, 1, 2, 4), fromText("metropolis", []int{8192}, metropolis8K...)}
	d := svg(t, must.Get(TransfersOverTau(two, Choice{})))
	contains.All(t, d.text(), "a, ring, placement local, in cache", "a, bcast, placement local, in cache", "metropolis, published parameters", "m = 8K",
		"L(8K,τ), µs", "lower is better", "95 % intervals, where known")
	check.True(t, !d.has("remote") && !d.has("off cache"), "remote memory or off cache, and nobody asked for them")
	check.True(t, slices.Contains(d.texts, "0"), "the axis does not begin at zero: %q", d.texts)
	bar := func(p path) bool {
		return strings.Contains(p.style, "stroke-width:0.6") && strings.Contains(p.style, blue)
	}
	check.True(t, slices.ContainsFunc(d.paths, bar), "intervals are not drawn")
	d = svg(t, must.Get(TransfersOverTau(two[:1], Choice{Choice: compare.Choice{Setups: []string{"ring"}, Placements: []numa.Policy{numa.Remote}, Caches: []bool{true}}, Taus: []int{1, 2, 4}})))
	check.True(t, d.has("a · S = 8K · ring · placement remote · off cache") && len(d.lines(blue)) == 1 && len(d.lines(blue)[0].points) == 3 && d.lines(vermillion) == nil,
		"chosen: %q, %v", d.texts, d.lines(blue))
}

func TestRatios(t *testing.T) {
	sizes := []int{1, 64, 8192}
	a, b, c := fromText("a", sizes, 100, 200), fromText("b", sizes, 200, 400), fromText("c", sizes, 50, 100)
	ratios := must.Get(Ratios([]compare.Machine{a, b, c}, Choice{Taus: []int{2}}))
	contains.All(t, ratios.describe(), "as a ratio to a", "below 1 faster than a", "τ = 2", "Lines: b; c")
	p := ratios.Panels[0]
	check.True(t, !strings.Contains(ratios.describe(), "bars") && p.Series[0].Points[0].Y.Center == 2 && p.Series[1].Points[0].Y.Center == 0.5 && p.Levels[0] == 1,
		"%s: %+v", ratios.describe(), p)
}

// A(τ) over m has lines at its bounds, and a survey that a machine lacks is missing in all its states.
func TestBoundsAndStates(t *testing.T) {
	moved := compare.Machine{Name: "vm", File: must.Get(params.ReadFile(sweeptest.Moved(t)))}.Each()
	check.Slices(t, must.Get(ConcurrencyOverSize(moved, Choice{})).Panels[0].Levels, []float64{1, 2}, "lines at")
	check.Equal(t, len(moved), 2, "states")
	check.Equal(t, fmt.Sprint(must.Err(accesses(moved, Choice{}))), "vm has no accesses: measure them with taulop access", "error")
}

// Models are lines, measurements are marks.
func TestPredictions(t *testing.T) {
	v := verified("message", "bcast:binomial", "allgather:ring")
	c := must.Get(Predictions(v, Choice{}))
	d := svg(t, c)
	contains.All(t, d.text(), "Predicted and measured: bcast:binomial", "vm", "P = 4", "in cache", "segments of 8K", "measured", "τ-Lop", "log_nP", "LogGP", "relative error, %", "+100", "−50")
	check.Equal(t, len(d.lines(blue))+len(d.lines(vermillion))+len(d.lines(green)), 6, "lines of three models, for times and errors")
	for i, want := range []float64{0, -0.5, 1} {
		check.Near(t, c.Panels[1].Series[i].Points[0].Y.Center, want, 1e-9, "the error of %s", c.Panels[1].Series[i].Name)
	}
	d = svg(t, must.Get(Predictions(v, Choice{Choice: compare.Choice{Caches: []bool{true}}, Algorithms: []string{"message"}})))
	contains.All(t, d.text(), "measured: message", "off cache")
}

func TestAccuracy(t *testing.T) {
	v := verified("message", "bcast:binomial", "allgather:ring")
	d := svg(t, must.Get(Accuracy(v, Choice{})))
	contains.All(t, d.text(), "Predicted over measured time", "the median of 2 algorithms", "bcast:binomial, allgather:ring", "predicted / measured")
	bold := d.lines(green)
	check.True(t, len(bold) == 1 && len(bold[0].points) == 3, "medians of LogGP: %v", bold)
	d = svg(t, must.Get(Accuracy(v, Choice{Algorithms: []string{"bcast"}})))
	contains.All(t, d.text(), "time: bcast:binomial", "bars: 95 %")
}

// Copies share are drawn beside those out of own buffers, unless chosen.
func TestSharedCopies(t *testing.T) {
	m := swept("vm", []string{"ring"}, []numa.Policy{numa.Local}, 1, 2)
	for _, c := range m.File.Cells {
		if c.Kind == params.CopyCell {
			c.Setup = "share"
			m.File.Cells = append(m.File.Cells, c)
		}
	}
	all := svg(t, must.Get(Copies([]compare.Machine{m}, Choice{})))
	contains.All(t, all.text(), "τ = 1, copy", "τ = 2, copy", "τ = 1, share", "τ = 2, share")
	one := svg(t, must.Get(Copies([]compare.Machine{m}, Choice{Choice: compare.Choice{Setups: []string{"share"}}})))
	check.True(t, strings.Contains(strings.Join(one.texts, " "), "· share ·") && !one.has("τ = 1, copy"), "%q", one.texts)
}

// Each format opens and is what its extension says. TestNothingOverlaps has all charts in SVG.
func TestFormats(t *testing.T) {
	all := charts()
	for _, name := range []string{"l-tau", "pairs of 8", "map of many", "many panels", "bars that go on"} {
		c := all[name]
		var b bytes.Buffer
		check.NoError(t, c.Write(&b, "png", ColumnWidth), "%s", name)
		im, err := png.Decode(&b)
		check.True(t, err == nil && im.Bounds().Dx() == 1004, "%s: PNG: %v", name, err) // 8.5 cm of 300 dots an inch
		b.Reset()
		check.NoError(t, c.Write(&b, "pdf", ColumnWidth), "%s", name)
		check.True(t, strings.HasPrefix(b.String(), "%PDF-"), "%s: not a PDF: %.60q", name, &b)
		contains.All(t, b.String(), "%%EOF", "/MediaBox [0 0 240.9")
	}
	var b bytes.Buffer
	c := all["l-tau"]
	contains.Error(t, c.Write(&b, "gif", ColumnWidth), "svg, png, pdf")
	check.Error(t, c.Write(&b, "svg", math.NaN()), "NaN cm")
	check.Equal(t, b.Len(), 0, "bytes of what cannot be drawn")
}

// wild is a line whose intervals are far longer than what they are of, one of them in both directions.
func wild() *Chart {
	e := func(y, lo, hi float64) fit.Estimate { return fit.Estimate{Center: y, Lo: lo, Hi: hi, N: 9} }
	points := []Point{{1024, e(1000, 500, 2000)}, {2048, e(2000, 1, 1e6)}, {4096, e(4000, 3900, 1e7)}, {8192, e(8000, -5, 8100)}}
	return &Chart{Title: "wild", Caption: []string{"bars: 95 % intervals"}, Panels: []Panel{
		{Name: "over decades", X: Axis{"m, bytes", Sizes}, Y: Axis{"time", Times}, Series: []Series{{Name: "measured", Points: append(points, Point{16384, e(32000, 20000, 40000)})}}},
	}}
}

// Bars of many series that overlap stand nearer to their own X than to another.
func TestBarsBeside(t *testing.T) {
	c := Panel{X: Axis{"τ", Counts}, Y: Axis{"A(τ)", Counts}}
	for range 9 {
		points := lists.Map([]float64{1, 2, 4, 8}, func(tau float64) Point {
			return Point{tau, fit.Estimate{Center: tau, Lo: 0.9 * tau, Hi: 1.1 * tau, N: 9}}
		})
		c.Series = append(c.Series, Series{Points: points})
	}
	const length = 140 // 20 from 1 to 2
	beside := c.beside(c.X.scaleOf([]float64{1, 8}, []float64{1, 2, 4, 8}, length, true))
	width := beside[8] - beside[0]
	check.True(t, 5 < width && width <= 10, "%v wide", width)
}

// A bar that goes on beyond the axis has an arrow there, one that ends a cap; the legend says what arrows are.
func TestBarsGoOn(t *testing.T) {
	count := func(c *Chart) (arrows, caps int, legend bool) {
		d := svg(t, c)
		for _, p := range d.paths {
			switch {
			case !strings.Contains(p.style, "stroke:"+blue) || !strings.Contains(p.style, "stroke-width:0.6"):
			case len(p.points) == 3:
				arrows++
			case len(p.points) == 2 && p.points[0][1] == p.points[1][1]:
				caps++
			}
		}
		return arrows, caps, d.has(beyond)
	}
	// Below end the second and the fourth, above the second and the third; the last and the
	// first have two caps, the third and the fourth one.
	arrows, caps, legend := count(wild())
	check.True(t, arrows == 4 && caps == 6 && legend, "%d arrows, %d caps, in the legend %v", arrows, caps, legend)
	nameless := wild()
	nameless.Panels[0].Series[0].Name = ""
	_, _, legend = count(nameless)
	check.True(t, legend, "the legend does not say what arrows are where it has nothing else")
	here := []compare.Machine{swept("vm", []string{"ring"}, []numa.Policy{numa.Local}, 1, 2)}
	arrows, caps, legend = count(must.Get(TransfersOverTau(here, Choice{})))
	check.True(t, arrows == 0 && caps > 0 && !legend, "of bars that end: %d arrows, %d caps, in the legend %v", arrows, caps, legend)
}

// mapped is a ring of processes on nodes of 4 cores.
func mapped(n int) *processmap.Result {
	r := &processmap.Result{Matrix: "ring", Machine: "cluster", Processes: n, Pairs: 2 * n, Nodes: n / 4, Best: "block",
		Cores: make([]processmap.Core, 4), Groups: [][][]int{{{0, 1}, {2, 3}}, {{0, 1, 2, 3}}},
		Mappings: []processmap.Mapping{{Method: "block", OverBlock: new(0.25), OverCyclic: new(0.25)}}}
	for i := range n {
		r.Sent = append(r.Sent, []comm.Entry{{To: (i + 1) % n, Bytes: int64(1000 * (i + 1))}})
		r.Mappings[0].Places = append(r.Mappings[0].Places, i)
	}
	return r
}

// strides is what messages of two sizes cost under two models, half as much under the second.
func strides() *predict.Strided {
	d := &predict.Strided{Algorithm: "bcast:linear", Where: []string{"node1", "P = 8"}}
	for _, m := range []int{4096, 1024} {
		for _, stride := range []int{8, 64, 512} {
			ns := float64(m * stride)
			d.Rows = append(d.Rows, predict.StridedCost{Model: "log_3P", Stride: stride, Bytes: m, Seconds: ns * 1e-9, Extrapolated: true},
				predict.StridedCost{Model: "mlog_nP", Stride: stride, Bytes: m, Seconds: ns * 0.5e-9})
		}
	}
	return d
}

func TestStridedCosts(t *testing.T) {
	c := must.Get(StridedCosts(strides()))
	check.Equal(t, shown(c), "m = 1K: log_3P, mlog_nP | m = 4K: log_3P, mlog_nP", "shown")
	check.Equal(t, c.Panels[1].Series[1].Points[2].Y.Center, 4096*512/2, "cost of 4K under mlog_nP")
	contains.All(t, c.describe(), "bcast:linear", "node1 · P = 8", "some of it beyond")
}

// against is an allreduce among 8 ranks, which is no line over P, and broadcasts of three algorithms among ranks that double from least
// to 64.
func against(least int) *report.Published {
	d := &report.Published{Source: predict.Source{Machine: "epyc"}, Comparison: &published.Comparison{}}
	for i, name := range []string{"linear", "binomial", "scatter_allgather"} {
		for p := least; p <= 64; p *= 2 {
			off := 0.1 * float64(i*p) / 8
			d.Cells = append(d.Cells, published.Cell{Case: published.Case{Collective: "bcast", Mapping: "core", P: p, Bytes: 1024}, Setting: mpi.Setting{ID: i + 1, Name: name}, Error: &off})
		}
	}
	d.Cells = append(d.Cells, published.Cell{Case: published.Case{Collective: "allreduce", Mapping: "core", P: 8, Bytes: 1024}, Setting: mpi.Setting{ID: 1, Name: "linear"}, Error: new(0.1)})
	return d
}

// Names come from files of others; a name of any length is drawn in little time.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"<script>alert(1)</script>", `"><svg onload="alert(1)`, "]]>&lt;", "a\x00\x1b[31m\nb", "\xff\xfe", "主机", "\u202egnp.exe", strings.Repeat("x", 1_000_000), strings.Repeat("node ", 200_000)} {
		machines := []compare.Machine{fromText(name, []int{64, 8192}, metropolis8K...), fromText("b", []int{64, 8192}, metropolis8K...)}
		for _, make := range []func([]compare.Machine, Choice) (*Chart, error){TransfersOverTau, Concurrency, TransfersOverSize, Ratios} {
			c := must.Get(make(machines, Choice{}))
			d := svg(t, c)
			check.True(t, !slices.Contains(d.elements, "script") && slices.Index(d.elements[1:], "svg") < 0, "%.40q became elements: %q", name, d.elements)
			check.True(t, name[0] != '<' || d.has("<script>alert(1)</script>"), "%.40q is not shown: %q", name, d.texts)
			check.NoError(t, c.Write(io.Discard, "pdf", ColumnWidth), "%.40q", name)
		}
	}
}

// As many lines as a chart takes all look different without colours too, also of few machines.
func TestLinesLookDifferent(t *testing.T) {
	for _, machines := range []int{1, 2, 4, 8, MaxLines} {
		for _, alike := range []bool{false, true} { // all have the same τ
			var lines []line
			for i := range MaxLines {
				l := line{machine: fmt.Sprint(i % machines), name: fmt.Sprint(i)}
				if alike {
					l.name, l.tau = "", fmt.Sprint(i/machines)
				}
				lines = append(lines, l)
			}
			series, _ := named(lines)
			seen := make(map[string]string)
			for _, s := range series {
				look := fmt.Sprintf("%T %v", s.mark().Shape, s.line().Dashes)
				other, twice := seen[look]
				check.True(t, !twice, "of %d machines %q looks like %q: %s", machines, s.Name, other, look)
				seen[look] = s.Name
			}
		}
	}
}

// metropolis8K is L(8K,1) … L(8K,8) in ns, of the published parameters of Metropolis (taulop-2015, Fig. 21).
var metropolis8K = []float64{3046.6, 3521.025, 5012.675, 5278.775, 5912.075, 6289.475, 6593.125, 6548.225}

// fromText is a machine in the published format, with as many τ as it has times.
func fromText(name string, sizes []int, times ...float64) compare.Machine {
	t := &params.Table{Overheads: make([]float64, len(sizes))}
	t.Transfers.Sizes = sizes
	t.Transfers.Taus = lists.Indices(len(times) + 1)[1:]
	t.Transfers.Times = lists.Map(sizes, func(m int) []float64 {
		return lists.Map(times, func(ns float64) float64 { return ns * 1e-9 * float64(m) / 8192 })
	})
	f := params.FromText(t, nil)
	f.Provenance.Hostname = name
	return compare.Machine{Name: name, Path: name, File: f}
}

// swept is a machine as taulop sweep writes it, whose memory carries one transfer
// at once, in time; off cache it takes twice as long.
func swept(name string, setups []string, placements []numa.Policy, taus ...int) compare.Machine {
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: provenance.Provenance{Hostname: name}, Plan: params.Plan{
		Setups: setups, Policies: placements, Sizes: []int{1, 64, 8192, 1 << 20}, Taus: taus, Caches: []bool{false, true}, SegmentBytes: 8192}}
	for _, off := range f.Plan.Caches {
		for _, placement := range placements {
			for _, tau := range taus {
				for _, m := range f.Plan.Sizes {
					ns := float64(100+m) * float64(tau)
					if off {
						ns *= 2
					}
					cell := params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: placement, OffCache: off, Tau: tau, Bytes: m}, Time: about(ns / 2)}
					f.Cells = append(f.Cells, cell)
					for _, setup := range setups {
						cell := params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: placement, OffCache: off, Tau: tau, Bytes: m},
							K: max(1, m/8192), Transfers: 1, Time: about(ns)}
						f.Cells = append(f.Cells, cell)
					}
				}
			}
		}
	}
	return compare.Machine{Name: name, Path: name, File: f}
}

func about(ns float64) fit.Estimate {
	return fit.Estimate{Center: ns, Lo: 0.8 * ns, Hi: 1.3 * ns, N: 9}
}

// verified is what taulop verify could write: τ-Lop is right, log_nP predicts half
// and LogGP twice of what was measured.
func verified(algorithms ...string) *verify.Result {
	v := &verify.Result{Setting: verify.Setting{Provenance: provenance.Provenance{Hostname: "vm"}, SegmentBytes: 8192}}
	for _, off := range []bool{false, true} {
		for _, name := range algorithms {
			for _, m := range []int{0, 1024, 65536, 4 << 20} {
				ns := 500 + float64(m)/8
				r := verify.Row{Name: name, P: 4, Bytes: m, OffCache: off, Measured: about(ns)}
				for i, share := range []float64{1, 0.5, 2} {
					r.Predicted = append(r.Predicted, verify.Prediction{Model: []string{verify.Full, "log_nP", "LogGP"}[i], Ns: share * ns})
				}
				v.Rows = append(v.Rows, r)
			}
		}
	}
	return v
}
