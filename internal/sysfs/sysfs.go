// Package sysfs reads the kernel's sys and proc directories, of this machine or of a
// copy of another's. What cannot be read is empty: files of the kernel's come and go
// with its version.
package sysfs

import (
	"io"
	"io/fs"
	"iter"
	"strings"
)

// A Tree is a file system with the directories sys and proc in it.
type Tree struct{ fs.FS }

// Limits of what is read of a file: a CPU takes about 2 KiB of proc/cpuinfo and less of
// proc/stat. The files of sys hold a value or a list each.
const (
	maxFileBytes = 64 << 20
	maxSysBytes  = 1 << 20
)

// Text is a file's content without the white space round it.
func (t Tree) Text(name string) string { return Trim(string(t.Bytes(name))) }

// Bytes is a file's content. Opening a pipe in the place of a file would wait for somebody to
// write.
func (t Tree) Bytes(name string) []byte {
	if info, err := fs.Stat(t, name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := t.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	most := int64(maxFileBytes)
	if strings.HasPrefix(name, "sys/") {
		most = maxSysBytes
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return data
}

// Fields yields the names and values of lines of "name: value", or with whatever
// stands between them.
func (t Tree) Fields(name, separator string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for line := range strings.Lines(t.Text(name)) {
			key, value, found := strings.Cut(line, separator)
			if found && !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// Trim takes off what stands around a value in a file of the kernel's.
func Trim(text string) string { return strings.Trim(text, " \t\r\n\x00") }
