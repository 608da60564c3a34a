package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/taulop/taulop/internal/outfile"
)

// A replaced file is one in whose place a sweep writes another. Until that is written it has a second
// name, or is in memory where the file system has no hard links.
type replaced struct {
	name    string // beside the file; "": none
	content []byte
}

// mostRestored is the size of the largest file that is kept in memory, larger than any of parameters.
const mostRestored = 1 << 28

// setAside keeps the file at path; nil if there is none that can be kept.
func setAside(path string) *replaced {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	name := path + ".old"
	for n, err := 2, fs.ErrExist; errors.Is(err, fs.ErrExist); n++ {
		if err = os.Link(path, name); err == nil {
			return &replaced{name: name}
		}
		name = fmt.Sprint(path, ".old-", n)
	}
	if info.Size() > mostRestored {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return &replaced{content: content}
}

// drop gives the file up.
func (r *replaced) drop() {
	if r != nil && r.name != "" {
		os.Remove(r.name)
	}
}

// putBack restores the file in the place of out.
func (r *replaced) putBack(out *outfile.File) error {
	if r.name == "" {
		return out.Write(func(w io.Writer) error { _, err := w.Write(r.content); return err })
	}
	target, err := outfile.Target(out.Path)
	if err == nil {
		err = os.Rename(r.name, target)
	}
	if r.inPlace(target) { // Rename does nothing to two names of one file
		r.drop()
	}
	return err
}

// inPlace reports whether the file is still at path.
func (r *replaced) inPlace(path string) bool {
	if r == nil || r.name == "" {
		return false
	}
	is, err := os.Stat(path)
	was, lost := os.Stat(r.name)
	return err == nil && lost == nil && os.SameFile(is, was)
}

// told adds to an error where the file is.
func (r *replaced) told(err error) error {
	if r == nil || r.name == "" {
		return err
	}
	return fmt.Errorf("%w; %s has what was there before", err, r.name)
}
