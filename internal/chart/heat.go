package chart

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// MaxHeat is the largest side of a heat map: a cell is then a dot of print.
const MaxHeat = 1024

// HeatMaps are a machine's matrices of the chosen sizes, by default the first and the last.
func HeatMaps(machine string, all []view.Matrix, ch Choice) (*Chart, error) {
	first := &all[0]
	if n := len(first.Names); n > MaxHeat {
		return nil, fmt.Errorf("%d %ss are too many for a heat map, which has up to %d: measure some of them", n, first.Axis, MaxHeat)
	}
	drawn := view.Ends(all)
	if len(ch.Sizes) > 0 {
		drawn = lists.Filter(all, func(m view.Matrix) bool { return slices.Contains(ch.Sizes, m.Bytes) })
	}
	if len(drawn) == 0 {
		sizes := lists.Map(all, func(m view.Matrix) int { return m.Bytes })
		return nil, fmt.Errorf("the file has no pairs with m = %s: it has %s", sizesText(ch.Sizes), sizesText(sizes))
	}
	c := &Chart{Title: first.Title, Caption: []string{machine, first.How, "darker is slower"}}
	for i := range drawn {
		c.Panels = append(c.Panels, Panel{Name: drawn[i].Name, X: Axis{Label: first.Axis}, Y: Axis{Label: first.Axis}, Heat: &drawn[i]})
	}
	for i, g := range first.Groups {
		text := printable.Either(g.Pairs == 1, g.Name+": 1 pair,", fmt.Sprintf("%s: %d pairs, median", g.Name, g.Pairs))
		medians := lists.Map(drawn, func(m view.Matrix) string {
			if median := m.Groups[i].Median; median > 0 {
				return duration(median)
			}
			return "?"
		})
		c.Caption = append(c.Caption, text+" "+strings.Join(medians, ", "))
	}
	return c, nil
}

// ramp is from slow to fast. Its lightness rises evenly, so shades differ without colour, too.
var ramp, _ = moreland.NewLuminance([]color.Color{
	color.NRGBA{0x00, 0x23, 0x3F, 0xFF}, color.NRGBA{0x00, 0x72, 0xB2, 0xFF}, color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}, color.NRGBA{0xDC, 0xEE, 0xFB, 0xFF},
})

// A heat draws a matrix: darker is slower, or more. Cells with enough room have their numbers.
type heat struct {
	*view.Matrix
	least, most float64
}

// unit is the unit of the numbers.
func (h heat) unit() (name string, scale float64) {
	if !h.Volume {
		return view.TimeUnit(h.least)
	}
	return view.ByteUnit(h.least, 1e3, 1e3, "KB", "MB", "GB")
}

// narrow is the ratio of the slowest to the fastest below which shades do not span their whole range,
// so that noise does not look like structure.
const narrow = 1.5

// shades are the ramp in steps, safe for concurrent use.
var shades = func() []color.Color {
	ramp.SetMin(0)
	ramp.SetMax(1)
	return ramp.Palette(256).Colors()
}()

// shade is the shade of a value on a logarithmic scale.
func (h heat) shade(v float64) color.Color {
	least := h.least
	if h.Matrix != nil && h.Volume { // white would mean no bytes
		least /= 4
	}
	at := 1 - math.Log(v/least)/math.Log(max(h.most, narrow*least)/least)
	return shades[int(math.Round(min(max(at, 0), 1)*float64(len(shades)-1)))]
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	n := float64(len(h.Names))
	box := vg.Rectangle{Min: vg.Point{X: x(-0.5), Y: y(-0.5)}, Max: vg.Point{X: x(n - 0.5), Y: y(n - 0.5)}}
	place := []string{"class", "heat", "data-cells", strconv.Itoa(len(h.Names))}
	if s := svgOf(c); s != nil {
		left, top := s.at(vg.Point{X: box.Min.X, Y: box.Max.Y})
		place = append(place, "data-box", strings.Join([]string{brief(left), brief(top), brief(box.Size().X.Points()), brief(box.Size().Y.Points())}, " "))
		if len(h.Names) > mostCells {
			group(c, "", place, func() { s.DrawImage(box, h.image()) })
			return
		}
	}
	group(c, "", place, func() { h.cells(c, x, y) })
}

// mostCells is the largest side of a map that SVG draws with a shape for each pair, not as an image.
const mostCells = 32

