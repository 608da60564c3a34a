// Package chart draws what was measured, and what models say of it, as SVG, PNG and PDF.
//
// Its opinion: a figure says what it shows without the text around it: machine, setup, placement,
// cache and sizes stand in it, axes have units, and intervals are shown. It is made for a column of
// print, 8.5 cm; where there is more room, fonts and lines stay as they are and the data get the
// room. Colours are ones that colour-blind readers tell apart (Okabe and Ito, "Color Universal
// Design", 2008), and no two series differ by colour alone.
package chart

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// A Chart is panels over the same x axis, what they show, and their legend.
type Chart struct {
	Title   string
	Caption []string // sentences and facts, in order
	Omitted []string // what could be drawn as well, had it been chosen
	Panels  []Panel
}

// A Panel is a pair of axes and what is drawn between them.
type Panel struct {
	Name   string // above it; "": what the chart's title says
	X, Y   Axis
	Height float64   // relative to the first panel's; 0: 1
	Bands  []Band    // behind the series
	Levels []float64 // of y, to compare with
	Series []Series
	Heat   *view.Matrix // if not nil, all that is drawn, in a square
	Least  float64      // with Most what its shades span, where several maps compare; 0: its own times
	Most   float64
}

// An Axis is a quantity with the range that its values need.
type Axis struct {
	Label    string // without the unit, which the axis chooses
	Quantity Quantity
}

// A Quantity decides the scale of an axis, its unit and its ticks.
type Quantity int

// The quantities of axes.
const (
	Sizes       Quantity = iota // bytes: each tick some powers of two above the last
	Rates                       // from 0, given in MB/s, 10⁶ bytes, written in GB/s
	Strides                     // as sizes, with a tick at each that was measured if they have room
	Counts                      // τ, A(τ): as they are, or doubling where they become many
	Times                       // given in ns
	Bandwidths                  // given in GB/s, 10⁹ bytes
	Proportions                 // twice as much is as far from 1 as half
	Fractions                   // written in per cent, with their sign
	Shares                      // written in per cent, none below zero
)

// A Series is values with their intervals, drawn with one colour, mark and dash.
type Series struct {
	Name   string
	Of     string // the machine, where lines are of some
	Points []Point
	Colour int  // indices of style
	Style  int  // of mark and dash
	Marked bool // the mark goes with the colour, the dash alone with the style
	Loose  bool // marks without a line between them
	Faint  bool // thin and pale, behind the others, not in the legend
	Bare   bool // dashes without marks: a formula, not measured
	// Unmarked: a line alone, of many that only differ from others together.
	Unmarked bool
	beside   vg.Length // how far from X marks and bars are
	order    int       // among the lines of the chart
}

// A Point is a value at X. An interval that is not known is not drawn.
type Point struct {
	X float64
	Y fit.Estimate
}

// A Band is a region between two lines, shaded. In the legend its edges say what it is.
type Band struct {
	X       []float64
	Lo, Hi  []float64
	LoLabel string // of its edges; "" draws none
	HiLabel string
}

// ColumnWidth is the width of a column of print in cm.
const ColumnWidth = 8.5

// Widths in cm between which a chart is drawn.
const (
	MinWidth = 5
	MaxWidth = 100
)

// Formats are the formats of Write, which are the extensions of their files too.
var Formats = []string{"svg", "png", "pdf"}

const pngDotsPerInch = 300

// Write draws the chart, cm wide, in one of Formats.
func (c *Chart) Write(w io.Writer, format string, cm float64) error {
	if !(cm >= MinWidth && cm <= MaxWidth) {
		return fmt.Errorf("a chart is %d to %d cm wide, got %g", MinWidth, MaxWidth, cm)
	}
	width := vg.Length(cm) * vg.Centimeter
	l := c.layout(width)
	switch format {
	case "svg":
		return l.writeSVG(w, c.describe())
	case "png":
		canvas := vgimg.NewWith(vgimg.UseWH(width, l.height), vgimg.UseDPI(pngDotsPerInch))
		l.draw(draw.New(canvas))
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	case "pdf":
		canvas := vgpdf.New(width, l.height)
		l.draw(draw.NewCanvas(outlined{canvas}, width, l.height))
		_, err := canvas.WriteTo(w)
		return err
	}
	return fmt.Errorf("%q is no format of a chart: take one of %s", format, strings.Join(Formats, ", "))
}

// Words are the title, and the caption in a line.
func (c *Chart) Words() (title, about string) {
	return c.Title, strings.Join(lists.Map(c.Caption, printable.Line), " · ")
}

// describe says the chart in words, for those who do not see it.
func (c *Chart) describe() string {
	var panels, names []string
	for _, p := range c.Panels {
		if p.Name != "" {
			panels = append(panels, p.Name)
		}
		for _, s := range p.Series {
			if !s.Faint && s.Name != "" && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	text := strings.Join(c.Caption, " · ")
	if c.Title != "" {
		text = c.Title + ". " + text
	}
	if len(panels) > 0 {
		text += ". Panels: " + strings.Join(panels, "; ")
	}
	if len(names) > 0 {
		text += ". Lines: " + strings.Join(names, "; ")
	}
	return text
}
