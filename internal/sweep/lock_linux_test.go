package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/sandbox"
)

// A lock goes with its sweep, also one that a killed sweep has left, and one beside
// the target of a link.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	write := func(text string) {
		if err := os.WriteFile(file+".lock", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(lockMark + file + "\n")
	if err := os.Symlink("host.json", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	lock, warning, err := lockFile(file)
	if err != nil || warning != nil {
		t.Fatal(warning, err)
	}
	for _, name := range []string{file, filepath.Join(dir, "link")} {
		var refused engine.RefusedError
		if _, _, err := lockFile(name); !errors.As(err, &refused) || !strings.Contains(err.Error(), "another sweep") {
			t.Errorf("a second lock of %s: %v", name, err)
		}
	}
	lock.release()
	if _, err := os.Lstat(file + ".lock"); err == nil {
		t.Error("the lock is still there")
	}
	// Of another program, which holds it.
	write("")
	other := flock.New(file + ".lock")
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, _, err := lockFile(file); err == nil {
		t.Error("locked twice")
	}
	other.Unlock()
}

// Where there are no locks a sweep goes on with a warning, which is not about what this
// user may do.
func TestNoLocks(t *testing.T) {
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
