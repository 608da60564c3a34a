package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A measured canvas remembers how wide texts are, so that they fit where another font
// takes the place of theirs.
type measured struct {
	*vgsvg.Canvas
	widths []vg.Length // of texts, in their order
}

func (c *measured) FillString(f font.Face, pt vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, pt, text)
}

// writeSVG writes the canvas with what it shows in words, for those who do not see
// it, and with fonts and widths of texts for those who do not have Liberation Sans.
func writeSVG(w io.Writer, canvas *measured, description string) error {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;font-variant:normal;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	var fitted bytes.Buffer
	for _, width := range canvas.widths {
		before, after, found := bytes.Cut(text, []byte("<text "))
		if !found {
			break
		}
		fmt.Fprintf(&fitted, "%s<text textLength=\"%.2f\" lengthAdjust=\"spacingAndGlyphs\" ", before, width.Points())
		text = after
	}
	text = append(fitted.Bytes(), text...)
	head, rest, found := bytes.Cut(text, []byte("<svg "))
	tag, body, closed := bytes.Cut(rest, []byte(">"))
	if !found || !closed {
		return fmt.Errorf("the drawing has no <svg …> to describe")
	}
	_, err := fmt.Fprintf(w, "%s<svg role=\"img\" %s>\n<title>%s</title>%s", head, tag, html.EscapeString(plain(description)), body)
	return err
}
