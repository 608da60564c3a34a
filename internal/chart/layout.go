package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/taulop/taulop/internal/lists"
)

// A layout is a chart with positions: title and caption on top, the panels, then the legend, which never
// covers data.
type layout struct {
	width, height  vg.Length
	title, caption []string
	panels         []panel
	legend         []entry
	shaded         bool        // the legend has shades of a matrix
	clear          bool        // for a page: without a background, and terse
	columns        []vg.Length // widths of the legend's columns
}

// A panel draws its labels itself: the room that a logarithmic axis of package plot makes for them is wrong.
type panel struct {
	*plot.Plot
	height vg.Length
	width  vg.Length // with axis and labels; 0: the width of the chart
	name   []string  // in lines
	x, y   []string  // labels
}

// labels is the room for the labels and the name.
func (p panel) labels() (left, bottom, top vg.Length) {
	room := func(lines []string) vg.Length {
		if len(lines) == 0 {
			return 0
		}
		return lineSpacing*labelSize*vg.Length(len(lines)) + 1
	}
	return room(p.y), room(p.x), room(p.name)
}

// An entry explains a line in the legend.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

var (
	titleStyle   = textStyle(titleSize, ink, true)
	captionStyle = textStyle(smallSize, quiet, false)
	legendStyle  = textStyle(smallSize, ink, false)
	labelStyle   = textStyle(labelSize, ink, false)
	nameStyle    = textStyle(labelSize, ink, true)
	tickStyle    = textStyle(smallSize, ink, false)
)

const (
	lineSpacing = 1.3
	thumbWidth  = vg.Length(20)
	thumbGap    = vg.Length(3)
	entryGap    = vg.Length(10)
	panelGap    = vg.Length(6)
	axisRoom    = vg.Length(40)  // what axis label and ticks take, about
	pageRoom    = vg.Length(640) // what panels take together at most: a column of print
)

func (c *Chart) layout(width vg.Length) *layout {
	l := &layout{width: width}
	inner := width - 2*margin
	l.title = wrap([]string{c.Title}, titleStyle, inner)
	l.caption = wrap(c.Caption, captionStyle, inner)
	l.height = 2*margin + lineSpacing*(titleSize*vg.Length(len(l.title))+smallSize*vg.Length(len(l.caption))) + panelGap
	high := min(max(0.58*width, 130), 380)
	high = min(high, pageRoom/lists.Sum(c.Panels, Panel.share))
	for i, p := range c.Panels {
		made := l.panel(p, c.Panels, inner, p.share()*high)
		if p.Heat == nil && i < len(c.Panels)-1 && c.Panels[i+1].X == p.X {
			made.x = nil // the panel below has the label
		}
		if made.name == nil {
			made.name = wrap([]string{p.Name}, nameStyle, inner-axisRoom)
		}
		if p.Name != "" { // panels have equal heights without their labels
			_, bottom, top := made.labels()
			made.height += top + bottom
		}
		l.panels = append(l.panels, made)
		l.height += made.height
	}
	l.height += panelGap * vg.Length(len(c.Panels)-1)
	l.arrange(inner)
	if n := l.rows(); n > 0 {
		l.height += panelGap + vg.Length(n)*lineSpacing*smallSize
	}
	return l
}

func (c Panel) share() vg.Length {
	if c.Height == 0 {
		return 1
	}
	return vg.Length(c.Height)
}

// panel makes a panel and its entries of the legend. Equal axes have one range in all panels.
func (l *layout) panel(c Panel, all []Panel, width, height vg.Length) panel {
	if c.Heat != nil {
		return l.heat(c, width)
	}
	p := plot.New()
	var xs, ys, at, ats []float64
	for _, other := range all {
		x, y, measured, centres := other.values()
		if other.X == c.X {
			xs, at = append(xs, x...), append(at, measured...)
		}
		if other.Y == c.Y {
			ys, ats = append(ys, y...), append(ats, centres...)
		}
	}
	x := c.X.scaleOf(xs, at, width-axisRoom, true)
	y := c.Y.scaleOf(ys, ats, height-axisRoom, false)
	beside := c.beside(x)
	x.widenBy(slices.Max(append(beside, 0)))
	for _, s := range c.Series {
		if !s.Faint {
			l.explain(s.Name, s.thumbs()...)
		}
	}
	for _, b := range c.Bands {
		l.band(p, b)
	}
	lines := plotter.NewGrid()
	lines.Vertical, lines.Horizontal = hair(grid), hair(grid)
	p.Add(lines)
	for _, v := range c.Levels {
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: x.lo, Y: v}, {X: x.hi, Y: v}}, LineStyle: draw.LineStyle{Color: quiet, Width: 0.6}})
	}
	series := slices.Clone(c.Series)
	for i := range series {
		series[i].beside = beside[i]
	}
	layer := func(s Series) int { return 2*lists.FalseFirst(!s.Faint) + lists.FalseFirst(s.Loose) }
	slices.SortStableFunc(series, func(a, b Series) int { return layer(a) - layer(b) })
	for _, s := range series {
		drawn := s.plotters(x, y)
		p.Add(drawn)
		for _, d := range drawn.plotters {
			if b, ok := d.(bars); ok && b.clipped(y) {
				l.explain(beyond, bars{LineStyle: barStyle(ink)})
			}
		}
	}
	return framed(p, x, y, width, height)
}

