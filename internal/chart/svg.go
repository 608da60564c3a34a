package chart

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"git.sr.ht/~sbinet/gg"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// An svgCanvas writes SVG with presentation attributes, which a page's style can replace and its content
// policy allows. Successive paths of one look are merged.
type svgCanvas struct {
	out    bytes.Buffer
	height vg.Length
	pen
	saved []pen
	look  string          // attributes of the path that is not written yet
	path  strings.Builder // its data
	last  [2]string       // its end
	terse bool            // for screens: one decimal, texts in the page's fonts
}

// A pen is what Push saves.
type pen struct {
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	colour color.Color
	turn   gg.Matrix
}

func (c *svgCanvas) SetLineWidth(w vg.Length)                     { c.width = w }
func (c *svgCanvas) SetLineDash(dashes []vg.Length, of vg.Length) { c.dashes, c.offset = dashes, of }
func (c *svgCanvas) SetColor(to color.Color)                      { c.colour = to }
func (c *svgCanvas) Push()                                        { c.saved = append(c.saved, c.pen) }
func (c *svgCanvas) Pop() {
	c.pen, c.saved = c.saved[len(c.saved)-1], c.saved[:len(c.saved)-1]
}
func (c *svgCanvas) Rotate(rad float64)    { c.turn = c.turn.Rotate(rad) }
func (c *svgCanvas) Translate(by vg.Point) { c.turn = c.turn.Translate(by.X.Points(), by.Y.Points()) }
func (c *svgCanvas) Scale(x, y float64)    { c.turn = c.turn.Scale(x, y) }

// DrawImage draws an image with sharp pixels.
func (c *svgCanvas) DrawImage(in vg.Rectangle, im image.Image) {
	var text bytes.Buffer
	png.Encode(&text, im) // an image with an area, into memory
	c.flush()
	x, y := c.at(vg.Point{X: in.Min.X, Y: in.Max.Y})
	fmt.Fprintf(&c.out, "<image x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" preserveAspectRatio=\"none\" image-rendering=\"pixelated\" href=\"data:image/png;base64,%s\"/>\n",
		brief(x), brief(y), brief(in.Size().X.Points()), brief(in.Size().Y.Points()), base64.StdEncoding.EncodeToString(text.Bytes()))
}

// at is the position of a point from the left and from the top.
func (c *svgCanvas) at(p vg.Point) (x, y float64) {
	x, y = c.turn.TransformPoint(p.X.Points(), p.Y.Points())
	return x, c.height.Points() - y
}

// brief is a number with two decimals at most.
func brief(v float64) string { return decimals(v, 2) }

