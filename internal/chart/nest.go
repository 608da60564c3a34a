package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Nest is a part of a machine with the parts that it is made of, or what is on a core.
type Nest struct {
	Name  string // above what has parts; "": nothing
	Text  string // of a core; "": it is free
	Parts []Nest
}

// cores counts those within.
func (n *Nest) cores() int {
	if len(n.Parts) == 0 {
		return 1
	}
	all := 0
	for i := range n.Parts {
		all += n.Parts[i].cores()
	}
	return all
}

// depth is how many boxes are around a core.
func (n *Nest) depth() int {
	deepest := 0
	for i := range n.Parts {
		deepest = max(deepest, 1+n.Parts[i].depth())
	}
	return deepest
}

const (
	nestInset = vg.Length(2)
	coreWidth = vg.Length(15) // at least, of a core in a row of several nests
	coreRoom  = vg.Length(13)
)

// nests draws them in rows from left to right. It is a plot.Plotter.
type nests struct {
	all    []Nest
	perRow int
	height vg.Length // of a row
}

// rows is the nest in as many rows as give each at most that many cores.
func (n *Nest) rows(most int) []Nest {
	if n.cores() <= most || len(n.Parts) == 0 {
		return []Nest{*n}
	}
	var rows []Nest
	row := Nest{Name: n.Name}
	for i := range n.Parts {
		for _, piece := range n.Parts[i].rows(most) {
			if len(row.Parts) > 0 && row.cores()+piece.cores() > most {
				rows = append(rows, row)
				if row = (Nest{}); n.Name != "" {
					row.Name = n.Name + " …"
				}
			}
			row.Parts = append(row.Parts, piece)
		}
	}
	return append(rows, row)
}

// nested makes a panel of nests, large ones in rows that have room for what is on cores.
func nested(all []Nest, width vg.Length) panel {
	var rowed []Nest
	for i := range all {
		rowed = append(rowed, all[i].rows(max(1, int((width-axisRoom)/coreWidth)))...)
	}
	if len(rowed) <= mostNests {
		all = rowed
	}
	n := nests{all: all}
	cores, depth := 1, 0
	for i := range all {
		cores, depth = max(cores, all[i].cores()), max(depth, all[i].depth())
	}
	n.perRow = min(len(all), max(1, int(width/(coreWidth*vg.Length(cores)))))
	n.height = coreRoom + 2*nestInset*vg.Length(depth) + lineSpacing*smallSize
	p := plot.New()
	p.BackgroundColor = nil
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Add(n)
	rows := (len(all) + n.perRow - 1) / n.perRow
	return panel{Plot: p, height: vg.Length(rows)*(n.height+nestInset) + panelGap}
}

// Plot draws the nests.
func (n nests) Plot(c draw.Canvas, _ *plot.Plot) {
	width := (c.Max.X - c.Min.X) / vg.Length(n.perRow)
	for i := range n.all {
		x := c.Min.X + width*vg.Length(i%n.perRow)
		top := c.Max.Y - (n.height+nestInset)*vg.Length(i/n.perRow)
		n.draw(c, &n.all[i], vg.Rectangle{Min: vg.Point{X: x, Y: top - n.height}, Max: vg.Point{X: x + width - nestInset, Y: top}})
	}
}

func (n nests) draw(c draw.Canvas, of *Nest, in vg.Rectangle) {
	if len(of.Parts) == 0 {
		fill := color.Color(color.White)
		if of.Text != "" {
			fill = color.NRGBA{0xD6, 0xEA, 0xF8, 0xFF}
		}
		c.SetColor(fill)
		c.Fill(in.Path())
	}
	c.SetColor(quiet)
	c.SetLineWidth(0.4)
	c.Stroke(in.Path())
	sty := textStyle(smallSize, ink, false)
	if len(of.Parts) == 0 {
		sty.XAlign, sty.YAlign = draw.XCenter, draw.YAlignment(-0.6)
		if size := in.Size(); sty.Width(of.Text) < size.X && smallSize < size.Y {
			c.FillText(sty, vg.Point{X: (in.Min.X + in.Max.X) / 2, Y: (in.Min.Y + in.Max.Y) / 2}, of.Text)
		}
		return
	}
	if of.Name != "" {
		c.FillText(sty, vg.Point{X: in.Min.X + nestInset, Y: in.Max.Y - 1}, of.Name)
		in.Max.Y -= lineSpacing * smallSize
	}
	each := (in.Max.X - in.Min.X) / vg.Length(of.cores())
	x := in.Min.X
	inset := min(nestInset, each/8)
	for i := range of.Parts {
		part := &of.Parts[i]
		right := x + each*vg.Length(part.cores())
		n.draw(c, part, vg.Rectangle{Min: vg.Point{X: x + inset, Y: in.Min.Y + nestInset}, Max: vg.Point{X: right - inset, Y: in.Max.Y - nestInset}})
		x = right
	}
}
