package engine

import (
	"os"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// memoryFile is a file in memory, which exists until the last process closes it.
func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("taulop", unix.MFD_CLOEXEC)
	if err != nil {
		return temporaryFile()
	}
	f := os.NewFile(uintptr(fd), "taulop")
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags|unix.O_APPEND)
	}
	return f, err
}
