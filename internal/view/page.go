package view

import (
	"bytes"
	"io"
	"math"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// DefaultWidth is how many letters a line has where there is no terminal.
const DefaultWidth = 80

// A Page is where text goes that people read. Tables are as wide as it is at the most, and
// its own lines break at spaces.
type Page struct {
	to    io.Writer
	width int
	line  bytes.Buffer // not yet ended
}

// NewPage has lines of width letters; Close writes what is left of the last one.
func NewPage(to io.Writer, width int) *Page { return &Page{to: to, width: width} }

// Width is that of a line.
func (p *Page) Width() int { return p.width }

// WidthOf is the width of a line of what is written to: any, unless that says it.
func WidthOf(w io.Writer) int {
	if p, ok := w.(interface{ Width() int }); ok {
		return p.Width()
	}
	return math.MaxInt
}

func (p *Page) Write(text []byte) (int, error) {
	n := len(text)
	for {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		p.line.Write(line)
		if !ended {
			return n, nil
		}
		text = rest
		if err := p.end("\n"); err != nil {
			return 0, err
		}
	}
}

// end writes the line.
func (p *Page) end(with string) error {
	line := p.line.String()
	p.line.Reset()
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if indent > p.width/2 {
		indent = 0
	}
	_, err := io.WriteString(p.to, printable.Wrap(line, p.width, strings.Repeat(" ", indent+2))+with)
	return err
}

// Close leaves what is written to open.
func (p *Page) Close() error {
	if p.line.Len() == 0 {
		return nil
	}
	return p.end("")
}
