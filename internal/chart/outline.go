package chart

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// An outlined canvas draws letters as shapes. vgpdf's own text has only code page 1252, without τ, mixes
// up two fonts, and panics if it cannot write temporary files.
type outlined struct{ vg.Canvas }

func (c outlined) FillString(f font.Face, pt vg.Point, text string) {
	var buf sfnt.Buffer
	em := fixed.Int26_6(f.Face.UnitsPerEm())
	scale := f.Font.Size / vg.Length(em<<6)
	for i, letter := range text {
		glyph, _ := f.Face.GlyphIndex(&buf, letter) // the font is a part of this program
		segments, _ := f.Face.LoadGlyph(&buf, glyph, em<<6, nil)
		begin := pt.X + f.Width(text[:i])
		at := func(p fixed.Point26_6) vg.Point { // of letters y grows downwards
			return vg.Point{X: begin + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
		}
		if path := shape(segments, at); len(path) > 0 {
			c.Fill(path)
		}
	}
}

// shape is the path of a letter. TrueType has no cubic curves.
func shape(segments sfnt.Segments, at func(fixed.Point26_6) vg.Point) (path vg.Path) {
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(at(s.Args[0]), at(s.Args[1]))
		}
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}