func decimals(v float64, n int) string {
	text := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// short is a coordinate.
func (c *svgCanvas) short(v float64) string {
	if c.terse {
		return decimals(v, 1)
	}
	return brief(v)
}

// paint is a colour as an attribute, with its opacity below 1.
func paint(attribute string, of color.Color) string {
	n := color.NRGBAModel.Convert(of).(color.NRGBA)
	text := fmt.Sprintf(` %s="#%02X%02X%02X"`, attribute, n.R, n.G, n.B)
	if n.A < 0xFF {
		text += fmt.Sprintf(` %s-opacity="%s"`, attribute, brief(float64(n.A)/0xFF))
	}
	return text
}

func (c *svgCanvas) Stroke(p vg.Path) {
	if c.width <= 0 {
		return
	}
	look := ` fill="none"` + paint("stroke", c.colour)
	look += printable.If(c.width != 1, ` stroke-width="`+brief(c.width.Points())+`"`)
	if len(c.dashes) > 0 {
		dashes := lists.Map(c.dashes, func(d vg.Length) string { return brief(d.Points()) })
		look += ` stroke-dasharray="` + strings.Join(dashes, " ") + `"`
	}
	c.add(look, p)
}

func (c *svgCanvas) Fill(p vg.Path) { c.add(paint("fill", c.colour), p) }

// add adds a path to the pending one if both have the same look.
func (c *svgCanvas) add(look string, p vg.Path) {
	if look != c.look {
		c.flush()
	}
	c.look = look
	write := func(command string, p vg.Point) {
		x, y := c.at(p)
		to := [2]string{c.short(x), c.short(y)}
		if c.terse && command != "M" { // relative, which is shorter
			across, down := apartFrom(c.last[0], to[0]), apartFrom(c.last[1], to[1])
			switch {
			case command == "L" && down == "0":
				c.path.WriteString("h" + across)
			case command == "L" && across == "0":
				c.path.WriteString("v" + down)
			default:
				c.path.WriteString(strings.ToLower(command) + across + "," + down)
			}
		} else {
			c.path.WriteString(command + to[0] + "," + to[1])
		}
		c.last = to
	}
	for _, part := range p {
		switch part.Type {
		case vg.MoveComp:
			write("M", part.Pos)
		case vg.LineComp:
			write("L", part.Pos)
		case vg.ArcComp: // of a mark: a circle from where the path is, in halves, since an arc that ends where it began is none
			r := c.short(part.Radius.Points())
			for half := range 2 {
				sin, cos := math.Sincos(part.Start + part.Angle*float64(half+1)/2)
				write("A"+r+","+r+" 0 0 0 ", vg.Point{X: part.Pos.X + part.Radius*vg.Length(cos), Y: part.Pos.Y + part.Radius*vg.Length(sin)})
			}
		case vg.CloseComp:
			c.path.WriteString("Z")
		}
	}
}

// apartFrom is the difference of two coordinates.
func apartFrom(from, to string) string {
	a, _ := strconv.ParseFloat(from, 64) // both are numbers
	b, _ := strconv.ParseFloat(to, 64)
	return decimals(b-a, 1)
}

// flush writes the pending path.
func (c *svgCanvas) flush() {
	if c.path.Len() > 0 {
		fmt.Fprintf(&c.out, "<path%s d=\"%s\"/>\n", c.look, c.path.String())
	}
	c.path.Reset()
	c.look = ""
}

// FillString fixes the width of a text, so that it fits in other fonts.
func (c *svgCanvas) FillString(f font.Face, pt vg.Point, text string) {
	c.flush()
	x, y := c.at(pt)
	look := printable.If(c.colour != ink, paint("fill", c.colour))
	look += printable.If(f.Font.Size != smallSize, ` font-size="`+brief(f.Font.Size.Points())+`"`)
	look += printable.If(f.Font.Weight >= xfont.WeightBold, ` font-weight="bold"`)
	if turned := math.Atan2(c.turn.YX, c.turn.XX); turned != 0 {
		look += fmt.Sprintf(` transform="rotate(%s %s %s)"`, brief(-turned*180/math.Pi), c.short(x), c.short(y))
	}
	if !c.terse || len(text) > fewLetters {
		look += fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, brief(f.Width(text).Points()))
	}
	fmt.Fprintf(&c.out, "<text x=\"%s\" y=\"%s\"%s>%s</text>\n", c.short(x), c.short(y), look, html.EscapeString(text))
}

// fewLetters fit in any font.
const fewLetters = 8

// svgOf is the underlying canvas if it writes SVG, else nil.
func svgOf(c vg.Canvas) *svgCanvas {
	for {
		switch of := c.(type) {
		case draw.Canvas:
			c = of.Canvas
		case *svgCanvas:
			return of
		default:
			return nil
		}
	}
}

// group calls do within an SVG group with attributes, names and values in turns, and a title, which
// browsers show under the pointer. Other canvases have no groups.
func group(c draw.Canvas, title string, attributes []string, do func()) {
	s := svgOf(c)
	if s == nil {
		do()
		return
	}
	s.flush()
	s.out.WriteString("<g")
	for i := 0; i+1 < len(attributes); i += 2 {
		fmt.Fprintf(&s.out, " %s=\"%s\"", attributes[i], html.EscapeString(plain(attributes[i+1])))
	}
	s.out.WriteString(">")
	if title != "" {
		s.out.WriteString("<title>" + html.EscapeString(plain(title)) + "</title>")
	}
	do()
	s.flush()
	s.out.WriteString("</g>\n")
}

const fontFamily = "Liberation Sans,Arial,Helvetica,sans-serif"

// elements are the drawing's SVG elements.
func (l *layout) elements() []byte {
	canvas := &svgCanvas{height: l.height, terse: l.clear, pen: pen{turn: gg.Identity()}}
	vg.Initialize(canvas)
	l.draw(draw.NewCanvas(canvas, l.width, l.height))
	canvas.flush()
	return canvas.out.Bytes()
}

// writeSVG writes an SVG document with its description.
func (l *layout) writeSVG(w io.Writer, description string) error {
	wide, high := brief(l.width.Points()), brief(l.height.Points())
	_, err := fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n<svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]spt\" height=\"%[2]spt\" viewBox=\"0 0 %[1]s %[2]s\" font-family=\"%s\" font-size=\"%g\" fill=\"#222222\">\n<title>%s</title>\n%s</svg>\n",
		wide, high, fontFamily, float64(smallSize), html.EscapeString(plain(description)), l.elements())
	return err
}

// Inline is the drawing as an element of a page, without title and caption.
func (c *Chart) Inline() string {
	bare := *c
	bare.Title, bare.Caption = "", nil
	l := bare.layout(ColumnWidth * vg.Centimeter)
	l.clear = true
	return fmt.Sprintf("<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %s %s\" fill=\"#222222\">\n%s</svg>",
		html.EscapeString(plain(c.describe())), brief(l.width.Points()), brief(l.height.Points()), l.elements())
}
