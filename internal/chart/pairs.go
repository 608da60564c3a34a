package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A Heat is times between things, ns: darker is slower. Where a cell has room its
// number stands in it.
type Heat struct {
	Name   string
	Labels []string    // of rows, from the top, and of columns
	Values [][]float64 // NaN where there is none
}

// MaxHeatCPUs is how many CPUs a heat map has at most: then a cell is a dot of print.
const MaxHeatCPUs = 1024

// Pairs is a heat map of transfers between two CPUs for each size: by itself the null
// transfer and the largest.
func Pairs(machine string, p *params.Pairs, ch Choice) (*Chart, error) {
	if n := len(p.CPUs); n > MaxHeatCPUs {
		return nil, fmt.Errorf("%d CPUs are too many for a heat map, which has up to %d: measure one of each core, or some with -cpus", n, MaxHeatCPUs)
	}
	at := make(map[int]int)
	var labels []string
	for i, cpu := range p.CPUs {
		at[cpu], labels = i, append(labels, strconv.Itoa(cpu))
	}
	rows, err := pairRows(p, ch.Sizes)
	if err != nil {
		return nil, err
	}
	c := &Chart{Title: "Transfers between two CPUs", Caption: []string{machine, "one pair at a time", "darker is slower"}}
	for _, row := range rows {
		heat := &Heat{Name: "null transfer, one way", Labels: labels}
		if m := p.Sizes[row]; m > 0 {
			heat.Name = "transfer of " + view.Bytes(m)
		}
		for range labels {
			line := make([]float64, len(labels))
			for i := range line {
				line[i] = math.NaN()
			}
			heat.Values = append(heat.Values, line)
		}
		for _, pair := range p.Pairs {
			i, j, t := at[pair.From], at[pair.To], pair.Times[row].Center
			heat.Values[i][j], heat.Values[j][i] = t, t
		}
		c.Panels = append(c.Panels, Panel{X: Axis{Label: "CPU"}, Y: Axis{Label: heat.Name}, Heat: heat})
	}
	for _, l := range p.Levels {
		text := fmt.Sprintf("%s: %d pairs, median", l.Name, l.Pairs)
		if l.Pairs == 1 {
			text = l.Name + ": 1 pair,"
		}
		for i, row := range rows {
			if i > 0 {
				text += ","
			}
			if l.Median[row] > 0 {
				text += " " + duration(l.Median[row])
			} else {
				text += " ?"
			}
		}
		c.Caption = append(c.Caption, text)
	}
	return c, nil
}

// pairRows are the sizes to draw.
func pairRows(p *params.Pairs, sizes []int) (rows []int, err error) {
	if len(sizes) == 0 {
		if rows = []int{0}; len(p.Sizes) > 1 {
			rows = append(rows, len(p.Sizes)-1)
		}
		return rows, nil
	}
	for row, m := range p.Sizes {
		for _, wanted := range sizes {
			if m == wanted {
				rows = append(rows, row)
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("the file has no pairs with m = %s: it has %s", sizesText(sizes), sizesText(p.Sizes))
	}
	return rows, nil
}

// shades are from slow to fast; their lightness rises evenly, so that they are told
// apart without colours too.
var shades, _ = moreland.NewLuminance([]color.Color{
	color.NRGBA{0x00, 0x23, 0x3F, 0xFF}, color.NRGBA{0x00, 0x72, 0xB2, 0xFF}, color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}, color.NRGBA{0xF2, 0xF8, 0xFF, 0xFF},
})

// span is the least and the most of the values.
func (h *Heat) span() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, line := range h.Values {
		for _, v := range line {
			if !math.IsNaN(v) && v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	return least, most
}

// narrow is the ratio of the slowest to the fastest below which shades do not span
// their whole range, so that noise does not look like structure.
const narrow = 1.5

// shade is a value's, on a logarithmic scale.
func (h *Heat) shade(v float64) color.Color {
	least, most := h.span()
	most = max(most, narrow*least)
	shades.SetMin(0)
	shades.SetMax(1)
	c, err := shades.At(min(max(1-math.Log(v/least)/math.Log(most/least), 0), 1))
	if err != nil {
		return quiet
	}
	return c
}

// dark tells whether a colour needs white text on it.
func dark(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	return 0.299*float64(r)+0.587*float64(g)+0.114*float64(b) < 0.5*0xFFFF
}

// Plot draws the cells. It is a plot.Plotter.
func (h *Heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	n := len(h.Values)
	sty := textStyle(smallSize, ink, false)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YAlignment(-0.6)
	least, _ := h.span()
	unit := unitOf(least)
	for i, line := range h.Values {
		for j, v := range line {
			if math.IsNaN(v) || v <= 0 {
				continue
			}
			row := float64(n - 1 - i)
			cell := vg.Rectangle{Min: vg.Point{X: x(float64(j) - 0.5), Y: y(row - 0.5)}, Max: vg.Point{X: x(float64(j) + 0.5), Y: y(row + 0.5)}}
			shade := h.shade(v)
			c.SetColor(shade)
			under := cell // without seams between neighbours
			under.Max.X, under.Max.Y = under.Max.X+seam, under.Max.Y+seam
			c.Fill(under.Path())
			text := view.Digits(v/unit.ns, 0)
			if size := cell.Size(); sty.Width(text)+2 < size.X && 1.2*smallSize < size.Y {
				if sty.Color = ink; dark(shade) {
					sty.Color = color.White
				}
				c.FillText(sty, vg.Point{X: x(float64(j)), Y: y(row)}, text)
			}
		}
	}
}

const seam = vg.Length(0.2)

// scaleOf is an axis of things, the first on top where it is vertical.
func (h *Heat) scaleOf(label string, length vg.Length, horizontal bool) scale {
	n := len(h.Labels)
	s := scale{lo: -0.5, hi: float64(n) - 0.5, label: label}
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
			s.ticks = append(s.ticks, plot.Tick{Value: at, Label: h.Labels[i]})
		}
		if step >= n || need(h.Labels[n-1])*vg.Length(n)/vg.Length(step) <= length {
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

// heat makes a panel of cells as high as it is wide. The legend has the least, the
// middle and the most of it.
func (l *layout) heat(c Panel, width vg.Length) panel {
	p := plot.New()
	p.BackgroundColor = nil
	x, y := c.Heat.scaleOf(c.X.Label, width-axisRoom, true), c.Heat.scaleOf(c.Y.Label, width-axisRoom, false)
	if least, most := c.Heat.span(); least <= most {
		unit := unitOf(least)
		y.label += ", " + unit.name
		for _, v := range []float64{least, math.Sqrt(least * most), most} {
			l.explain(c.Heat.Name+": "+view.Digits(v/unit.ns, 0)+" "+unit.name, swatch{c.Heat.shade(v)})
		}
	}
	style(&p.X, x, draw.XCenter, draw.YTop)
	style(&p.Y, y, draw.XRight, yTickAlign)
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(c.Heat)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.lo, x.hi, y.lo, y.hi
	return panel{Plot: p, height: width, x: wrap([]string{x.label}, labelStyle, width-axisRoom), y: wrap([]string{y.label}, labelStyle, width-axisRoom)}
}
