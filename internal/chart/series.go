package chart

import (
	"cmp"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (s Series) colour() color.Color {
	c := palette[s.Colour%len(palette)]
	if s.Faint {
		n := c.(color.NRGBA)
		n.A = 0x60
		return n
	}
	return c
}

func (s Series) line() draw.LineStyle {
	sty := draw.LineStyle{Color: s.colour(), Width: lineWidth, Dashes: dashes[s.Style%len(dashes)]}
	if s.Fitted {
		sty.Dashes = []vg.Length{2, 2}
	}
	if s.Faint {
		sty.Width /= 2
	}
	return sty
}

func (s Series) mark() draw.GlyphStyle {
	of := s.Style
	if s.Marked {
		of = s.Colour
	}
	sty := draw.GlyphStyle{Color: s.colour(), Radius: markRadius, Shape: marks[of%len(marks)]}
	if n := len(s.Points); n == 1 || n == 2 && !s.Loose { // too few for a line and its dash
		sty.Shape = lone[s.order%len(lone)]
	}
	if len(s.Points) > manyPoints {
		sty.Radius *= 0.75
	}
	return sty
}

// Above manyPoints marks are smaller, and above tooManyPoints fewer, so as not to hide the line.
const (
	manyPoints    = 20
	tooManyPoints = 40
)

// plotters are the line, intervals longer than the mark, and marks that fit, between axes. Values ≤ 0 are left
// out on a logarithmic axis.
func (s Series) plotters(across, axis scale) (ps drawn) {
	ps.series = s
	var xys plotter.XYs
	at := &dots{GlyphStyle: s.mark(), across: across, up: axis, beside: s.beside}
	last := -across.length
	of := bars{LineStyle: barStyle(s.colour()), beside: s.beside}
	for _, p := range s.Points {
		y := p.Y.Center
		if !drawable(y) || axis.logarithmic && y <= 0 {
			continue
		}
		xys = append(xys, plotter.XY{X: p.X, Y: y})
		place := across.length * vg.Length(across.Normalize(across.lo, across.hi, p.X))
		if len(s.Points) > tooManyPoints && place-last < 3*markRadius {
			continue
		}
		last = place
		at.points = append(at.points, p)
		if p.Y.Known() && vg.Length(axis.Normalize(axis.lo, axis.hi, p.Y.Hi)-axis.Normalize(axis.lo, axis.hi, p.Y.Lo))*axis.length > 2*s.mark().Radius {
			of.points = append(of.points, p)
		}
	}
	if s.lined() {
		ps.plotters = append(ps.plotters, &plotter.Line{XYs: xys, LineStyle: s.line()})
	}
	if s.Faint {
		return ps
	}
	if len(of.points) > 0 {
		ps.plotters = append(ps.plotters, of)
	}
	if len(at.points) > 0 {
		ps.plotters, ps.marks = append(ps.plotters, at), at
	}
	return ps
}

// lined tells whether a line joins the points; two points have none.
func (s Series) lined() bool { return s.Faint || !s.Loose && len(s.Points) > 2 }

// drawn are the plotters of a series: line, intervals and marks.
type drawn struct {
	series   Series
	plotters []plot.Plotter
	marks    *dots // one of plotters
}

func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	attributes := []string{"class", "series", "data-name", d.series.Name}
	if d.series.Of != "" {
		attributes = append(attributes, "data-of", d.series.Of)
	}
	if s := svgOf(c); s != nil && s.terse && d.marks != nil {
		attributes = append(attributes, "data-x", d.marks.across.name, "data-y", d.marks.up.name, "data-v", d.marks.values(s, c, p))
	}
	group(c, cmp.Or(d.series.Name, d.series.Of), attributes, func() {
		for _, part := range d.plotters {
			part.Plot(c, p)
		}
	})
}

// dots are marks.
type dots struct {
	draw.GlyphStyle
	across, up scale
	beside     vg.Length
	points     []Point
}

func (d *dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, pt := range d.points {
		c.DrawGlyphNoClip(d.GlyphStyle, vg.Point{X: x(pt.X) + d.beside, Y: y(pt.Y.Center)})
	}
}

// values are the positions of marks, with x, y and the interval if known, for the page's script.
func (d *dots) values(s *svgCanvas, c draw.Canvas, p *plot.Plot) string {
	x, y := p.Transforms(&c)
	var all []string
	for _, pt := range d.points {
		left, top := s.at(vg.Point{X: x(pt.X) + d.beside, Y: y(pt.Y.Center)})
		text := s.short(left) + "," + s.short(top) + "," + d.across.value(pt.X) + "," + d.up.value(pt.Y.Center)
		if pt.Y.Known() && pt.Y.Lo != pt.Y.Hi {
			text += "," + d.up.value(pt.Y.Lo) + "," + d.up.value(pt.Y.Hi)
		}
		all = append(all, text)
	}
	return strings.Join(all, ";")
}

func (s Series) thumbs() (ts []plot.Thumbnailer) {
	if s.lined() {
		ts = append(ts, &plotter.Line{LineStyle: s.line()})
	}
	return append(ts, &plotter.Scatter{GlyphStyle: s.mark()})
}
