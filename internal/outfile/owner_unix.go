//go:build unix

package outfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noTerminal: to write to a terminal is not to be controlled by it.
const noTerminal = unix.O_NOCTTY

// mayWrite asks whether this user may write a file that is there, without opening
// it: a pipe would wait for its reader.
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
