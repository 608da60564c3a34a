package main

import (
	"cmp"
	"io"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// An escaped stream is what commands print to: no file can steer the terminal through
// it. What programs read goes round it, verbatim.
type escaped struct {
	to   stream
	text io.WriteCloser
	page *view.Page // nil: lines are left as they are
}

// A stream is standard output or standard error, which may be a terminal.
type stream interface {
	io.Writer
	Fd() uintptr
}

// escape breaks lines at the width of the terminal.
func escape(to stream) *escaped {
	page := view.NewPage(to, columns(to))
	return &escaped{to, printable.NewWriter(page), page}
}

func (e *escaped) Write(text []byte) (int, error) { return e.text.Write(text) }

// Fd lets isTerminal ask who is looking.
func (e *escaped) Fd() uintptr { return e.to.Fd() }

// Close writes a letter that was left unfinished; the stream itself stays open.
func (e *escaped) Close() error {
	err := e.text.Close()
	if e.page != nil {
		err = cmp.Or(err, e.page.Close())
	}
	return err
}

// Width is the width of a line, for tables.
func (e *escaped) Width() int {
	if e.page != nil {
		return e.page.Width()
	}
	return view.DefaultWidth
}

// raw is the stream itself, for what taulop draws on a terminal.
func raw(w io.Writer) io.Writer {
	if e, ok := w.(*escaped); ok {
		return e.to
	}
	return w
}

// verbatim is where JSON and what is escaped already is written, byte by byte as into
// a file. On a terminal JSON is escaped, and is JSON of the same value.
func verbatim(w io.Writer) io.Writer {
	if e, ok := w.(*escaped); ok && isTerminal(w) {
		return &escaped{to: e.to, text: printable.NewWriter(e.to)}
	}
	return raw(w)
}

// asPage turns a writer of text for people into one that writes it escaped, in lines of a width, to
// a file as to standard output.
func asPage(width int, write func(io.Writer)) func(io.Writer) error {
	return asText(func(w io.Writer) error {
		page := view.NewPage(w, width)
		write(page)
		return page.Close()
	})
}

// asText makes of what writes values for programs what writes them escaped.
func asText(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		out := printable.NewWriter(w)
		if err := write(out); err != nil {
			return err
		}
		return out.Close()
	}
}
