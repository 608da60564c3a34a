package view

import (
	"bytes"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// DefaultWidth is the length of a line in letters without a terminal.
const DefaultWidth = 80

// A Page wraps lines at spaces. Tables written to it split into parts that fit its width.
type Page struct {
	to    io.Writer
	width int
	line  bytes.Buffer // not yet ended
}

// NewPage has lines of width letters; Close writes the last one.
func NewPage(to io.Writer, width int) *Page { return &Page{to: to, width: width} }

// Width is the length of a line in letters.
func (p *Page) Width() int { return p.width }

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

// end writes the line and its end.
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

// Close writes the last line, and does not close the underlying writer.
func (p *Page) Close() error {
	if p.line.Len() == 0 {
		return nil
	}
	return p.end("")
}
