package outfile

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// create makes a temporary file without a name, which a killed process does not
// leave behind; one with a name where the file system has no such files.
func create(dir string, perm fs.FileMode) (*temporary, error) {
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, perm)
	if err != nil {
		return createNamed(dir, perm)
	}
	return &temporary{File: f, dir: dir}, nil
}

// link gives the file a name, if it has none.
func (t *temporary) link() error {
	if t.name != "" {
		return nil
	}
	name := temporaryName(t.dir)
	// The call that names the descriptor itself wants a privilege.
	err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(t.Fd())), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err == nil {
		t.name = name
	}
	return err
}
