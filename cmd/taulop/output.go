package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/params"
)

// errNoMeasuring is of systems that can read what others measured.
var errNoMeasuring = errors.New("measuring needs Linux: this system has no way to pin a thread to a CPU and to ask where memory lies")

// put writes a result to the file at path, which is writable; to out when there is
// none, or when it cannot be written after all: what was measured is not lost.
func put(out io.Writer, path string, write func(io.Writer) error) error {
	if path == "" {
		b := bufio.NewWriterSize(verbatim(out), 1<<16)
		return cmp.Or(write(b), b.Flush())
	}
	err := outfile.Write(path, write)
	if !unwritten(err) {
		return err
	}
	return instead(out, err, write)
}

// unwritten tells the errors of a file that lacks what it should hold.
func unwritten(err error) bool {
	var failed *outfile.Error
	return errors.As(err, &failed)
}

// instead writes what a file should have held to out, and says so.
func instead(out io.Writer, err error, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(verbatim(out), 1<<16)
	if failed := cmp.Or(write(b), b.Flush()); failed != nil || out == io.Discard {
		return err
	}
	return fmt.Errorf("%w; standard output has what it should hold", err)
}

// offTerminal is out, unless somebody looks at it: figures and pages are not for
// reading, and are made again in a moment.
func offTerminal(out io.Writer) io.Writer {
	if isTerminal(out) {
		return io.Discard
	}
	return out
}

// putParameters writes a parameter file, and to out what there is to say of it. If
// the file cannot be written, out gets the file, which has every sample; a person gets
// both.
func putParameters(out io.Writer, path string, f *params.File, say func(io.Writer)) error {
	err := f.WriteFile(path)
	if unwritten(err) {
		err = instead(out, err, f.Write)
		if !isTerminal(out) {
			return err
		}
	}
	say(out)
	return err
}

// writable finds out before the measurement whether a result can be written.
func writable(file string) error {
	if file == "" {
		return nil
	}
	if err := outfile.Check(file); err != nil {
		return err
	}
	if outfile.Replaces(file) && holdsParameters(file) {
		return errors.New("it holds the parameters of a machine, which would be lost: choose another name")
	}
	return nil
}

// isFile tells a file that stands where a word is wanted.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// holdsParameters looks at the beginning of a file.
func holdsParameters(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 512)
	n, _ := io.ReadFull(f, start)
	return bytes.Contains(start[:n], []byte(strconv.Quote(params.Format)))
}

// A document is what a command found, in the form that the user asked for.
type document interface {
	WriteText(io.Writer)
	WriteJSON(io.Writer) error
}

// putDocument writes a document as put does.
func putDocument(out io.Writer, path string, d document, asJSON bool) error {
	if asJSON {
		return put(out, path, d.WriteJSON)
	}
	return put(out, path, asText(func(w io.Writer) error { d.WriteText(w); return nil }))
}

// warn writes warnings, a line each.
func warn[W any](w io.Writer, warnings []W) {
	for _, text := range warnings {
		tell(w, "warning: %v", text)
	}
}

// A printer is standard output that remembers what went wrong: few look at the
// errors of each line.
type printer struct {
	*patient
	closed bool // it was, when the process began
	err    error
	broken func() // called when the reader is gone, if not nil
}

func (p *printer) Write(text []byte) (int, error) {
	if p.closed {
		p.err = errors.New("standard output is closed, and what is printed is lost: redirect it, or name a file with -o")
		return 0, p.err
	}
	n, err := p.patient.Write(text)
	if errors.Is(err, syscall.EPIPE) && p.broken != nil {
		p.broken()
	}
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("what is printed is not complete: %w", err)
	}
	return n, err
}
