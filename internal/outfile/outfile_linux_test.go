package outfile

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sandbox"
	"github.com/taulop/taulop/internal/test/skip"
)

// text writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// holds compares a directory's files with the wanted contents, by name.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir(dir)) {
		_, known := want[e.Name()]
		check.True(t, known, "%s was left behind", e.Name())
	}
	for name, text := range want {
		check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, name)))), text, "%s holds", name)
	}
}

func save(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	must.Do(errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)))
}

// refused checks that both Check and Write fail with a reason.
func refused(t *testing.T, path, want string) {
	t.Helper()
	for _, err := range []error{Check(path), Write(path, text("after"))} {
		check.True(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), ".taulop"), "%.40q: %v, want %q", path, err, want)
	}
}

// wroteBeside checks that an error names the file that stays, and the one that has the result.
func wroteBeside(t *testing.T, err error, stays, has string) {
	t.Helper()
	moved := new(Moved)
	check.True(t, errors.As(err, &moved) && moved.From == stays && moved.To == has, "%v, want the result of %s in %s", err, stays, has)
}

// open makes a directory for all users.
func open(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir(); at = filepath.Dir(at) {
		must.Do(os.Chmod(at, 0o777))
	}
	return dir
}

// New and existing files, as root and as another user: only the named file changes and keeps its mode,
// and an error of the writing function is no Error.
func TestWriteReplaces(t *testing.T) {
	for who, as := range map[string]func(testing.TB, func()){"itself": func(_ testing.TB, f func()) { f() }, "nobody": sandbox.User} {
		dir := open(t)
		as(t, func() {
			files := map[string]string{"old": "mine", "x.lock": "mine", ".x123": "mine", ".lock": "mine", "x.tmp": "mine"}
			for name, text := range files {
				save(t, filepath.Join(dir, name), text, 0o640)
			}
			for _, name := range []string{"x", "old"} {
				check.NoError(t, Check(filepath.Join(dir, name)), "%s", who)
			}
			holds(t, dir, files)
			broken := errors.New("broken")
			err := Write(filepath.Join(dir, "old"), func(w io.Writer) error { io.WriteString(w, strings.Repeat("half", 1<<16)); return broken })
			check.Equal(t, err, broken, "%s: error", who)
			holds(t, dir, files)
			for name, want := range map[string]fs.FileMode{"x": 0o644, "old": 0o640} {
				files[name] = "long after"
				check.NoError(t, Write(filepath.Join(dir, name), text(files[name])), "%s", who)
				check.Equal(t, must.Get(os.Stat(filepath.Join(dir, name))).Mode()&^0o022, want&^0o022, "mode of %s", name)
			}
			holds(t, dir, files)
		})
	}
}

// The target of a link is replaced or made, and the link stays.
func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	must.Do(errors.Join(os.MkdirAll(filepath.Join(dir, "a"), 0o755), os.MkdirAll(filepath.Join(dir, "b/c"), 0o755)))
	links := map[string]string{"a/absolute": filepath.Join(dir, "b/x"), "a/relative": "../b/y", "a/two": "relative", "a/dir": "../b/c", "a/new": "../b/z", "a/up": "dir/../w", "a/circle": "circle"}
	for link, to := range links {
		must.Do(os.Symlink(to, filepath.Join(dir, link)))
	}
	save(t, filepath.Join(dir, "b/x"), "before", 0o604)
	for path, target := range map[string]string{"a/absolute": "b/x", "a/two": "b/y", "a/new": "b/z", "a/dir/../v": "b/v", "a/up": "b/w"} {
		path = dir + "/" + path
		check.NoError(t, errors.Join(Check(path), Write(path, text(target))), "%s", path)
		check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, target)))), target, "holds")
	}
	for link, to := range links {
		check.Equal(t, must.Get(os.Readlink(filepath.Join(dir, link))), to, "%s leads to", link)
	}
	check.Equal(t, must.Get(os.Stat(filepath.Join(dir, "b/x"))).Mode(), 0o604, "Stat")
	refused(t, filepath.Join(dir, "a/circle"), "symbolic links")
}

// Pipes, sockets, devices and open files without a name, or links to them, are written to and stay.
func TestWriteStreams(t *testing.T) {
	dir := must.Get(os.MkdirTemp("", "s")) // a short name: sockets have 108 bytes
	defer os.RemoveAll(dir)
	pipe, socket, null, link, disk := dir+"/pipe", dir+"/socket", dir+"/null", dir+"/link", dir+"/disk"
	must.Do(errors.Join(unix.Mkfifo(pipe, 0o600), os.Symlink("null", link)))
	listener := must.Get(net.Listen("unix", socket))
	defer listener.Close()
	gone := must.Get(os.Create(dir + "/gone"))
	defer gone.Close()
	os.Remove(gone.Name())
	unread := func() string { return "through" }
	paths := map[string]func() string{ // with functions that read from there
		pipe:   func() string { text, _ := os.ReadFile(pipe); return string(text) },
		socket: func() string { text, _ := io.ReadAll(must.Get(listener.Accept())); return string(text) },
		"/proc/self/fd/" + strconv.Itoa(int(gone.Fd())): unread,
	}
	if err := unix.Mknod(null, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		if f, err := os.OpenFile(null, os.O_WRONLY, 0); err == nil { // the file system allows devices
			f.Close()
			paths[null], paths[link] = unread, unread
		}
	}
	for path, read := range paths {
		was := must.Get(os.Stat(path))
		done := make(chan error)
		go func() {
			if err := Check(path); err != nil || Replaces(path) {
				done <- errors.Join(errors.New("Check"), err)
				return
			}
			got := make(chan string, 1)
			go func() { got <- read() }()
			err := Write(path, text("through"))
			if text := <-got; text != "through" {
				err = errors.Join(err, errors.New(text))
			}
			done <- err
		}()
		select {
		case err := <-done:
			check.NoError(t, err, "%s", path)
		case <-time.After(time.Minute):
			t.Fatalf("%s hangs", path)
		}
		check.True(t, os.SameFile(must.Get(os.Stat(path)), was), "%s is another file", path)
	}
	check.Equal(t, string(must.Get(io.ReadAll(gone))), "through", "ReadAll")
	check.Equal(t, must.Get(os.Readlink(link)), "null", "the link leads to")
	if err := unix.Mknod(disk, unix.S_IFBLK|0o600, int(unix.Mkdev(240, 255))); err == nil { // no driver has this number
		refused(t, disk, "disk")
	}
}

// Root keeps a file's owner; other users, who cannot, do not replace the file.
func TestWriteKeepsOwner(t *testing.T) {
	skip.If(t, os.Geteuid() != 0, "only root can give files to others")
	dir := open(t)
	path := filepath.Join(dir, "x")
	save(t, path, "before", 0o660)
	must.Do(errors.Join(os.Chown(path, 1234, 5678), Check(path), Write(path, text("after"))))
	info := must.Get(os.Stat(path))
	of := info.Sys().(*syscall.Stat_t)
	check.True(t, of.Uid == 1234 && of.Gid == 5678 && info.Mode() == 0o660, "owner %d:%d, mode %v", of.Uid, of.Gid, info.Mode())
	holds(t, dir, map[string]string{"x": "after"})
	for mode, want := range map[fs.FileMode]string{0o666: "belongs to another user", 0o644: "this user may not write it"} {
		save(t, path, "before", mode)
		sandbox.User(t, func() { refused(t, path, want) })
		holds(t, dir, map[string]string{"x": "before"})
	}
}

// Errors have distinct reasons.
func TestReasons(t *testing.T) {
	dir := open(t)
	save(t, filepath.Join(dir, "file"), "", 0o600)
	must.Do(os.Mkdir(filepath.Join(dir, "closed"), 0o555))
	for path, want := range map[string]string{
		"":                       "it is a directory",
		"closed":                 "it is a directory",
		"no/x":                   "there is no directory " + dir + "/no: make it",
		"no/":                    "there is no directory " + dir + "/no: make it",
		"file/x":                 "not a directory",
		strings.Repeat("x", 300): "file name too long",
	} {
		refused(t, dir+"/"+path, want)
	}
	check.NoError(t, Check(dir+"/"+strings.Repeat("x", 255)), "the longest name that there is")
	sandbox.User(t, func() { refused(t, dir+"/closed/x", "this user may not write into the directory") })
	sandbox.Without(t, unix.SYS_OPENAT, unix.EPERM, func() { refused(t, dir+"/x", "does not permit") })
}

// A read-only or full file system loses no file, and no temporary file is left behind.
func TestFileSystems(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	sandbox.Mount(t, dir, "size=64k", func() {
		save(t, path, "before", 0o600)
		err := Write(path, text(strings.Repeat("x", 1<<20)))
		of := (*Error)(nil)
		check.True(t, errors.As(err, &of) && errors.Is(err, syscall.ENOSPC) && of.Path == path, "%v", err)
		holds(t, dir, map[string]string{"x": "before"})
		check.NoError(t, Write(path, text("after")), "Write")
		must.Do(unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		refused(t, path, "read-only file system")
		refused(t, filepath.Join(dir, "y"), "read-only file system")
		holds(t, dir, map[string]string{"x": "after"})
	})
}

// A file that another program has changed since Open stays, and this and later results are beside it, with its mode.
func TestWriteBeside(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"edited":   func(path string) error { return os.WriteFile(path, []byte("theirs, and longer"), 0) },
		"replaced": func(path string) error { return Write(path, text("theirs, and longer")) },
	} {
		for _, hold := range []bool{false, true} {
			for _, there := range []bool{false, true} {
				dir := t.TempDir()
				path := filepath.Join(dir, "x.json")
				if there {
					save(t, path, "before", 0o640)
				}
				f := must.Get(Open(path))
				if hold {
					warning, err := f.Hold()
					check.Need(t, warning == nil && err == nil, "%v, %v", warning, err)
				}
				if there {
					must.Do(errors.Join(f.Write(text("once")), f.Write(text("twice"))))
				} else {
					save(t, path, "new", 0o640)
				}
				must.Do(change(path))
				save(t, filepath.Join(dir, "x-2.json"), "another", 0o600)
				wroteBeside(t, f.Write(text("ours")), path, filepath.Join(dir, "x-3.json"))
				check.Equal(t, f.Path, filepath.Join(dir, "x-3.json"), "%s: path", name)
				check.NoError(t, f.Write(text("ours again")), "%s", name)
				f.Release()
				holds(t, dir, map[string]string{"x.json": "theirs, and longer", "x-2.json": "another", "x-3.json": "ours again"})
				check.Equal(t, must.Get(os.Stat(f.Path)).Mode(), 0o640, "%s: mode", name)
			}
		}
	}
}

// A file that another process holds, by its name or a link's, can be neither opened nor replaced before its release.
func TestHold(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "x.json"), filepath.Join(elsewhere, "y.json")
	save(t, path, "before", 0o644)
	early, err := Open(path)
	holder, errToo := Open(path)
	must.Do(errors.Join(err, errToo, os.Symlink(path, link)))
	must.Get(holder.Hold())
	must.Do(holder.Write(text("held")))
	for _, name := range []string{path, link, dir + "/./x.json"} {
		check.Equal(t, must.Err(Open(name)), errLocked, "%s: error", name)
	}
	wroteBeside(t, early.Write(text("early")), path, filepath.Join(dir, "x-2.json"))
	holder.Release()
	holds(t, dir, map[string]string{"x.json": "held", "x-2.json": "early"})
	check.NoError(t, must.Get(Open(link)).Write(text("after")), "the file through its link")
	holds(t, dir, map[string]string{"x.json": "after", "x-2.json": "early"})
}

// A lock ends with its process, even a killed one, also if it is on a link's target.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	write := func(text string) { must.Do(os.WriteFile(file+".lock", []byte(text), 0o644)) }
	write(lockMark + file + "\n")
	save(t, file, "old", 0o644)
	must.Do(os.Symlink("host.json", filepath.Join(dir, "link")))
	lock, warning, err := lockFile(file)
	check.Need(t, err == nil && warning == nil, "%v, %v", warning, err)
	lock.release()
	check.Error(t, must.Err(os.Lstat(file+".lock")), "the lock is still there")
	// Another program's file, which it holds.
	write("")
	holder := flock.New(file + ".lock")
	check.Need(t, must.Get(holder.TryLock()), "another program cannot lock")
	_, _, err = lockFile(file)
	check.Error(t, err, "locked twice")
	holder.Unlock()
	// A user's file with this name stays, and a link is no lock.
	write("mine")
	lock, _, err = lockFile(file)
	check.Need(t, err == nil, "%v", err)
	lock.release()
	holds(t, dir, map[string]string{"host.json": "old", "link": "old", "host.json.lock": "mine"})
	must.Do(os.Symlink("host.json", filepath.Join(dir, "other.lock")))
	_, _, err = lockFile(filepath.Join(dir, "other"))
	contains.Error(t, err, "no regular file")
}

// Without locks in the system there is a warning, not an error about rights.
func TestNoLock(t *testing.T) {
	dir := t.TempDir()
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.ENOTSUP, unix.ENOLCK, unix.EPERM} {
		sandbox.Without(t, unix.SYS_FLOCK, errno, func() {
			lock, warning, err := lockFile(filepath.Join(dir, "host.json"))
			check.Need(t, err == nil && errors.Is(warning, errno) && !strings.Contains(warning.Error(), "may not"), "%v: %v, %v", errno, warning, err)
			lock.release()
			check.Empty(t, must.Get(os.ReadDir(dir)), "%v: left", errno)
		})
	}
}
