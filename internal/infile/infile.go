// Package infile opens files that a user has named, with errors that are sentences, and reads lines of
// text with their numbers.
package infile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/taulop/taulop/internal/printable"
)

// Name is what sentences call a file: - is standard input.
func Name(path string) string { return printable.Either(path == "-", "standard input", path) }

// Open opens a file for reading, a pipe also again; - is standard input. The error is a sentence that begins
// with the path.
func Open(path string) (fs.File, error) {
	file := path
	if path == "-" {
		os.Stdin.Seek(0, io.SeekStart) // unless it is a pipe
		file = "/dev/stdin"
	}
	if known, is := piped.Load(path); is {
		return &pipe{kept: known.(*kept)}, nil
	}
	f, err := os.Open(file) // of a named pipe it waits for a writer
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s cannot be read: %w", Name(path), at.Err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return f, nil // reading it will fail
	case info.IsDir():
		f.Close()
		return nil, fmt.Errorf("%s is a directory: name a file in it", Name(path))
	case !info.Mode().IsRegular():
		known := &kept{File: f}
		piped.Store(path, known)
		return &pipe{kept: known}, nil
	}
	return f, nil
}

// piped are the files that cannot be read twice, *kept by path.
var piped sync.Map

// A kept file has all that was read of it.
type kept struct {
	*os.File
	text []byte
}

// A pipe reads a kept file from its beginning.
type pipe struct {
	*kept
	at int // of its text
}

func (p *pipe) Read(to []byte) (n int, err error) {
	if n = copy(to, p.text[p.at:]); n == 0 {
		n, err = p.File.Read(to)
		p.text = append(p.text, to[:n]...)
	}
	p.at += n
	return n, err
}

// Close leaves the file open for the next one who reads it.
func (p *pipe) Close() error { return nil }

// Read reads a file by a function, which also gets its name. Compressed and empty files are errors.
func Read[T any](path string, read func(r io.Reader, name string) (T, error)) (all T, err error) {
	f, err := Open(path)
	if err != nil {
		return all, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	path = Name(path)
	if err := Plain(in, path); err != nil {
		return all, err
	}
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		return all, fmt.Errorf("%s is empty: name another file", path)
	}
	return read(in, path)
}

// Once refuses a file that is named twice: it would be compared with itself, or count as two runs.
func Once(paths []string) error {
	type known struct {
		path string
		info os.FileInfo
	}
	type stamp struct{ size, nanos int64 } // equal for the same file
	files := make(map[stamp][]known)
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" {
			info, err = os.Stdin.Stat()
		}
		if err != nil {
			continue // reading it will fail
		}
		key := stamp{info.Size(), info.ModTime().UnixNano()}
		for _, f := range files[key] {
			if os.SameFile(f.info, info) {
				if f.path == path {
					return fmt.Errorf("%s is named twice: name each file once", Name(path))
				}
				return fmt.Errorf("%s and %s are the same file: name it once", Name(f.path), Name(path))
			}
		}
		files[key] = append(files[key], known{path, info})
	}
	return nil
}

// Plain fails for a file that gzip compressed.
func Plain(in *bufio.Reader, path string) error {
	if start, _ := in.Peek(2); string(start) == "\x1f\x8b" {
		return fmt.Errorf("%s is compressed by gzip: unpack it with gunzip first", path)
	}
	return nil
}

// maxDocument exceeds any document of taulop, in bytes.
const maxDocument = 64 << 20

// Document reads a document of taulop. It fails with other if the file is empty or too long.
func Document(r io.Reader, name string, other error) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxDocument:
		return nil, fmt.Errorf("%s has more than %d MiB: %w", name, maxDocument>>20, other)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s is empty: %w", name, other)
	}
	return text, nil
}

// missing is an error of a missing file, fs.ErrNotExist.
type missing string

func (m missing) Error() string      { return string(m) + " is not there: check its name" }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }
