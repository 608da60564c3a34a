package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// charts are one of each kind, and those that are hard to lay out.
func charts() map[string]*Chart {
	long := strings.Repeat("node-with-a-very-long-name.", 8) + "example.org"
	here := []compare.Machine{swept("vm", []string{"ring"}, []numa.Policy{numa.Local}, 1, 2)}
	metropolis := fromText("metropolis", []int{1, 64, 8192, 4 << 20}, metropolis8K...)
	all := []compare.Machine{swept(long, []string{"ring", "ping", "bcast"}, []numa.Policy{numa.Local, numa.Spread, numa.Remote}, 2, 4, 8, 16, 32, 64, 128), metropolis, here[0]}
	many := lists.Map(lists.Indices(128), func(i int) float64 { return 1e6 * math.Sqrt(float64(i+1)) })
	every := Choice{Choice: compare.Choice{Caches: []bool{false, true}, Placements: []numa.Policy{numa.Local, numa.Spread}}}
	superdome := fromText("lusitania", []int{1, 100, 8192}, many...)
	vm := []compare.Machine{surveyed("vm", []int{1024}, 2)}
	return map[string]*Chart{
		"copies between levels":          must.Get(Copies(vm, Choice{})),
		"loaded":                         must.Get(loads(vm, Choice{})),
		"mlognp":                         must.Get(StridedCosts(strides())),
		"pairs of 8":                     must.Get(HeatMaps("vm", grouped(8), Choice{})),
		"pairs of 64":                    must.Get(HeatMaps(long, grouped(64), Choice{})),
		"map of many":                    must.Get(ProcessMap(mapped(64), Choice{})),
		"bars that go on":                wild(),
		"measured and published, over m": must.Get(TransfersOverSize([]compare.Machine{here[0], metropolis}, Choice{})),
		"l-tau":                          must.Get(TransfersOverTau(here, Choice{})),
		"concurrency":                    must.Get(Concurrency(here, Choice{})),
		"l-m":                            must.Get(TransfersOverSize(here, Choice{})),
		"A of many τ":                    must.Get(Concurrency([]compare.Machine{superdome, metropolis}, Choice{})),
		"many lines":                     must.Get(TransfersOverTau(all[:1], every)),
		"many sizes":                     must.Get(TransfersOverSize(all[1:], Choice{})),
		"access":                         must.Get(accesses(vm, Choice{})),
		"pack":                           must.Get(packs([]compare.Machine{vm[0], surveyed(long, []int{1024}, 2)}, Choice{})),
		"patterns":                       must.Get(patterns([]compare.Machine{surveyed(long, []int{1024}, 16)}, Choice{})),
		"disk":                           must.Get(disks(vm, Choice{})),
		"many panels":                    must.Get(accesses([]compare.Machine{surveyed("vm", []int{1024, 2048, 4096, 8192}, 2)}, Choice{Variants: []string{"1K", "2K", "4K", "8K"}})),
		"predicted of a long":            must.Get(Predictions(verified(long), Choice{})),
	}
}

// A text keeps its width where another font is used: Liberation Sans is not everywhere.
func TestTextsKeepTheirWidths(t *testing.T) {
	c := &Chart{Title: "τ < 2 & more", Panels: wild().Panels}
	drawn := must.Text(func(w io.Writer) error { return c.Write(w, "svg", 8) })
	n, of := strings.Count(drawn, "textLength="), strings.Count(drawn, "<text ")
	check.True(t, n == of && n != 0, "%d of %d texts have their width", n, of)
	want := fmt.Sprintf("textLength=\"%s\"", brief(titleStyle.Width(c.Title).Points()))
	first, _, _ := strings.Cut(drawn, "more</text>")
	check.True(t, strings.Contains(first[strings.LastIndex(first, "<text "):], want), "the title has not %s: %s", want, first[strings.LastIndex(first, "<text "):])
}

