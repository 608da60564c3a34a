package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// A lock keeps other processes of this program from a file. It is a lock on a file beside it, which
// replacement of the file does not affect.
type lock struct {
	*flock.Flock
	ours bool // this process has made the lock's file, or taken it over
}

// lockMark begins a lock's file, and tells it from other files with its name.
const lockMark = "taulop sweep locks "

// errLocked: another process writes the file.
var errLocked = errors.New("another taulop writes it: wait for it, or choose another file")

// lockPatience is the wait for processes that hold the lock briefly.
const lockPatience = time.Second / 2

// lockFile locks a file. Without locks in the system it warns. release removes the lock's file if it is
// ours.
func lockFile(file string) (l *lock, warning, err error) {
	target, err := Target(file)
	if err != nil {
		return nil, nil, err
	}
	path := target + ".lock"
	for end := time.Now().Add(lockPatience); time.Now().Before(end); {
		made, err := makeLock(path, target)
		if err != nil {
			return nil, nil, fmt.Errorf("%s cannot be made, which keeps others from %s: %v", path, file, err)
		}
		l := &lock{Flock: flock.New(path, flock.SetFlag(os.O_RDONLY)), ours: made}
		locked, err := l.TryLock()
		switch {
		case err == nil && !locked:
			time.Sleep(lockPatience / 50)
			continue
		case errors.Is(err, fs.ErrNotExist): // removed since makeLock
			continue
		case errors.As(err, new(*fs.PathError)):
			return nil, nil, fmt.Errorf("%s, which keeps others from %s, cannot be opened: %v; remove it if no taulop runs", path, file, Reason(err))
		case err != nil:
			// Lustre without flock, some NFS, sandboxes: go on without a lock.
			return l, fmt.Errorf("%s cannot be locked (%w): see to it that no other taulop writes %s", path, err, file), nil
		}
		if !l.inPlace() {
			l.Unlock()
			continue
		}
		l.ours = made || marked(path) // takes over the file of a killed process
		return l, nil, nil
	}
	return nil, nil, errLocked
}

// makeLock makes a lock's file, if there is no file.
func makeLock(path, target string) (made bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // follows no link
	if err == nil {
		fmt.Fprintf(f, "%s%s\n", lockMark, target) // a full disk may leave it empty
		return true, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, cmp.Or(Check(path), Reason(err))
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return false, errors.New("something else has its name, which is no regular file")
	}
	return false, nil
}

// inPlace reports whether the locked file still has the lock's name.
func (l *lock) inPlace() bool {
	named, err := os.Lstat(l.Path())
	if err != nil {
		return false
	}
	locked, err := l.Stat()
	return err == nil && os.SameFile(named, locked)
}

// marked reports whether a file is a lock's.
func marked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin, _ := io.ReadAll(io.LimitReader(f, int64(len(lockMark))))
	return strings.HasPrefix(string(begin), lockMark)
}

// release unlocks, and removes the lock's file if it is ours.
func (l *lock) release() {
	if l.ours && (l.inPlace() || !l.Locked()) {
		os.Remove(l.Path())
	}
	l.Unlock()
}
