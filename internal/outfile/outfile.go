// Package outfile writes results to files that users name.
//
// Its opinion: a regular file is replaced atomically and keeps its owner and mode; a symbolic link's
// target is replaced. Devices, pipes and sockets are written to. No other existing file is touched:
// names of temporary files are unpredictable.
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

// An Error is the reason why a file was not written. An existing file is unchanged.
type Error struct {
	Path string
	Err  error // a sentence without the path
}

func (e *Error) Error() string { return e.Path + " was not written: " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Write writes a result to path. It returns an *Error if the file cannot be written, and errors of write
// unchanged.
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

// writing is the number of files that are being replaced.
var writing atomic.Int32

// Writing reports whether a file is being replaced. A process must not end before, or the result would
// be lost.
func Writing() bool { return writing.Load() > 0 }

// Check tests whether path can be written, before there is a result. It neither opens nor changes
// existing files, and removes the file that it makes. The error is a sentence without the path.
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

// Target is the file that Write would replace or make at path: path itself, or the target of its
// symbolic links.
func Target(path string) (string, error) {
	for range 40 { // Linux's limit
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(path) // not Join, which removes a/..: a may be a link
			link = dir + link
		}
		path = link
	}
	return "", errors.New("its symbolic links go round in a circle")
}

// A place is the destination of a result.
type place struct {
	path, dir string
	old       fs.FileInfo // the existing file; nil: none
	now       fs.FileInfo // the new file, after replacement
	stream    bool        // written to, not replaced
}

// find is the place at a path.
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
	case holdsMessages(path):
		return nil, errors.New("messages go there, too (2>): choose another name for one of them")
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
		// Links in /dev/fd may lead to files without a name.
		target, err := os.Lstat(to.path)
		to.stream = err != nil || !os.SameFile(info, target)
		if to.stream {
			to.path = path
		}
	}
	return to, nil
}

// holdsMessages tells a regular file that standard error is open on. A link such as /dev/stderr is meant.
func holdsMessages(path string) bool {
	named, err := os.Lstat(path)
	messages, closed := os.Stderr.Stat()
	return err == nil && closed == nil && named.Mode().IsRegular() && os.SameFile(named, messages)
}

// standard is the standard stream that is open on a file: if a shell's >file were replaced, other output
// would be lost.
func standard(info fs.FileInfo) *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if stream, err := f.Stat(); err == nil && os.SameFile(info, stream) {
			return f
		}
	}
	return nil
}

// dirOf is filepath.Dir, but keeps a/..: a may be a symbolic link.
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

// create makes a temporary file beside the place. Other users cannot read it before it has the owner and
// mode of the file that it replaces.
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

// modes are the preserved bits of a file's mode.
const modes = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// keep gives a new file the owner and mode of the old one.
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

// send writes to a stream.
func (to *place) send(write func(io.Writer) error) error {
	if f := standard(to.old); f != nil {
		return to.failed(fill(f, write))
	}
	var out io.WriteCloser
	var err error
	if to.old.Mode()&fs.ModeSocket != 0 {
		out, err = net.Dial("unix", to.path)
	} else {
		// Regular files here have no name.
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

// A writeError is an error of the file, not of the function that writes.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

// failed turns errors of the file into an Error.
func (to *place) failed(err error) error {
	if failure, is := errors.AsType[writeError](err); is {
		return &Error{to.path, Reason(failure.error)}
	}
	return err
}

// fill writes through a buffer, which keeps the first error of out: the writing function may change or hide it.
func fill(out io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(out, 1<<16)
	err := write(b)
	if err == nil {
		b.Flush()
	}
	if _, kept := b.Write(nil); kept != nil {
		return writeError{kept}
	}
	return err
}
