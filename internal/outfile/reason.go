package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// reason says why no file can be made in a directory.
func (to *place) reason(err error) error {
	_, stat := os.Stat(to.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.Is(stat, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: make it, or choose another", to.dir)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the directory %s is on a read-only file system: choose another", to.dir)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not write into the directory %s: choose another", to.dir)
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("the system does not permit to write into the directory %s, whoever the user is (immutable, or a sandbox): choose another", to.dir)
	}
	return fmt.Errorf("the directory %s takes no file: %w", to.dir, bare(err))
}

// Reason says why a file that is there cannot be written.
func Reason(err error) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return errors.New("it is on a read-only file system: choose another name")
	case errors.Is(err, syscall.EACCES):
		return errors.New("this user may not write it: choose another name")
	case errors.Is(err, syscall.EPERM):
		return errors.New("the system does not permit to write it, whoever the user is (immutable, or a sandbox): choose another name")
	}
	return bare(err)
}

// bare leaves out the path, which may be that of a temporary file.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &call):
		return call.Err
	}
	return err
}
