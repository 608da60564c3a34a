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
)

// Name is what sentences call a file: - is standard input.
func Name(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// Open opens a file for reading; - is standard input, from its beginning if it can seek. The error is a
// sentence that begins with the path.
func Open(path string) (*os.File, error) {
	file := path
	if path == "-" {
		os.Stdin.Seek(0, io.SeekStart) // a pipe is read once
		file = "/dev/stdin"
	}
	f, err := os.Open(file)
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s cannot be read: %w", Name(path), at.Err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory: name a file in it", Name(path))
	}
	return f, err
}

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