// Whatever the width, all text is on the page, and no text covers another or data.
func TestNothingOverlaps(t *testing.T) {
	for name, c := range charts() {
		for _, cm := range []vg.Length{MinWidth, 8, ColumnWidth, 17, 40} {
			l, w := c.layout(cm*vg.Centimeter), &witness{}
			l.draw(draw.NewCanvas(w, l.width, l.height))
			check.Need(t, len(w.boxes) >= 8, "%s: %d texts", name, len(w.boxes))
			for i, a := range w.boxes {
				if a.Min.X < 0 || a.Min.Y < 0 || a.Max.X > l.width || a.Max.Y > l.height {
					t.Errorf("%s, %g cm: %q is cut: %v of %g × %g", name, float64(cm), w.texts[i], a, l.width, l.height)
				}
				for j, b := range w.boxes[:i] {
					if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
						t.Errorf("%s, %g cm: %q overlaps %q", name, float64(cm), w.texts[i], w.texts[j])
					}
				}
			}
		}
	}
}

// A witness remembers where texts are.
type witness struct {
	recorder.Canvas
	turned []bool // by Push
	boxes  []vg.Rectangle
	texts  []string
}

func (w *witness) Push()          { w.turned = append(w.turned, false) }
func (w *witness) Pop()           { w.turned = w.turned[:len(w.turned)-1] }
func (w *witness) Rotate(float64) { w.turned[len(w.turned)-1] = true }

// FillString takes the box of the letters without the room above and below them.
func (w *witness) FillString(f font.Face, at vg.Point, text string) {
	size := f.Font.Size
	box := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 0.15*size}, Max: vg.Point{X: at.X + f.Width(text), Y: at.Y + 0.75*size}}
	if len(w.turned) > 0 && w.turned[len(w.turned)-1] { // by a quarter
		box = vg.Rectangle{Min: vg.Point{X: -box.Max.Y, Y: box.Min.X}, Max: vg.Point{X: -box.Min.Y, Y: box.Max.X}}
	}
	w.boxes = append(w.boxes, box)
	w.texts = append(w.texts, text)
}

// Labels of an axis of that many points: round ones, as many as have room.
func TestTicks(t *testing.T) {
	many := []float64{1, 1000, 1024, 1048, 4 << 20}
	try := func(what string, quantity Quantity, values []float64, length vg.Length, horizontal bool, unit, want string) {
		t.Helper()
		s := Axis{"x", quantity}.scaleOf(values, append([]float64(nil), values...), length, horizontal)
		var labels []string
		for _, tick := range s.Ticks(s.lo, s.hi) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
			at := s.Normalize(s.lo, s.hi, tick.Value)
			check.True(t, at >= -1e-6 && at <= 1+1e-6, "%s: tick %s stands at %g of the axis", what, tick.Label, at)
		}
		check.Equal(t, strings.Join(labels, " "), want, "%s", what)
		check.Equal(t, s.label, strings.TrimSuffix("x, "+unit, ", "), "%s: label", what)
	}
	try("customary sizes, wide", Sizes, many, 400, true, "", "1 4 16 64 256 1K 4K 16K 64K 256K 1M 4M")
	try("customary sizes, narrow", Sizes, many, 100, true, "", "1 16 256 4K 64K 1M")
	try("few sizes", Sizes, []float64{1024, 8192}, 190, true, "", "1K 8K")
	try("one size", Sizes, []float64{8192}, 190, true, "", "8K")
	try("strides", Sizes, []float64{1, 3, 4, 16, 1024}, 190, true, "", "1 3 4 16 1K")
	try("strides, too narrow", Sizes, []float64{4, 5, 6, 7, 8, 512}, 100, true, "", "4 16 64 256")
	try("τ of two CPUs", Counts, []float64{1, 2}, 190, true, "", "1 2")
	try("all τ of eight", Counts, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 190, true, "", "1 2 3 4 5 6 7 8")
	try("τ of many CPUs", Counts, []float64{1, 2, 4, 128}, 190, true, "", "1 2 4 8 16 32 64 128")
	try("A of eight", Counts, []float64{1, 3.7, 8}, 100, false, "", "1 2 4 6 8")
	try("A of twenty", Counts, []float64{1, 8.4, 20}, 100, false, "", "1 5 10 15 20")
	try("ns", Times, []float64{140, 600}, 100, false, "ns", "0 100 200 300 400 500 600")
	try("µs", Times, []float64{1892, 6593}, 100, false, "µs", "0 1 2 3 4 5 6")
	try("one time", Times, []float64{2e6}, 100, false, "ms", "0.0 0.5 1.0 1.5 2.0")
	try("nothing", Times, []float64{0, 0}, 100, false, "ns", "0.0 0.2 0.4 0.6 0.8 1.0")
	try("from ns to ms", Times, []float64{300, 2e6}, 100, false, "", "1 µs 10 µs 100 µs 1 ms")
	try("from µs on", Times, []float64{3e3, 60e3}, 120, false, "", "5 µs 10 µs 20 µs 50 µs")
	try("nearly alike", Proportions, []float64{0.97, 1.08}, 100, false, "", "0.95 1 1.05 1.1")
	try("twice and half", Proportions, []float64{0.5, 2}, 100, false, "", "0.5 0.75 1 1.25 1.5 2")
	try("far apart", Proportions, []float64{0.01, 3}, 100, false, "", "1/64 1/32 1/16 1/8 1/4 1/2 1 2")
	try("errors", Fractions, []float64{-0.33, 0.08}, 100, false, "%", "−30 −20 −10 0 +10")
	try("no error", Fractions, []float64{0, 0}, 100, false, "%", "−1.0 −0.5 0.0 +0.5 +1.0")
	try("absurd", Times, []float64{1e300, 5e-324}, 100, false, "ns", "0.0 0.2 0.4 0.6 0.8 1.0")
}

