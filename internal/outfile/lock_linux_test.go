package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sandbox"
)

// A lock ends with its process, even a killed one, also if it is on a link's target.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	write := func(text string) {
		must.Do(os.WriteFile(file+".lock", []byte(text), 0o644))
	}
	write(lockMark + file + "\n")
	save(t, file, "old", 0o644)
	must.Do(os.Symlink("host.json", filepath.Join(dir, "link")))
	lock, warning, err := lockFile(file)
	if err != nil || warning != nil {
		t.Fatal(warning, err)
	}
	for _, name := range []string{file, filepath.Join(dir, "link"), dir + "/./host.json"} {
		if _, _, err := lockFile(name); err != errLocked {
			t.Errorf("a second lock of %s: %v", name, err)
		}
	}
	lock.release()
	if _, err := os.Lstat(file + ".lock"); err == nil {
		t.Error("the lock is still there")
	}
	// Another program's file, which it holds.
	write("")
	holder := flock.New(file + ".lock")
	if ok, err := holder.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, _, err := lockFile(file); err == nil {
		t.Error("locked twice")
	}
	holder.Unlock()
	// A user's file with this name stays, and a link is no lock.
	write("mine")
	if lock, _, err = lockFile(file); err != nil {
		t.Fatal(err)
	}
	lock.release()
	holds(t, dir, map[string]string{"host.json": "old", "link": "old", "host.json.lock": "mine"})
	must.Do(os.Symlink("host.json", filepath.Join(dir, "other.lock")))
	if _, _, err := lockFile(filepath.Join(dir, "other")); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a link for a lock: %v", err)
	}
}

// Without locks in the system there is a warning, not an error about rights.
func TestNoLock(t *testing.T) {
	dir := t.TempDir()
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.ENOTSUP, unix.ENOLCK, unix.EPERM} {
		sandbox.Without(t, unix.SYS_FLOCK, errno, func() {
			lock, warning, err := lockFile(filepath.Join(dir, "host.json"))
			if err != nil || !errors.Is(warning, errno) || strings.Contains(warning.Error(), "may not") {
				t.Errorf("%v: %v, %v", errno, warning, err)
				return
			}
			lock.release()
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%v: left %v", errno, left)
			}
		})
	}
}
