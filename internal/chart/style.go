package chart

import (
	"image/color"
	"slices"
	"sort"
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette is Okabe and Ito's without yellow, which is invisible on white.
var palette = []color.Color{
	color.NRGBA{0x00, 0x72, 0xB2, 0xFF}, // blue
	color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
	color.NRGBA{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}, // orange
	color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	color.NRGBA{0x00, 0x00, 0x00, 0xFF}, // black
}

// black and ring are colour and mark of measured values beside models.
const (
	black = 6
	ring  = 3
)

var (
	ink   = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	quiet = color.NRGBA{0x55, 0x55, 0x55, 0xFF} // 7 : 1 on white
	grid  = color.NRGBA{0xDD, 0xDD, 0xDD, 0xFF}
	shade = color.NRGBA{0xEC, 0xEC, 0xEC, 0xFF}
)

// Numbers of colours, marks and dashes (7, 5, 4) are coprime, so that 20 lines differ in mark or dash.
var marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}}

// lone are marks of series with too few points for a line.
var lone = append(slices.Clip(marks), draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{})

var dashes = [][]vg.Length{nil, {4, 1.5}, {1.2, 1.2}, {5, 1.5, 1.2, 1.5}}

// Sizes in points, on paper.
const (
	titleSize  = 8.5
	labelSize  = 7.5
	smallSize  = 7 // ticks, legend, caption
	lineWidth  = vg.Length(1)
	markRadius = vg.Length(2.1)
	capWidth   = vg.Length(3)
	margin     = vg.Length(4)
)

func textStyle(points float64, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(points)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, XAlign: draw.XLeft, YAlign: draw.YTop, Handler: plot.DefaultTextHandler}
}

// mostBytes is the length of a text: it takes time to see that a longer one does not fit.
const mostBytes = 4000

// plain makes one line of a text from a file, without unprintable characters.
func plain(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), mostBytes)], "?")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}

// wrap breaks facts into lines: between facts, then between words, then anywhere.
func wrap(facts []string, sty text.Style, width vg.Length) (lines []string) {
	line := ""
	add := func(separator, part string) {
		if line != "" && sty.Width(line+separator+part) <= width {
			line += separator + part
			return
		}
		if line != "" {
			lines = append(lines, line)
		}
		for line = part; sty.Width(line) > width; {
			head := shorten(line, sty, width, func(letters []rune, n int) string { return string(letters[:n]) })
			lines, line = append(lines, head), strings.TrimPrefix(line, head)
		}
	}
	for _, fact := range facts {
		fact = strings.Join(strings.Fields(plain(fact)), " ")
		if sty.Width(fact) <= width {
			add(" · ", fact)
			continue
		}
		separator := " · "
		for _, word := range strings.Fields(fact) {
			add(separator, word)
			separator = " "
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// shorten is s, or if that does not fit as many of its letters, at least one, as cut leaves room for.
func shorten(s string, sty text.Style, width vg.Length, cut func(letters []rune, n int) string) string {
	if sty.Width(s) <= width {
		return s
	}
	letters := []rune(s)
	n := sort.Search(len(letters), func(i int) bool { return sty.Width(cut(letters, i+1)) > width })
	return cut(letters, min(max(n, 1), len(letters)))
}

// within leaves n letters, the first and the last ones: a name in the legend begins with a machine, and what
// tells it from other lines of that machine is its end.
func within(letters []rune, n int) string {
	return string(letters[:(n+1)/2]) + "…" + string(letters[len(letters)-n/2:])
}
