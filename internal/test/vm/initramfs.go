package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/taulop/taulop/internal/test/must"
)

// An initramfs is the archive of a file system that the kernel unpacks into memory, in the "newc" format
// (the kernel's Documentation/driver-api/early-userspace/buffer-format.rst).
type initramfs struct {
	archive bytes.Buffer
	inode   int
}

// File types in the mode.
const (
	directory = 0o040000
	device    = 0o020000 // a character device
	regular   = 0o100000
)

// add appends a file. major and minor are 0 for types other than device.
func (a *initramfs) add(name string, mode int, data []byte, major, minor int) {
	a.inode++
	fmt.Fprintf(&a.archive, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.inode, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name)+1, 0, name)
	a.pad()
	a.archive.Write(data)
	a.pad()
}

func (a *initramfs) pad() {
	a.archive.Write(make([]byte, -a.archive.Len()&3))
}

// newInitramfs packs the programs in a directory, and the directories and devices that /init needs before
// mounting.
func newInitramfs(dir string) []byte {
	var a initramfs
	for _, name := range []string{"dev", "proc", "sys", "bin"} {
		a.add(name, directory|0o755, nil, 0, 0)
	}
	a.add("tmp", directory|0o1777, nil, 0, 0)
	a.add("dev/console", device|0o600, nil, 5, 1)
	for _, entry := range must.Get(os.ReadDir(dir)) {
		data := must.Get(os.ReadFile(filepath.Join(dir, entry.Name())))
		name := "bin/" + entry.Name()
		if entry.Name() == "init" {
			name = "init"
		}
		a.add(name, regular|0o755, data, 0, 0)
	}
	a.add("TRAILER!!!", 0, nil, 0, 0)
	return a.archive.Bytes()
}
