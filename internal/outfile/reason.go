package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// reason explains why no file can be made in the place's directory.
func (to *place) reason(err error) error {
	_, stat := os.Stat(to.dir)
	if errors.Is(err, fs.ErrNotExist) && errors.Is(stat, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s: make it, or choose another", to.dir)
	}
	dir := "the directory " + to.dir
	return cmp.Or(refusal(err, dir, "into "+dir, "another"), fmt.Errorf("%s takes no file: %w", dir, bare(err)))
}

// MakeDir makes a directory and its parents. It fails with an *Error.
func MakeDir(path string) error {
	err := os.MkdirAll(path, 0o777)
	var at *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOTDIR) && errors.As(err, &at):
		return &Error{path, fmt.Errorf("%s is a file and no directory: choose another name", at.Path)}
	case errors.As(err, &at):
		return &Error{path, (&place{path: at.Path, dir: dirOf(at.Path)}).reason(err)}
	}
	return &Error{path, err}
}

// Reason explains why an existing file cannot be written.
func Reason(err error) error { return cmp.Or(refusal(err, "it", "it", "another name"), bare(err)) }

// refusal explains a refused write; nil for other errors.
func refusal(err error, what, into, choose string) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a read-only file system: choose %s", what, choose)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%s takes no file that is so large, or this process may write none (ulimit -f): %w", what, syscall.EFBIG)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not write %s: choose %s", into, choose)
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("the system does not permit to write %s, whoever the user is (immutable, or a sandbox): choose %s", into, choose)
	}
	return nil
}

// bare is an error without its path, which may be a temporary file's.
func bare(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	if link, is := errors.AsType[*os.LinkError](err); is {
		return link.Err
	}
	if call, is := errors.AsType[*os.SyscallError](err); is {
		return call.Err
	}
	return err
}
