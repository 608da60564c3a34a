package main

import (
	"cmp"
	"io"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// An escaped stream is the output of commands. It escapes control characters, so that no file can
// control the terminal. Output for programs bypasses it (verbatim).
type escaped struct {
	to   stream
	text io.WriteCloser
	page *view.Page // nil: lines are not broken
}

// A stream is standard output or standard error, which may be a terminal.
type stream interface {
	io.Writer
	Fd() uintptr
}

// escape returns a stream that escapes, and breaks lines at the terminal's width.
func escape(to stream) *escaped {
	page := view.NewPage(to, columns(to))
	return &escaped{to, printable.NewWriter(page), page}
}

func (e *escaped) Write(text []byte) (int, error) { return e.text.Write(text) }

// Fd is for isTerminal.
func (e *escaped) Fd() uintptr { return e.to.Fd() }

// Close writes an unfinished character; the stream itself stays open.
func (e *escaped) Close() error {
	err := e.text.Close()
	if e.page != nil {
		err = cmp.Or(err, e.page.Close())
	}
	return err
}

// Width is the line width, for tables.
func (e *escaped) Width() int {
	if e.page != nil {
		return e.page.Width()
	}
	return view.DefaultWidth
}

// raw is the stream without escaping, for progress bars.
func raw(w io.Writer) io.Writer {
	if e, ok := w.(*escaped); ok {
		return e.to
	}
	return w
}

// verbatim is the stream for JSON and escaped text: unchanged bytes, as in a file. On a terminal it
// escapes; escaped JSON has the same value.
func verbatim(w io.Writer) io.Writer {
	if e, ok := w.(*escaped); ok && isTerminal(w) {
		return &escaped{to: e.to, text: printable.NewWriter(e.to)}
	}
	return raw(w)
}

// asPage makes write escape its text and break lines at a width, in files and on standard output.
func asPage(width int, write func(io.Writer)) func(io.Writer) error {
	return asText(func(w io.Writer) error {
		page := view.NewPage(w, width)
		write(page)
		return page.Close()
	})
}

// asText makes write escape its text.
func asText(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		out := printable.NewWriter(w)
		if err := write(out); err != nil {
			return err
		}
		return out.Close()
	}
}
