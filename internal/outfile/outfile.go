// Package outfile writes results into the files that users name.
//
// Its opinion: a regular file is replaced as a whole or not at all, and keeps its owner and
// mode; behind a symbolic link the target is replaced. A device, a pipe or a socket is written
// to. No other existing file is touched: a temporary file's name is unpredictable.
package outfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// An Error says why a file was not written. It is then as it was, or is not there.
type Error struct {
	Path string
	Err  error // a sentence without the path
}

func (e *Error) Error() string { return e.Path + " was not written: " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Write writes a result to path. What cannot be written is an *Error; an error of
// write itself is returned as it is.
func Write(path string, write func(io.Writer) error) error {
	to, err := find(path)
	if err != nil {
		return &Error{path, err}
	}
	if to.stream {
		return to.send(write)
	}
	return to.replace(write)
}

// writing counts the files that are being replaced.
var writing atomic.Int32

// Writing reports whether a file is being replaced just now. A process that ends waits until it
// is replaced, or the result would be lost.
func Writing() bool { return writing.Load() > 0 }

// Check finds out whether path can be written, before there is a result: it opens and changes
// nothing that is there, and removes what it makes. The error is a sentence without the path.
func Check(path string) error {
	to, err := find(path)
	if err != nil || to.stream {
		return err
	}
	t, err := to.create()
	if err != nil {
		return to.reason(err)
	}
	defer discard(t)
	return to.keep(t)
}

// Replaces reports whether a regular file is at path, which Write would replace.
func Replaces(path string) bool {
	to, err := find(path)
	return err == nil && to.old != nil && !to.stream
}

// Target is the file that Write would replace or make at path: path itself, or
// where symbolic links lead.
func Target(path string) (string, error) {
	for range 40 { // as many as Linux follows
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(path) // not Join, to which a/.. is nothing: a may be a link
			link = dir + link
		}
		path = link
	}
	return "", errors.New("its symbolic links go round in a circle")
}

// A place is where a result goes.
type place struct {
	path, dir string
	old       fs.FileInfo // what is there; nil if nothing is
	now       fs.FileInfo // what is there once it is replaced
	stream    bool        // it is written to, not replaced
}

func find(path string) (*place, error) {
	to := &place{path: path, dir: dirOf(path)}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, to.reason(err)
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case info.Mode()&fs.ModeDevice != 0 && info.Mode()&fs.ModeCharDevice == 0:
		return nil, errors.New("it is a disk, which holds a file system or other data: choose a file on it")
	default:
		to.old = info
		if err := mayWrite(path); err != nil {
			return nil, Reason(err)
		}
	}
	if to.stream = info != nil && (!info.Mode().IsRegular() || standard(info) != nil); to.stream {
		return to, nil
	}
	if to.path, err = Target(path); err != nil {
		return nil, err
	}
	to.dir = dirOf(to.path)
	if info != nil {
		// /dev/fd has files that lie nowhere.
		is, err := os.Lstat(to.path)
		to.stream = err != nil || !os.SameFile(info, is)
		if to.stream {
			to.path = path
		}
	}
	return to, nil
}

// standard is the open standard stream that info belongs to: a shell's >file would lose its
// name to the file that replaces it, and everything else that is printed with it.
func standard(info fs.FileInfo) *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if is, err := f.Stat(); err == nil && os.SameFile(info, is) {
			return f
		}
	}
	return nil
}

// dirOf is filepath.Dir, except that a/.. stays: a may be a symbolic link.
func dirOf(path string) string {
	dir, _ := filepath.Split(path)
	if dir == "" {
		return "."
	}
	root := len(filepath.VolumeName(dir)) + 1
	for len(dir) > root && os.IsPathSeparator(dir[len(dir)-1]) {
		dir = dir[:len(dir)-1]
	}
	return dir
}

// create makes a temporary file beside the place. No other user may read it before it has the
// owner and mode of the file that it replaces.
func (to *place) create() (*os.File, error) {
	perm := fs.FileMode(0o644)
	if to.old != nil {
		perm = 0o600
	}
	return os.OpenFile(to.dir+string(filepath.Separator)+".taulop-"+rand.Text(), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// discard removes a temporary file, if it still has its name.
func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// modes are the bits that a file keeps.
const modes = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// keep gives a file the owner and mode of the one that it replaces.
func (to *place) keep(t *os.File) error {
	if to.old == nil {
		return nil
	}
	now, err := t.Stat()
	if err != nil {
		return to.reason(err)
	}
	if err := keepOwner(t, now, to.old); err != nil {
		return errors.New("it belongs to another user or group, who would lose it: choose another name, or remove it first")
	}
	if mode := to.old.Mode() & modes; mode != now.Mode()&modes {
		if err := t.Chmod(mode); err != nil {
			return fmt.Errorf("its mode %v cannot be kept: choose another name, or remove it first", to.old.Mode())
		}
	}
	return nil
}

// replace writes a temporary file, syncs it to disk and renames it.
func (to *place) replace(write func(io.Writer) error) error {
	writing.Add(1)
	defer writing.Add(-1)
	t, err := to.create()
	if err != nil {
		return &Error{to.path, to.reason(err)}
	}
	defer discard(t)
	if err := fill(t, write); err != nil {
		return to.failed(err)
	}
	if err := to.keep(t); err != nil {
		return &Error{to.path, err}
	}
	if err := t.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return to.failed(writeError{err})
	}
	if to.now, err = t.Stat(); err == nil {
		if err = t.Close(); err == nil {
			err = os.Rename(t.Name(), to.path)
		}
	}
	if err != nil {
		return to.failed(writeError{err})
	}
	return nil
}

// send writes to what is no regular file.
func (to *place) send(write func(io.Writer) error) error {
	if f := standard(to.old); f != nil {
		return to.failed(fill(f, write))
	}
	var out io.WriteCloser
	var err error
	if to.old.Mode()&fs.ModeSocket != 0 {
		out, err = net.Dial("unix", to.path)
	} else {
		// Of regular files these are the ones without a name.
		out, err = os.OpenFile(to.path, os.O_WRONLY|os.O_TRUNC|noTerminal, 0)
	}
	if err != nil {
		return to.failed(writeError{err})
	}
	err = fill(out, write)
	if closed := out.Close(); err == nil && closed != nil {
		err = writeError{closed}
	}
	return to.failed(err)
}

// A writeError is one of the file, not of what writes.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

// failed tells errors of the file from others.
func (to *place) failed(err error) error {
	var of writeError
	if errors.As(err, &of) {
		return &Error{to.path, Reason(of.error)}
	}
	return err
}

// fill writes through a buffer.
func fill(out io.Writer, write func(io.Writer) error) error {
	f := &file{Writer: out}
	b := bufio.NewWriterSize(f, 1<<16)
	err := write(b)
	if err == nil {
		b.Flush()
	}
	if f.err != nil {
		return writeError{f.err}
	}
	return err
}

// A file remembers its first error: write may pass it on in other words, or not.
type file struct {
	io.Writer
	err error
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}