// beside is the horizontal offset of each series, so that overlapping bars stand beside each other, and nearer
// to their own X than to another.
func (c Panel) beside(x scale) []vg.Length {
	by := make([]vg.Length, len(c.Series))
	places := make(map[int]int) // of series with bars, from the left
	wide := 1
	for i, s := range c.Series {
		if s.Faint || !slices.ContainsFunc(s.Points, func(p Point) bool { return p.Y.Known() && p.Y.Lo < p.Y.Hi }) {
			continue
		}
		taken := make(map[int]bool)
		for j, place := range places {
			taken[place] = taken[place] || s.overlaps(c.Series[j])
		}
		place := 0
		for taken[place] {
			place++
		}
		places[i], wide = place, max(wide, place+1)
	}
	most, room := vg.Length(2), vg.Length(8)
	xs, _, _, _ := c.values()
	xs = lists.Rising(xs)
	if len(xs) <= 4 {
		most, room = 5, 30
	}
	for i := range len(xs) - 1 {
		room = min(room, x.length*vg.Length(x.Normalize(x.lo, x.hi, xs[i+1])-x.Normalize(x.lo, x.hi, xs[i]))/2)
	}
	for i, place := range places {
		by[i] = (vg.Length(place) - vg.Length(wide-1)/2) * min(most, room/vg.Length(wide))
	}
	return by
}

// overlaps reports whether bars of two series overlap.
func (s Series) overlaps(other Series) bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool {
		return p.Y.Known() && p.Y.Lo < p.Y.Hi && slices.ContainsFunc(other.Points, func(q Point) bool {
			return q.X == p.X && q.Y.Known() && !p.Y.Differ(q.Y)
		})
	})
}

// framed adds the axes.
func framed(p *plot.Plot, x, y scale, width, height vg.Length) panel {
	p.BackgroundColor = nil
	style(&p.X, x)
	style(&p.Y, y)
	return panel{Plot: p, height: height, x: wrap([]string{x.label}, labelStyle, width-axisRoom), y: wrap([]string{y.label}, labelStyle, height-axisRoom)}
}

// values are the values that must be within the axes, and at, ats the measured ones.
func (c Panel) values() (xs, ys, at, ats []float64) {
	var top float64 // of the centres
	for _, s := range c.Series {
		for _, pt := range s.Points {
			top = max(top, pt.Y.Center)
		}
	}
	for _, s := range c.Series {
		for _, pt := range s.Points {
			xs, at = append(xs, pt.X), append(at, pt.X)
			ys, ats = append(ys, pt.Y.Center), append(ats, pt.Y.Center)
			if pt.Y.Known() { // one bar that is far too long must not squeeze the rest
				ys = append(ys, max(pt.Y.Lo, pt.Y.Center/3), min(pt.Y.Hi, max(2*top, pt.Y.Center)))
			}
		}
	}
	for _, b := range c.Bands {
		xs, ys = append(xs, b.X...), append(append(ys, b.Lo...), b.Hi...)
	}
	ys = append(ys, c.Levels...)
	return xs, ys, at, ats
}

// yTickAlign puts the middle of a digit beside its tick.
const yTickAlign = draw.YAlignment(-0.6)

func style(a *plot.Axis, s scale) {
	a.Min, a.Max, a.Scale, a.Tick.Marker = s.lo, s.hi, s, s
	a.Padding = 3
	a.LineStyle = draw.LineStyle{Color: ink, Width: 0.5}
	a.Tick.LineStyle, a.Tick.Length = a.LineStyle, 3
	a.Tick.Label.Font, a.Tick.Label.Color = tickStyle.Font, ink
	if a.Tick.Label.XAlign, a.Tick.Label.YAlign = draw.XRight, yTickAlign; s.horizontal {
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = draw.XCenter, draw.YTop
	}
}

func hair(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: 0.4} }

