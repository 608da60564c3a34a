package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nameless makes a file that the kernel deletes when the process ends.
func nameless(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EINVAL) {
		return anonymous(dir)
	}
	return f, err
}

// direct has further reads and writes bypass the page cache.
func direct(f *os.File) error {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags|unix.O_DIRECT)
	return err
}

// reserve allocates the file's blocks, if the file system can, so that a full disk fails early.
func reserve(f *os.File, bytes int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, bytes)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		}
		return err
	}
}

// inMemory reports whether a directory's file system is in memory.
func inMemory(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && (s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC)
}
