package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/gofrs/flock"

	"github.com/taulop/taulop/internal/outfile"
)

// A fileLock keeps a second sweep from the file that one writes.
type fileLock struct {
	*flock.Flock
	ours bool // this process has made the lock's file, or taken it over
}

// lockMark begins a lock's file, and tells it from files that only have its name.
const lockMark = "taulop sweep locks "

// lockFile locks a file by one beside it. Where the system has no locks it warns.
// A lock's file is removed when it is unlocked, unless it is not ours: then it
// stays as it was.
func lockFile(file string) (lock *fileLock, warning, err error) {
	target, err := outfile.Target(file)
	if err != nil {
		return nil, nil, refusef("%s cannot be written: %v", file, err)
	}
	path := target + ".lock"
	for range 100 { // other sweeps remove theirs between two of these steps
		made, err := makeLock(path, target)
		if err != nil {
			return nil, nil, refusef("%s cannot be made, which keeps other sweeps from %s: %v", path, file, err)
		}
		lock := &fileLock{flock.New(path, flock.SetFlag(os.O_RDONLY)), made}
		locked, err := lock.TryLock()
		switch {
		case err == nil && !locked:
			return nil, nil, refusef("another sweep writes %s: wait for it, or choose another file", file)
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.As(err, new(*fs.PathError)):
			return nil, nil, refusef("%s, which keeps other sweeps from %s, cannot be opened: %v; remove it if no sweep runs", path, file, outfile.Reason(err))
		case err != nil:
			// Lustre without flock, some NFS, sandboxes: alone we are just as well.
			return lock, fmt.Errorf("%s cannot be locked (%w): see to it that no other sweep writes %s", path, err, file), nil
		}
		if !lock.inPlace() {
			lock.Unlock()
			continue
		}
		lock.ours = made || marked(path) // what a killed sweep has left is taken over
		return lock, nil, nil
	}
	return nil, nil, refusef("another sweep writes %s: wait for it, or choose another file", file)
}

// makeLock makes a lock's file, if there is no file.
func makeLock(path, target string) (made bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // follows no link
	if err == nil {
		fmt.Fprintf(f, "%s%s\n", lockMark, target) // a full disk may leave it empty
		return true, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, cmp.Or(outfile.Check(path), outfile.Reason(err))
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return false, errors.New("something else has its name, which is no regular file")
	}
	return false, nil
}

// inPlace tells whether what is locked still has the lock's name.
func (l *fileLock) inPlace() bool {
	is, err := os.Lstat(l.Path())
	if err != nil {
		return false
	}
	locked, err := l.Stat()
	return err == nil && os.SameFile(is, locked)
}

func marked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin, _ := io.ReadAll(io.LimitReader(f, int64(len(lockMark))))
	return strings.HasPrefix(string(begin), lockMark)
}

// release unlocks, and removes what is ours.
func (l *fileLock) release() {
	if l.ours && (l.inPlace() || !l.Locked()) {
		os.Remove(l.Path())
	}
	l.Unlock()
}
