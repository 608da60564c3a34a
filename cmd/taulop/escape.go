package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// An escaped stream is what commands print to: no file can steer the terminal through
// it. What programs read goes round it, verbatim.
type escaped struct {
	to   stream
	text io.WriteCloser
}

// A stream is standard output or standard error, which may be a terminal.
type stream interface {
	io.Writer
	Fd() uintptr
}

func escape(to stream) *escaped {
	return &escaped{to, printable.NewWriter(to)}
}

func (e *escaped) Write(text []byte) (int, error) { return e.text.Write(text) }

// Fd lets isTerminal ask who is looking.
func (e *escaped) Fd() uintptr { return e.to.Fd() }

// Close writes a letter that was left unfinished; the stream itself stays open.
func (e *escaped) Close() error { return e.text.Close() }

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
	if isTerminal(w) {
		return w
	}
	return raw(w)
}

// asText makes of what writes text for people, or a table, what writes it escaped: to a
// file, which somebody will look at, as to standard output.
func asText(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		out := printable.NewWriter(w)
		if err := write(out); err != nil {
			return err
		}
		return out.Close()
	}
}

// tell writes an error, a warning or a note to standard error, a sentence in a line. Of
// what the user typed it repeats as much as of a file.
func tell(w io.Writer, format string, args ...any) {
	sentence := fmt.Sprintf(format, advised(args)...)
	for _, word := range os.Args[1:] {
		if part := printable.Part(word); part != word {
			sentence = strings.ReplaceAll(sentence, word, part)
		}
	}
	fmt.Fprintf(w, "taulop: %s\n", printable.Sentence(sentence))
}
