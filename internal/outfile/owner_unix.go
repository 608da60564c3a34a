//go:build unix

package outfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noTerminal keeps an opened terminal from becoming the controlling one.
const noTerminal = unix.O_NOCTTY

// mayWrite tests whether this user may write an existing file, without opening it: a pipe would wait
// for its reader.
func mayWrite(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}

func keepOwner(f *os.File, now, old fs.FileInfo) error {
	is, ok := now.Sys().(*syscall.Stat_t)
	was, too := old.Sys().(*syscall.Stat_t)
	if !ok || !too || is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}
