package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars are intervals with a cap at each end, or the head of an arrow where one ends beyond the axis.
type bars struct {
	draw.LineStyle
	points []Point
	beside vg.Length
}

// beyond explains arrows in the legend.
const beyond = "the interval goes on"

func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	across, up := p.Transforms(&c)
	for _, pt := range b.points {
		x := across(pt.X) + b.beside
		lo, hi := up(pt.Y.Lo), up(pt.Y.Hi)
		c.StrokeLine2(b.LineStyle, x, max(lo, c.Min.Y), x, min(hi, c.Max.Y))
		b.end(c, x, lo, c.Min.Y, -1)
		b.end(c, x, hi, c.Max.Y, +1)
	}
}

// end draws a cap at y, or an arrow at the edge of the axis if y is beyond.
func (b bars) end(c draw.Canvas, x, y, edge, outwards vg.Length) {
	if (y-edge)*outwards <= 0 {
		c.StrokeLine2(b.LineStyle, x-capWidth/2, y, x+capWidth/2, y)
		return
	}
	b.arrow(c, x, edge, outwards)
}

// arrow draws the head of an arrow with its tip at x, y.
func (b bars) arrow(c draw.Canvas, x, y, outwards vg.Length) {
	back := y - outwards*capWidth
	c.StrokeLines(b.LineStyle, []vg.Point{{X: x - capWidth/2, Y: back}, {X: x, Y: y}, {X: x + capWidth/2, Y: back}})
}

// clipped reports whether one of the bars ends outside the axis.
func (b bars) clipped(axis scale) bool {
	return slices.ContainsFunc(b.points, func(pt Point) bool {
		return axis.Normalize(axis.lo, axis.hi, pt.Y.Lo) < -1e-9 || axis.Normalize(axis.lo, axis.hi, pt.Y.Hi) > 1+1e-9
	})
}

func barStyle(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: 0.6} }

// Thumbnail is an arrow.
func (b bars) Thumbnail(c *draw.Canvas) {
	x := c.Center().X
	c.StrokeLine2(b.LineStyle, x, c.Min.Y, x, c.Max.Y)
	b.arrow(*c, x, c.Max.Y, +1)
}
