package outfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A File is the destination of results, with the state of the file when it was opened. If another
// program has changed the file since, results go to a new file beside it.
type File struct {
	Path string      // of the results, also after a move
	seen fs.FileInfo // nil: there was no file
	like fs.FileInfo // gives owner and mode to a new file; nil: default
	lock *lock       // after Hold
}

// Moved is the error of a result that was written beside its file.
type Moved struct {
	From, To string
	why      string
}

func (m *Moved) Error() string {
	return fmt.Sprintf("%s %s, and stays as it is: the result is in %s, so compare the two", m.From, m.why, m.To)
}

// Open checks that path can be written, like Check, and that no other taulop is writing it.
func Open(path string) (*File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	f := &File{Path: path}
	if !Replaces(path) {
		return f, nil
	}
	if _, err := f.Hold(); err == errLocked {
		return nil, err
	}
	f.Release()
	return f, f.look()
}

func (f *File) look() error {
	to, err := find(f.Path)
	if err == nil && !to.stream {
		f.seen = to.old
	}
	return err
}

// Hold locks the file until Release, and lets Write replace the file in its present state. Without
// locks in the system it warns. An error is a sentence.
func (f *File) Hold() (warning, err error) {
	if f.lock, warning, err = lockFile(f.Path); err != nil {
		return nil, err
	}
	if err = f.look(); err != nil {
		f.Release()
	}
	return warning, err
}

// Release unlocks the file.
func (f *File) Release() {
	if f.lock != nil {
		f.lock.release()
		f.lock = nil
	}
}

// Write writes a result like the function Write. If another program has changed the file since Open or
// the last Write, or holds it, this result and later ones go to a file beside it, and the error is a
// Moved.
func (f *File) Write(write func(io.Writer) error) error {
	to, err := find(f.Path)
	if err == nil && to.stream {
		return to.send(write)
	}
	held := f.lock
	if held == nil && err == nil {
		var refused error
		if held, _, refused = lockFile(f.Path); refused == errLocked {
			return f.beside("is being written by another taulop", write)
		} else if refused == nil { // else the system has no locks
			defer held.release()
		}
		to, err = find(f.Path)
	}
	if err != nil {
		return &Error{f.Path, err}
	}
	if now, was := to.old, f.seen; now != nil && (was == nil || !os.SameFile(was, now) || !was.ModTime().Equal(now.ModTime()) || was.Size() != now.Size()) {
		return f.beside("was changed by another program", write)
	}
	if to.old == nil {
		to.old = f.like
	}
	if err := to.replace(write); err != nil {
		return err
	}
	f.seen = to.now
	return nil
}

// beside writes a result to the first free name after the file's: host-2.json after host.json.
func (f *File) beside(why string, write func(io.Writer) error) error {
	target, err := Target(f.Path)
	if err != nil {
		return &Error{f.Path, err}
	}
	ext := filepath.Ext(target)
	other := &File{}
	for n := 2; ; n++ {
		other.Path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(target, ext), n, ext)
		if _, err := os.Lstat(other.Path); err != nil {
			break
		}
	}
	other.like, _ = os.Stat(target)
	if f.lock != nil {
		other.Hold() // fails without locks
	}
	err = other.Write(write)
	if _, moved := err.(*Moved); err != nil && !moved {
		other.Release()
		return err
	}
	f.Release()
	moved := &Moved{f.Path, other.Path, why}
	*f = *other
	return moved
}