// image has a pixel for each cell.
func (h heat) image() *image.NRGBA {
	n := len(h.Names)
	im := image.NewNRGBA(image.Rect(0, 0, n, n))
	for i := range n {
		for j := range n {
			if i != j && h.At(i, j).Time.Center > 0 {
				im.Set(j, i, h.shade(h.At(i, j).Time.Center))
			}
		}
	}
	return im
}

func (h heat) cells(c draw.Canvas, x, y func(float64) vg.Length) {
	n := len(h.Names)
	sty := textStyle(smallSize, ink, false)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YAlignment(-0.6)
	_, scale := h.unit()
	for i := range n {
		for j := range n {
			if i == j || !(h.At(i, j).Time.Center > 0) {
				continue
			}
			v, row := h.At(i, j).Time.Center, float64(n-1-i)
			cell := vg.Rectangle{Min: vg.Point{X: x(float64(j) - 0.5), Y: y(row - 0.5)}, Max: vg.Point{X: x(float64(j) + 0.5), Y: y(row + 0.5)}}
			shade := h.shade(v)
			c.SetColor(shade)
			under := cell // without seams between neighbours
			under.Max.X, under.Max.Y = under.Max.X+seam, under.Max.Y+seam
			c.Fill(under.Path())
			text := view.Digits(v/scale, 0)
			if size := cell.Size(); sty.Width(text)+2 < size.X && 1.2*smallSize < size.Y {
				r, g, b, _ := shade.RGBA()
				if sty.Color = ink; 0.299*float64(r)+0.587*float64(g)+0.114*float64(b) < 0.5*0xFFFF { // dark
					sty.Color = color.White
				}
				c.FillText(sty, vg.Point{X: x(float64(j)), Y: y(row)}, text)
			}
		}
	}
}

const seam = vg.Length(0.2)

// scaleOf is an axis of names; the first one is on top of a vertical axis.
func (h heat) scaleOf(label string, length vg.Length, horizontal bool) scale {
	n := len(h.Names)
	s := scale{lo: -0.5, hi: float64(n) - 0.5, label: label, horizontal: horizontal}
	need := func(text string) vg.Length {
		if horizontal {
			return tickStyle.Width(text) + 3
		}
		return 1.4 * smallSize
	}
	for step := 1; ; step *= 2 {
		s.ticks = nil
		for i := 0; i < n; i += step {
			at := float64(i)
			if !horizontal {
				at = float64(n - 1 - i)
			}
			s.ticks = append(s.ticks, plot.Tick{Value: at, Label: h.Names[i]})
		}
		if step >= n || need(h.Names[n-1])*vg.Length(n)/vg.Length(step) <= length {
			return s
		}
	}
}

// A swatch explains a shade in the legend.
type swatch struct{ color.Color }

func (s swatch) Thumbnail(c *draw.Canvas) {
	c.SetColor(s.Color)
	c.Fill(c.Rectangle.Path())
	c.SetColor(quiet)
	c.SetLineWidth(0.3)
	c.Stroke(c.Rectangle.Path())
}

// cellRoom is the largest width of a cell.
const cellRoom = vg.Length(34)

// heat makes a square panel. The legend has the least, the middle and the most value.
func (l *layout) heat(c Panel, width vg.Length) panel {
	h := heat{c.Heat, c.Least, c.Most}
	if c.Most == 0 {
		h.least, h.most = c.Heat.Span()
	}
	width = min(width, axisRoom+cellRoom*vg.Length(len(h.Names)))
	x, y := h.scaleOf(c.X.Label, width-axisRoom, true), h.scaleOf(c.Y.Label, width-axisRoom, false)
	name := c.Name
	if h.least <= h.most {
		unit, scale := h.unit()
		name += ", " + unit
		l.shaded = true
		for _, v := range []float64{h.least, math.Sqrt(h.least * h.most), h.most} {
			l.explain(h.Name+": "+view.Digits(v/scale, 0)+" "+unit, swatch{h.shade(v)})
		}
	}
	p := plot.New()
	p.Add(h)
	made := framed(p, x, y, width, width)
	made.X.Padding, made.Y.Padding = 0, 0
	made.width = width
	made.name = wrap([]string{name}, nameStyle, l.width-2*margin-axisRoom)
	return made
}
