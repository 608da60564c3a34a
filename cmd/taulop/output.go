package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/taulop/taulop/params"
)

// errNoMeasuring is of systems that can read what others measured.
var errNoMeasuring = errors.New("measuring needs Linux: this system has no way to pin a thread to a CPU and to ask where memory lies")

// put writes to a new file, or to out when there is no path.
func put(out io.Writer, path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if path == "" {
		_, err := verbatim(out).Write(b.Bytes())
		return err
	}
	if err := writable(path); err != nil {
		return usagef("-o %s cannot be written: %v", path, err)
	}
	return params.Replace(path, b.Bytes())
}

// writable finds out before the measurement whether a result can be written.
func writable(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return errors.New("it is a directory")
	}
	if holdsParameters(file) {
		return errors.New("it holds the parameters of a machine, which would be lost: choose another name")
	}
	probe, err := os.CreateTemp(filepath.Dir(file), ".taulop-*")
	if err != nil {
		return folderError(err, filepath.Dir(file))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// folderError says of a folder why no file can be made there.
func folderError(err error, dir string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && !isThere(dir):
		return fmt.Errorf("there is no folder %s: make it, or choose another", dir)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("this user may not write into the folder %s: choose another", dir)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("the folder %s takes no file: %w", dir, err)
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
	*os.File
	err error
}

func (p *printer) Write(text []byte) (int, error) {
	n, err := p.File.Write(text)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("what is printed is not complete: %w", err)
	}
	return n, err
}
