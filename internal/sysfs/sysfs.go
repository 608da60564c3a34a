// Package sysfs reads the kernel's directories sys and proc, of this machine or a copy from another
// machine. Files that cannot be read are empty: they depend on the kernel's version.
package sysfs

import (
	"io"
	"io/fs"
	"iter"
	"strings"
)

// A Tree is a file system with the directories sys and proc.
type Tree struct{ fs.FS }

// Stat does not open the file: opening a pipe would wait for a writer.
func (t Tree) Stat(name string) (fs.FileInfo, error) { return fs.Stat(t.FS, name) }

// Limits of file sizes: a CPU has about 2 KiB in proc/cpuinfo and less in proc/stat. A file in sys has a
// value or a list.
const (
	maxFileBytes = 64 << 20
	maxSysBytes  = 1 << 20
)

// Text is a file's content without surrounding white space.
func (t Tree) Text(name string) string { return Trim(string(t.Bytes(name))) }

// Bytes is a regular file's content. Other files are empty.
func (t Tree) Bytes(name string) []byte {
	if info, err := t.Stat(name); err != nil || !info.Mode().IsRegular() {
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

// Fields yields the names and values of lines "name: value", or with another separator.
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

// Trim removes white space and zero bytes around a value.
func Trim(text string) string { return strings.Trim(text, " \t\r\n\x00") }
