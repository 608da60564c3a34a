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

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/sandbox"
)

// text is what writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// named replaces files as on file systems where a temporary file needs a name.
func named(path string, write func(io.Writer) error) error {
	to, err := find(path)
	if err != nil {
		return &Error{path, err}
	}
	_, err = to.replace(write, createNamed)
	return err
}

// holds compares a directory with what it should hold, by name.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		if _, known := want[e.Name()]; !known {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s holds %q, want %q (%v)", name, got, text, err)
		}
	}
}

func save(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Error(err)
	}
}

// open makes a directory that all users may use.
func open(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir(); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// New and existing files, as root and as another user, with both kinds of temporary files: only
// the named file changes, and it keeps its mode.
func TestWriteReplaces(t *testing.T) {
	for name, write := range map[string]func(string, func(io.Writer) error) error{"nameless": Write, "named": named} {
		for who, as := range map[string]func(testing.TB, func()){"itself": func(_ testing.TB, f func()) { f() }, "nobody": sandbox.User} {
			t.Run(name+"/"+who, func(t *testing.T) {
				dir := open(t)
				as(t, func() {
					others := map[string]string{"x": "long after", "old": "after", "x.lock": "mine", ".x123": "mine", ".lock": "mine", "x.tmp": "mine"}
					for name := range others {
						if name != "x" {
							save(t, filepath.Join(dir, name), "mine", 0o640)
						}
					}
					if err := errors.Join(Check(filepath.Join(dir, "x")), Check(filepath.Join(dir, "old"))); err != nil {
						t.Error(err)
					}
					if _, err := os.Lstat(filepath.Join(dir, "x")); err == nil {
						t.Error("Check has made a file")
					}
					if err := errors.Join(write(filepath.Join(dir, "x"), text("long after")), write(filepath.Join(dir, "old"), text("after"))); err != nil {
						t.Error(err)
					}
					holds(t, dir, others)
					for name, want := range map[string]fs.FileMode{"x": 0o644, "old": 0o640} {
						if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode()&^0o022 != want&^0o022 {
							t.Errorf("%s has mode %v (%v), want %v", name, info.Mode(), err, want)
						}
					}
				})
			})
		}
	}
}

// An error of what writes is not one of the file, which stays as it was.
func TestWriteKeepsOnErrors(t *testing.T) {
	dir := t.TempDir()
	path, broken := filepath.Join(dir, "x"), errors.New("broken")
	save(t, path, "before", 0o600)
	err := Write(path, func(w io.Writer) error { io.WriteString(w, strings.Repeat("half", 1<<16)); return broken })
	if of := (*Error)(nil); err != broken || errors.As(err, &of) {
		t.Errorf("%v", err)
	}
	holds(t, dir, map[string]string{"x": "before"})
}

// The target of a link is replaced, and the link stays one, also if it leads nowhere yet.
func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"a", "b/c"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"a/absolute": filepath.Join(dir, "b/x"), "a/relative": "../b/y", "a/two": "relative", "a/dir": "../b/c", "a/new": "../b/z", "a/up": "dir/../w"}
	for link, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	save(t, filepath.Join(dir, "b/x"), "before", 0o604)
	save(t, filepath.Join(dir, "b/y"), "before", 0o640)
	for path, target := range map[string]string{"a/absolute": "b/x", "a/two": "b/y", "a/new": "b/z", "a/dir/../v": "b/v", "a/up": "b/w"} {
		path = dir + "/" + path
		if err := errors.Join(Check(path), Write(path, text(target))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, target)); err != nil || string(got) != target {
			t.Errorf("%s holds %q (%v)", target, got, err)
		}
	}
	for link, to := range links {
		if is, err := os.Readlink(filepath.Join(dir, link)); err != nil || is != to {
			t.Errorf("%s leads to %s (%v), want %s", link, is, err, to)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "b/x")); err != nil || info.Mode() != 0o604 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.Symlink("circle", filepath.Join(dir, "circle")); err != nil {
		t.Fatal(err)
	}
	if err := Check(filepath.Join(dir, "circle")); err == nil {
		t.Error("a link to itself can be written")
	}
}

// soon fails a test that hangs.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s hangs", what)
	}
}

func TestWriteToPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "Check of a pipe that nobody reads", func() {
		if err := Check(path); err != nil || Replaces(path) {
			t.Errorf("%v, replaces %v", err, Replaces(path))
		}
	})
	soon(t, "Write", func() {
		got := make(chan string)
		go func() { text, _ := os.ReadFile(path); got <- string(text) }()
		if err := Write(path, text("through")); err != nil {
			t.Error(err)
		}
		if text := <-got; text != "through" {
			t.Errorf("%q came through", text)
		}
	})
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe became %v (%v)", info.Mode(), err)
	}
}

func TestWriteToSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // a short name: sockets have 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "socket")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	got := make(chan string, 1)
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		text, _ := io.ReadAll(c)
		got <- string(text)
	}()
	soon(t, "Write", func() {
		if err := errors.Join(Check(path), Write(path, text("through"))); err != nil {
			t.Error(err)
		} else if text := <-got; text != "through" {
			t.Errorf("%q came through", text)
		}
	})
}

// Device makes a node for the null device, which is not the machine's own.
func device(t *testing.T, path string) {
	t.Helper()
	err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			f.Close()
		}
	}
	if err != nil {
		t.Skipf("no device can be made here: %v", err)
	}
}

func TestWriteToDevice(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "null"), filepath.Join(dir, "link")
	device(t, path)
	if err := os.Symlink("null", link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, link} {
		if err := errors.Join(Check(p), Write(p, text("gone"))); err != nil || Replaces(p) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("the device became %v (%v)", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v (%v)", info.Mode(), err)
	}
	disk := filepath.Join(dir, "disk") // a number that no driver has
	if err := unix.Mknod(disk, unix.S_IFBLK|0o600, int(unix.Mkdev(240, 255))); err != nil {
		t.Skip(err)
	}
	if err := Check(disk); err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("a block device: %v", err)
	}
}

// An open file without a name is written to; /dev/fd leads to it.
func TestWriteToOpenFile(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "gone"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Remove(f.Name())
	path := filepath.Join(dir, "link")
	if err := os.Symlink("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Check(path), Write(path, text("kept"))); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "kept" {
		t.Errorf("%q, %v", got, err)
	}
}

// Root leaves a file to its owner; other users, who cannot, leave it as it is.
func TestWriteKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	dir := open(t)
	path := filepath.Join(dir, "x")
	for name, write := range map[string]func(string, func(io.Writer) error) error{"nameless": Write, "named": named} {
		save(t, path, "before", 0o660)
		if err := os.Chown(path, 1234, 5678); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(Check(path), write(path, text(name))); err != nil {
			t.Error(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if of := info.Sys().(*syscall.Stat_t); of.Uid != 1234 || of.Gid != 5678 || info.Mode() != 0o660 {
			t.Errorf("%s: owner %d:%d, mode %v", name, of.Uid, of.Gid, info.Mode())
		}
		holds(t, dir, map[string]string{"x": name})
	}
	for mode, want := range map[fs.FileMode]string{0o666: "belongs to another user", 0o644: "this user may not write it"} {
		save(t, path, "before", mode)
		sandbox.User(t, func() {
			for _, err := range []error{Check(path), Write(path, text("after"))} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("mode %v: %v, want %q", mode, err, want)
				}
			}
			holds(t, dir, map[string]string{"x": "before"})
		})
	}
}

// Each reason has its own words.
func TestReasons(t *testing.T) {
	dir := open(t)
	save(t, filepath.Join(dir, "file"), "", 0o600)
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o555); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                       "it is a directory",
		"closed":                 "it is a directory",
		"no/x":                   "there is no directory " + dir + "/no: make it",
		"no/":                    "there is no directory " + dir + "/no: make it",
		"file/x":                 "not a directory",
		strings.Repeat("x", 300): "file name too long",
	} {
		if err := Check(dir + "/" + path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".taulop") {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	if err := Check(dir + "/" + strings.Repeat("x", 255)); err != nil {
		t.Errorf("the longest name that there is: %v", err)
	}
	sandbox.User(t, func() {
		if err := Check(dir + "/closed/x"); err == nil || !strings.Contains(err.Error(), "this user may not write into the directory") {
			t.Errorf("as a user: %v", err)
		}
	})
	sandbox.Without(t, unix.SYS_OPENAT, unix.EPERM, func() {
		if err := Check(dir + "/x"); err == nil || strings.Contains(err.Error(), "this user") || !strings.Contains(err.Error(), "does not permit") {
			t.Errorf("EPERM: %v", err)
		}
	})
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	sandbox.Mount(t, dir, "", func() {
		save(t, filepath.Join(dir, "x"), "before", 0o600)
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Error(err)
			return
		}
		for _, name := range []string{"x", "y"} {
			for _, err := range []error{Check(filepath.Join(dir, name)), Write(filepath.Join(dir, name), text("after"))} {
				if err == nil || !strings.Contains(err.Error(), "read-only file system") {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		holds(t, dir, map[string]string{"x": "before"})
	})
}

// A full disk costs nothing that was there, and leaves nothing behind.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(string, func(io.Writer) error) error{"nameless": Write, "named": named} {
		sandbox.Mount(t, dir, "size=64k", func() {
			path := filepath.Join(dir, "x")
			save(t, path, "before", 0o600)
			err := write(path, text(strings.Repeat("x", 1<<20)))
			if of := (*Error)(nil); !errors.As(err, &of) || !errors.Is(err, syscall.ENOSPC) || of.Path != path {
				t.Errorf("%s: %v", name, err)
			}
			holds(t, dir, map[string]string{"x": "before"})
			if err := write(path, text("after")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			holds(t, dir, map[string]string{"x": "after"})
		})
	}
}