// Equal ratios are equally long on a logarithmic axis.
func TestLogarithmicAxes(t *testing.T) {
	for quantity, values := range map[Quantity][3]float64{Sizes: {1, 64, 4096}, Times: {100, 1000, 10000}, Proportions: {0.5, 1, 2}} {
		s := Axis{"x", quantity}.scaleOf(values[:], values[:], 200, true)
		var at [3]float64
		for i, v := range values {
			at[i] = s.Normalize(s.lo, s.hi, v)
		}
		check.True(t, math.Abs(at[2]-at[1]-(at[1]-at[0])) <= 1e-9 && at[0] < at[1], "%v are at %v", values, at)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("node17.cluster.example.", 40)
	for _, facts := range [][]string{
		{"", " ", long}, {"short", long, "τ = 4"}, {"words " + long + " between", strings.Repeat("a b ", 100)},
		{strings.Repeat("W", 300)}, {strings.Repeat("i", 300)}, {strings.Repeat("一", 300)}, {"\xff\x1b[2J" + long},
	} {
		for _, width := range []vg.Length{1, 40, 230} {
			lines := wrap(facts, titleStyle, width)
			for _, line := range lines {
				check.True(t, titleStyle.Width(line) <= width || len([]rune(line)) <= 1, "%.20q is wider than %v", line, width)
			}
			letters := func(texts []string) string {
				return strings.NewReplacer(" ", "", "·", "").Replace(strings.Join(texts, ""))
			}
			check.Equal(t, letters(lines), letters([]string{plain(strings.Join(facts, ""))}), "letters of %.20q in %v", facts, width)
		}
	}
}

// A text that does not fit keeps as much of its beginning and end as fits.
func TestShorten(t *testing.T) {
	for _, s := range []string{"node17", strings.Repeat("node", 50), strings.Repeat("i", 500), strings.Repeat("τ", 500)} {
		for _, width := range []vg.Length{-5, 0, 3, 100} {
			want, letters := s, []rune(s)
			for n := len(letters); legendStyle.Width(want) > width && n > 0; n-- {
				want = within(letters, n)
			}
			check.Equal(t, shorten(s, legendStyle, width, within), want, "%.10q… in %v", s, width)
		}
	}
}
