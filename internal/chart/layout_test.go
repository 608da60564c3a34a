package chart

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/taulop/taulop/internal/compare"
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
	many := make([]float64, 128)
	for i := range many {
		many[i] = 1e6 * math.Sqrt(float64(i+1))
	}
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
	var b bytes.Buffer
	c := &Chart{Title: "τ < 2 & more", Panels: wild().Panels}
	must.Do(c.Write(&b, "svg", 8))
	n, of := strings.Count(b.String(), "textLength="), strings.Count(b.String(), "<text ")
	check.True(t, n == of && n != 0, "%d of %d texts have their width", n, of)
	want := fmt.Sprintf("textLength=\"%s\"", brief(titleStyle.Width(c.Title).Points()))
	first, _, _ := strings.Cut(b.String(), "more</text>")
	check.True(t, strings.Contains(first[strings.LastIndex(first, "<text "):], want), "the title has not %s: %s", want, first[strings.LastIndex(first, "<text "):])
}

// Whatever the width, all text is on the page, and no text covers another or data.
func TestNothingOverlaps(t *testing.T) {
	for name, c := range charts() {
		for _, cm := range []vg.Length{MinWidth, 8, ColumnWidth, 17, 40} {
			l := c.layout(cm * vg.Centimeter)
			w := &witness{}
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
