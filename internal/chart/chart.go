// Package chart draws measurements and predictions as SVG, PNG and PDF.
//
// Its opinion: a figure is complete without the text around it: it names machine, setup, placement, cache
// and sizes, axes have units, and intervals are shown. It is made for a column of print, 8.5 cm; in a
// wider one fonts and lines keep their size. Colour-blind readers can tell the colours apart (Okabe and
// Ito, "Color Universal Design", 2008), and no two series differ by colour alone.
package chart

import (
	"fmt"
	"io"
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

// A Chart is panels over the same x axis, with title, caption and legend.
type Chart struct {
	Title   string
	Caption []string // sentences and facts, in order
	Omitted []string // names that a Choice could draw as well
	Panels  []Panel
}

// A Panel is a pair of axes with the bands, lines and marks between them.
type Panel struct {
	Name   string // above it; "" for none
	X, Y   Axis
	Height float64   // relative to the first panel's; 0: 1
	Bands  []Band    // behind the series
	Levels []float64 // horizontal reference lines
	Series []Series
	Heat   *view.Matrix // if not nil, a heat map is all that is drawn
	Least  float64      // the shades of the heat map span Least to Most; 0: its own times
	Most   float64
}

// An Axis is a quantity with the range that its values need.
type Axis struct {
	Label    string // without the unit, which the axis chooses
	Quantity Quantity
}

// A Quantity determines the scale of an axis, its unit and its ticks.
type Quantity int

// The quantities of axes.
const (
	Sizes       Quantity = iota // bytes, strides: a tick at each measured one if they have room, else at powers of two
	Rates                       // from 0, given in MB/s, 10⁶ bytes, written in GB/s
	Counts                      // τ, A(τ): linear, or logarithmic for many
	Times                       // given in ns
	Bandwidths                  // given in GB/s, 10⁹ bytes
	Proportions                 // logarithmic: 2 is as far from 1 as ½
	Fractions                   // written in per cent, with their sign
	Shares                      // written in per cent, none below zero
)

// A Series is values with their intervals, drawn with one colour, mark and dash.
type Series struct {
	Name   string
	Of     string // the machine, "" for none
	Points []Point
	Colour int       // index of palette
	Style  int       // index of marks and dashes
	Marked bool      // Colour is the index of the mark, Style of the dash alone
	Loose  bool      // marks without a line between them
	Faint  bool      // one of many, or a formula: thin and pale, without marks, behind the others, not in the legend
	Fitted bool      // dashes of a formula, not measured
	beside vg.Length // offset of marks and bars from X
	order  int       // index among the lines of the chart
}

// A Point is a value at X. An interval that is not known is not drawn.
type Point struct {
	X float64
	Y fit.Estimate
}

// A Band is a shaded region between two lines.
type Band struct {
	X       []float64
	Lo, Hi  []float64
	LoLabel string // of the lower edge in the legend; "": the edge is not drawn
	HiLabel string
}

// ColumnWidth is the width of a column of print in cm.
const ColumnWidth = 8.5

// Limits of the width in cm.
const (
	MinWidth = 5
	MaxWidth = 100
)

// Formats are the formats of Write, and the extensions of their files.
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

// say adds facts to the caption.
func (c *Chart) say(facts ...string) { c.Caption = append(c.Caption, stated(facts...)...) }

// stated are the texts that are not empty.
func stated(texts ...string) []string {
	return lists.Filter(texts, func(text string) bool { return text != "" })
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(stated(parts...), separator)
}

// Words are the title, and the caption in one line.
func (c *Chart) Words() (title, about string) {
	return c.Title, strings.Join(lists.Map(c.Caption, printable.Line), " · ")
}

// describe is the chart in words, for readers who do not see it.
func (c *Chart) describe() string {
	text := printable.If(c.Title != "", c.Title+". ") + strings.Join(c.Caption, " · ")
	if panels := joined("; ", lists.Map(c.Panels, func(p Panel) string { return p.Name })...); panels != "" {
		text += ". Panels: " + panels
	}
	series := lists.Concat(c.Panels, func(p Panel) []Series { return p.Series })
	series = lists.Filter(series, func(s Series) bool { return !s.Faint })
	if names := joined("; ", lists.Unique(lists.Map(series, func(s Series) string { return s.Name }))...); names != "" {
		text += ". Lines: " + names
	}
	return text
}
