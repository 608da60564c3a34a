// Package outfile writes results into the files that users name.
//
// Its opinion: a regular file is replaced as a whole or not at all, and keeps its owner and
// mode; behind a symbolic link the target is replaced. A device, a pipe or a socket is written
// to. No other existing file is touched: a temporary file has no name, or an unpredictable one.
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
// write itself is returned as it is. On some file systems write is called twice.
func Write(path string, write func(io.Writer) error) error {
	to, err := find(path)
	if err != nil {
		return &Error{path, err}
	}
	if to.stream {
		return to.send(write)
	}
	return to.write(write)
}

// write replaces a regular file.
func (to *place) write(write func(io.Writer) error) error {
	writing.Add(1)
	defer writing.Add(-1)
	again, err := to.replace(write, create)
	if again {
		_, err = to.replace(write, createNamed)
	}
	return err
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
	t, err := create(to.dir, to.perm())
	if err != nil {
		return to.reason(err)
	}
	defer t.discard()
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

// perm is a temporary file's mode: no other user may read it before it has the owner and mode
// of the file that it replaces.
func (to *place) perm() fs.FileMode {
	if to.old != nil {
		return 0o600
	}
	return 0o644
}

// modes are the bits that a file keeps.
const modes = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// keep gives a file the owner and mode of the one that it replaces.
func (to *place) keep(t *temporary) error {
	if to.old == nil {
		return nil
	}
	now, err := t.Stat()
	if err != nil {
		return to.reason(err)
	}
	if err := keepOwner(t.File, now, to.old); err != nil {
		return errors.New("it belongs to another user or group, who would lose it: choose another name, or remove it first")
	}
	if mode := to.old.Mode() & modes; mode != now.Mode()&modes {
		if err := t.Chmod(mode); err != nil {
			return fmt.Errorf("its mode %v cannot be kept: choose another name, or remove it first", to.old.Mode())
		}
	}
	return nil
}

// replace writes a temporary file, syncs it to disk and renames it. Again says that
// the file cannot be given a name.
func (to *place) replace(write func(io.Writer) error, create func(string, fs.FileMode) (*temporary, error)) (again bool, err error) {
	t, err := create(to.dir, to.perm())
	if err != nil {
		return false, &Error{to.path, to.reason(err)}
	}
	defer t.discard()
	if err := fill(t.File, write); err != nil {
		return false, to.failed(err)
	}
	if err := to.keep(t); err != nil {
		return false, &Error{to.path, err}
	}
	if err := t.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return false, to.failed(writeError{err})
	}
	if err := t.link(); err != nil {
		return true, to.failed(writeError{err})
	}
	if to.now, err = t.Stat(); err != nil {
		return false, to.failed(writeError{err})
	}
	if err := t.Close(); err != nil {
		return false, to.failed(writeError{err})
	}
	if err := os.Rename(t.name, to.path); err != nil {
		return false, to.failed(writeError{err})
	}
	t.name = ""
	return false, nil
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

// A temporary file is gone when it is discarded, or when the process ends; if it has
// a name, only the former.
type temporary struct {
	*os.File
	dir, name string
}

// createNamed makes a temporary file with an unpredictable name.
func createNamed(dir string, perm fs.FileMode) (*temporary, error) {
	name := temporaryName(dir)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return &temporary{f, dir, name}, nil
}

func temporaryName(dir string) string {
	return dir + string(filepath.Separator) + ".taulop-" + rand.Text()
}

func (t *temporary) discard() {
	t.Close()
	if t.name != "" {
		os.Remove(t.name)
	}
}