// band adds a region and its edges.
func (l *layout) band(p *plot.Plot, b Band) {
	var region, lo, hi plotter.XYs
	for i, x := range b.X {
		lo, hi = append(lo, plotter.XY{X: x, Y: b.Lo[i]}), append(hi, plotter.XY{X: x, Y: b.Hi[i]})
	}
	region = slices.Clone(hi)
	slices.Reverse(region)
	p.Add(&plotter.Polygon{XYs: []plotter.XYs{slices.Concat(lo, region)}, Color: shade})
	for _, edge := range []struct {
		name string
		xys  plotter.XYs
		dash []vg.Length
	}{{b.HiLabel, hi, []vg.Length{3, 2}}, {b.LoLabel, lo, []vg.Length{1, 1.5}}} {
		if edge.name == "" {
			continue
		}
		line := &plotter.Line{XYs: edge.xys, LineStyle: draw.LineStyle{Color: quiet, Width: 0.8, Dashes: edge.dash}}
		p.Add(line)
		l.explain(edge.name, line)
	}
}

// explain adds an entry to the legend, once for each name.
func (l *layout) explain(name string, thumbs ...plot.Thumbnailer) {
	name = plain(name)
	if name != "" && !slices.ContainsFunc(l.legend, func(e entry) bool { return e.name == name }) {
		l.legend = append(l.legend, entry{name, thumbs})
	}
}

// arrange puts the legend into as many columns as fit.
func (l *layout) arrange(width vg.Length) {
	for n := len(l.legend); n > 0; n-- {
		rows := (len(l.legend) + n - 1) / n
		l.columns = nil
		total := -entryGap
		for column := range slices.Chunk(l.legend, rows) {
			// A name that does not fit is shortened.
			w := lists.Most(column, func(e entry) vg.Length { return thumbWidth + thumbGap + min(legendStyle.Width(e.name), width) })
			l.columns = append(l.columns, w)
			total += w + entryGap
		}
		if total <= width {
			return
		}
	}
	l.columns = []vg.Length{width}
}

// rows is the number of rows of the legend; none for a single line, but for a shade or an arrow.
func (l *layout) rows() int {
	if n := len(l.legend); n == 0 || n == 1 && !l.shaded && l.legend[0].name != beyond {
		return 0
	}
	return (len(l.legend) + len(l.columns) - 1) / len(l.columns)
}

func (l *layout) draw(c draw.Canvas) {
	if !l.clear {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
	}
	y := c.Max.Y - margin
	write := func(lines []string, sty text.Style) {
		for _, line := range lines {
			c.FillText(sty, vg.Point{X: margin, Y: y}, line)
			y -= lineSpacing * sty.Font.Size
		}
	}
	write(l.title, titleStyle)
	write(l.caption, captionStyle)
	y -= panelGap
	places := make([]draw.Canvas, len(l.panels))
	begin := c.Min.X
	for i, p := range l.panels {
		left, bottom, top := p.labels()
		places[i] = draw.Crop(c, margin+left, -margin, y-p.height-c.Min.Y+bottom, y-top-c.Max.Y)
		if p.width > 0 {
			places[i].Max.X = min(places[i].Max.X, margin+p.width)
		}
		begin = max(begin, p.DataCanvas(places[i]).Min.X)
		y -= p.height + panelGap
	}
	for i, p := range l.panels {
		places[i].Min.X += begin - p.DataCanvas(places[i]).Min.X // align the axes
		p.Draw(places[i])
		p.drawLabels(c, places[i])
	}
	if l.rows() > 0 {
		l.drawLegend(c, y)
	}
}

// drawLabels draws the labels left of and below the panel, centred on the axes, and its name above it.
func (p panel) drawLabels(c, place draw.Canvas) {
	data := p.DataCanvas(place)
	_, _, top := p.labels()
	for i, line := range p.name {
		c.FillText(nameStyle, vg.Point{X: data.Min.X, Y: place.Max.Y + top - lineSpacing*labelSize*vg.Length(i)}, line)
	}
	sty := labelStyle
	sty.XAlign = draw.XCenter
	for i, line := range p.x {
		c.FillText(sty, vg.Point{X: data.Center().X, Y: place.Min.Y - 1 - lineSpacing*labelSize*vg.Length(i)}, line)
	}
	sty.Rotation = math.Pi / 2
	for i, line := range p.y {
		c.FillText(sty, vg.Point{X: margin + lineSpacing*labelSize*vg.Length(i), Y: data.Center().Y}, line)
	}
}

// drawLegend draws the legend from y down, column by column.
func (l *layout) drawLegend(c draw.Canvas, y vg.Length) {
	x := margin
	column := 0
	for i, e := range l.legend {
		if i > 0 && i%l.rows() == 0 {
			x += l.columns[column] + entryGap
			column++
		}
		at := y - vg.Length(i%l.rows())*lineSpacing*smallSize
		icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: at - smallSize - 1}, Max: vg.Point{X: x + thumbWidth, Y: at - 1},
		}}
		for _, t := range e.thumbs {
			t.Thumbnail(&icon)
		}
		room := l.columns[column] - thumbWidth - thumbGap
		c.FillText(legendStyle, vg.Point{X: x + thumbWidth + thumbGap, Y: at}, shorten(e.name, legendStyle, room, within))
	}
}
