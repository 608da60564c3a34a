package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/taulop/taulop/internal/engine"
)

// A file has no name.
type file struct {
	*os.File
	dir     string
	mode    Mode
	content []byte // source of the file's blocks
	holds   []int  // block of content, by block of the file
	buffer  []byte // to read into
	next    int    // offset of the next transfer
}

var errNotDirect = errors.New("the page cache cannot be kept out")

// fillBytes is written between two checks of the context.
const fillBytes = 1 << 20

// open makes a file of a plan and fills it, because blocks never written are not read from a disk.
func open(ctx context.Context, plan Request, mode Mode, content []byte) (*file, error) {
	f := &file{dir: plan.Dir, mode: mode, content: content, holds: make([]int, len(content)/BlockBytes)}
	var err error
	if f.File, err = nameless(plan.Dir); err != nil {
		return nil, f.refused(err)
	}
	if err := f.fill(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *file) fill(ctx context.Context) error {
	if f.mode == Direct {
		if err := direct(f.File); err != nil {
			return errNotDirect
		}
	}
	if err := reserve(f.File, int64(len(f.content))); err != nil {
		return f.refused(err)
	}
	for at := 0; at < len(f.content); at += fillBytes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := f.WriteAt(f.content[at:min(len(f.content), at+fillBytes)], int64(at)); err != nil {
			if f.mode == Direct && errors.Is(err, syscall.EINVAL) {
				return errNotDirect
			}
			return f.refused(err)
		}
	}
	for i := range f.holds {
		f.holds[i] = i
	}
	return f.refused(f.Sync())
}

// anonymous makes a file and removes its name, on file systems without O_TMPFILE.
func anonymous(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".taulop-disk-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// refused turns an error into a sentence about the directory.
func (f *file) refused(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		err = fmt.Errorf("there is no room for a file of %d MB (%w): make room, or use a smaller one with -file", len(f.content)>>20, err)
	case errors.Is(err, syscall.EFBIG):
		err = fmt.Errorf("a file of %d MB is larger than this process may write (%w): use a smaller one with -file", len(f.content)>>20, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		err = fmt.Errorf("no file can be written there (%w): choose another directory", err)
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		err = fmt.Errorf("this is no directory that holds files (%w): name one on the disk to measure", err)
	default:
		return fmt.Errorf("%s: %w", f.dir, err)
	}
	return engine.RefusedError(f.dir + ": " + err.Error())
}
