package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/coretocore"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// An output is the destination of a result: standard output, or the file of -o.
type output struct {
	path  string        // "": standard output
	force bool          // replace an existing file
	file  *outfile.File // at path, opened by the check of flags; nil: standard output
}

// add adds -o and -force. Existing files and files that cannot be created are errors before the
// command starts.
func (o *output) add(flags *argument.Set, usage string) {
	flags.StringVar(&o.path, "o", "", usage+"; - is standard output")
	flags.BoolVar(&o.force, "force", false, "replace an existing file")
	flags.Check(func() (err error) {
		if o.path == "-" {
			o.path = ""
		}
		o.file, err = fresh(flags, "-o "+o.path, o.path, o.force)
		return err
	})
}

// write writes a result with put.
func (o *output) write(out io.Writer, write func(io.Writer) error) error {
	return put(out, o.file, write)
}

// fresh opens a new file; nil for "", standard output. It rejects an existing regular file without
// force, a file that the command reads, and one that cannot be created. what names the file in errors.
func fresh(flags *argument.Set, what, path string, force bool) (*outfile.File, error) {
	if path == "" {
		return nil, nil
	}
	if outfile.Replaces(path) && !force {
		return nil, usagef("%s already exists: choose another name, or replace it with -force", what)
	}
	if outfile.Replaces(path) && reads(flags, path) {
		return nil, usagef("%s is an input file, which would be lost: choose another name", what)
	}
	f, err := outfile.Open(path)
	if err != nil {
		return nil, usagef("%s cannot be written: %v", what, err)
	}
	return f, nil
}

// reads reports whether operands and flags name the file at path, directly, in a list, or in the file
// of -files.
func reads(flags *argument.Set, path string) bool {
	words := flags.Args()
	flags.Visit(func(f *flag.Flag) {
		switch text := f.Value.String(); f.Name {
		case "o", "save", "prom":
		case "files":
			if outfile.Replaces(text) { // else it is a pipe, which can be read only once
				listed, _ := infile.Read(text, infile.Names)
				words = append(words, listed...)
			}
			fallthrough
		default:
			words = append(append(words, text), strings.Split(text, ",")...)
		}
	})
	to, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(words, func(word string) bool {
		from, err := os.Stat(word)
		if word == "-" {
			from, err = os.Stdin.Stat()
		}
		return err == nil && os.SameFile(from, to)
	})
}

// formats are flags for the format of a document. The default is text for people.
type formats map[*document.Format]*bool // whether it was asked for

// add adds the flags. They and others exclude one another.
func (f *formats) add(flags *argument.Set, others ...string) {
	*f = make(formats)
	for _, format := range document.Formats {
		(*f)[format] = flags.Bool(format.Name, false, format.Usage)
		others = append(others, format.Name)
	}
	flags.OneOf(others...)
}

// format is the chosen format; nil: text.
func (f formats) format() *document.Format {
	for format, asked := range f {
		if *asked {
			return format
		}
	}
	return nil
}

// valued reports whether the format has rows of values.
func (f formats) valued() bool {
	return f.format() != nil && slices.Contains([]string{"csv", "tsv"}, f.format().Name)
}

// A destination is the output and the format of a document.
type destination struct {
	output
	formats
}

// add adds -o and the formats, which exclude one another and others.
func (d *destination) add(flags *argument.Set, others ...string) {
	d.formats.add(flags, others...)
	d.output.add(flags, "write to a new `file`")
}

// put writes a document with put.
func (d *destination) put(out io.Writer, doc *document.Document) error {
	as := d.format()
	if as == nil {
		width := columns(out)
		if d.path != "" {
			width = columns(io.Discard)
		}
		return d.write(out, asPage(width, doc.WriteText))
	}
	write := func(w io.Writer) error { return as.Write(doc, w) }
	if !as.Exact {
		write = asText(write)
	}
	return d.write(out, write)
}

// put writes a result to a file; to out if the file is nil, or if writing it fails: measurements are
// not lost.
func put(out io.Writer, to *outfile.File, write func(io.Writer) error) error {
	if to == nil {
		return printed(out, write)
	}
	err := to.Write(write)
	if !unwritten(err) {
		return err
	}
	return instead(out, err, write)
}

// printed writes a result to standard output.
func printed(out io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(verbatim(out), 1<<16)
	return cmp.Or(write(b), b.Flush())
}

// exactly writes text.
func exactly(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// unwritten reports whether err is a failure to write a file.
func unwritten(err error) bool { return errors.As(err, new(*outfile.Error)) }

// instead writes the content of a failed file to out, and adds that to err.
func instead(out io.Writer, err error, write func(io.Writer) error) error {
	if printed(out, write) != nil || out == io.Discard {
		return err
	}
	return fmt.Errorf("%w; standard output has what it should hold", err)
}

// offTerminal is out, or io.Discard if that is a terminal and -o names a file: figures and pages do
// not belong there.
func (o *output) offTerminal(out io.Writer) io.Writer {
	if o.path != "" && isTerminal(out) {
		return io.Discard
	}
	return out
}

// isFile reports whether path exists and is no directory.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// head is the first `most` bytes of a file; nil if it cannot be read.
func head(path string, most int64) []byte {
	f, err := infile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return text
}

// holdsParameters recognises a parameter file, isTidy a table with named columns, isMatrix a matrix of
// core-to-core-latency, and isGamma γ in the published text format.
func holdsParameters(path string) bool {
	return bytes.Contains(head(path, 512), []byte(strconv.Quote(params.Format)))
}

func isTidy(path string) bool { return tidy.Is(head(path, 1<<16)) }

func isGamma(path string) bool { return bytes.Contains(head(path, 512), []byte("\n#max_ops\t")) }

func isMatrix(path string) bool { return coretocore.Looks(string(head(path, 1<<17))) }

// A printer is standard output that remembers its first error, since most callers ignore errors of
// single lines.
type printer struct {
	*patient
	closed bool // since the process began
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
		p.err = fmt.Errorf("what is printed is not complete: %w", outfile.Reason(err))
	}
	return n, err
}

// losesOutput reports whether standard output is closed and no flag names a file for the result.
func losesOutput(args []string) bool {
	return process.OutputClosed() && !slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"o", "save", "resume"}, flagName(arg))
	})
}

// An escaped stream is the output of commands. It escapes control characters, so that no file can
// control the terminal. Output for programs bypasses it (verbatim).
type escaped struct {
	*view.Page // its Width is that of tables
	to         stream
	text       io.WriteCloser
}

// A stream is standard output or standard error, which may be a terminal.
type stream interface {
	io.Writer
	Fd() uintptr
}

// escape returns a stream that escapes, and breaks lines at the terminal's width.
func escape(to stream) *escaped {
	page := view.NewPage(to, columns(to))
	return &escaped{page, to, printable.NewWriter(page)}
}

func (e *escaped) Write(text []byte) (int, error) { return e.text.Write(text) }

// Fd is for isTerminal.
func (e *escaped) Fd() uintptr { return e.to.Fd() }

// Close writes an unfinished character; the stream itself stays open.
func (e *escaped) Close() error { return cmp.Or(e.text.Close(), e.Page.Close()) }

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
		return printable.NewWriter(e.to)
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
