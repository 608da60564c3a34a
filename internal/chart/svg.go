package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"

	"gonum.org/v1/plot/vg/vgsvg"
)

// writeSVG writes the canvas with what it shows in words, for those who do not see
// it, and with fonts of the same widths for those who do not have Liberation Sans.
func writeSVG(w io.Writer, canvas *vgsvg.Canvas, description string) error {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;font-variant:normal;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	head, rest, found := bytes.Cut(text, []byte("<svg "))
	tag, body, closed := bytes.Cut(rest, []byte(">"))
	if !found || !closed {
		return fmt.Errorf("the drawing has no <svg …> to describe")
	}
	_, err := fmt.Fprintf(w, "%s<svg role=\"img\" %s>\n<title>%s</title>%s", head, tag, html.EscapeString(plain(description)), body)
	return err
}
