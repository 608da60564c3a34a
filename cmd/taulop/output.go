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
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/params"
)

// errNoMeasuring is of systems that can read what others measured.
var errNoMeasuring = errors.New("measuring needs Linux: this system has no way to pin a thread to a CPU and to ask where memory lies")

// An output is where a result goes: standard output, or the file that -o names.
type output struct {
	path  string        // "" is standard output
	force bool          // a file that is there may be replaced
	file  *outfile.File // at path, once check has found it writable; nil: standard output
}

// add adds -o, of which usage says what is written, and -force. A file that is there, and one
// that cannot be made, are refused before there is a result.
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

// write writes a result where put does.
func (o *output) write(out io.Writer, write func(io.Writer) error) error {
	return put(out, o.file, write)
}

// fresh refuses a regular file that is there, unless it may be replaced, one that the command
// reads, and one that cannot be made; "" is standard output. What is what the file is called in a
// sentence.
func fresh(flags *argument.Set, what, path string, force bool) (*outfile.File, error) {
	if path == "" {
		return nil, nil
	}
	if outfile.Replaces(path) && !force {
		return nil, usagef("%s already exists: choose another name, or replace it with -force", what)
	}
	if outfile.Replaces(path) && reads(flags, path) {
		return nil, usagef("%s is a file that is read, which would be lost: choose another name", what)
	}
	f, err := outfile.Open(path)
	if err != nil {
		return nil, usagef("%s cannot be written: %v", what, err)
	}
	return f, nil
}

// reads tells whether a command's other words name the file at path, alone or in a list, or a list of
// files that does.
func reads(flags *argument.Set, path string) bool {
	words := flags.Args()
	flags.Visit(func(f *flag.Flag) {
		switch text := f.Value.String(); f.Name {
		case "o", "save", "prom":
		case "files":
			if outfile.Replaces(text) { // else it can be read once
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

// Formats are what a document is written as: text for people, unless a flag says otherwise.
type formats map[*document.Format]*bool // asked for

// add adds their flags, of which one is chosen, or one of others that are named.
func (f *formats) add(flags *argument.Set, others ...string) {
	*f = make(formats)
	for _, format := range document.Formats {
		(*f)[format] = flags.Bool(format.Name, false, format.Usage)
		others = append(others, format.Name)
	}
	flags.OneOf(others...)
}

// format is what was asked for, nil for text.
func (f formats) format() *document.Format {
	for format, asked := range f {
		if *asked {
			return format
		}
	}
	return nil
}

// valued tells whether that is rows of values.
func (f formats) valued() bool {
	return f.format() != nil && slices.Contains([]string{"csv", "tsv"}, f.format().Name)
}

// A destination is where a document goes, and what it is written as.
type destination struct {
	output
	formats
}

// add adds -o and the formats, of which one is chosen, or one of others that are named.
func (d *destination) add(flags *argument.Set, others ...string) {
	d.formats.add(flags, others...)
	d.output.add(flags, "write to a new `file`")
}

// put writes a document as put does.
func (d *destination) put(out io.Writer, doc *document.Document) error {
	as := d.format()
	if as == nil {
		return d.write(out, asPage(widthFor(out, d.path), doc.WriteText))
	}
	write := func(w io.Writer) error { return as.Write(doc, w) }
	if !as.Exact {
		write = asText(write)
	}
	return d.write(out, write)
}

// put writes a result to a file, which is writable; to out when there is none, or when it
// cannot be written after all: what was measured is not lost.
func put(out io.Writer, to *outfile.File, write func(io.Writer) error) error {
	if to == nil {
		b := bufio.NewWriterSize(verbatim(out), 1<<16)
		return cmp.Or(write(b), b.Flush())
	}
	err := to.Write(write)
	if !unwritten(err) {
		return err
	}
	return instead(out, err, write)
}

// exactly writes text.
func exactly(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// widthFor is the width of a line of a file, or of standard output without one.
func widthFor(out io.Writer, path string) int {
	if path != "" {
		out = io.Discard
	}
	return columns(out)
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

// offTerminal is out unless it is a terminal: figures and pages are not for reading there.
func offTerminal(out io.Writer) io.Writer {
	if isTerminal(out) {
		return io.Discard
	}
	return out
}

// putParameters writes a parameter file, and to out what there is to say of it. If
// the file cannot be written, out gets the file, which has every sample; a person gets
// both.
func putParameters(out io.Writer, to *outfile.File, f *params.File, say func(io.Writer)) error {
	err := to.Write(f.Write)
	if unwritten(err) {
		err = instead(out, err, f.Write)
		if !isTerminal(out) {
			return err
		}
	}
	say(out)
	return err
}

// isFile tells a file that stands where a word is wanted.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// head is the beginning of a file, up to so many bytes; nothing of one that cannot be read.
func head(path string, most int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return text
}

// holdsParameters tells a parameter file, isTidy a table with named columns, and isMatrix a matrix of
// core-to-core-latency, by their beginnings.
func holdsParameters(path string) bool {
	return bytes.Contains(head(path, 512), []byte(strconv.Quote(params.Format)))
}

func isTidy(path string) bool { return tidy.Is(head(path, 1<<16)) }

func isMatrix(path string) bool { return coretocore.Looks(string(head(path, 1<<17))) }

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
		p.err = incomplete{err}
	}
	return n, err
}

// incomplete is of output that its reader does not take.
type incomplete struct{ error }

func (e incomplete) Error() string {
	return fmt.Sprintf("what is printed is not complete: %v", outfile.Reason(e.error))
}

func (e incomplete) Unwrap() error { return e.error }

// losesOutput tells whether what is printed is all that there will be, and standard
// output is closed.
func losesOutput(args []string) bool {
	return process.OutputClosed() && !slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		return strings.HasPrefix(arg, "-") && slices.Contains([]string{"o", "save", "resume"}, name)
	})
}
