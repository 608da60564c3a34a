package sysfs

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// Limits of an archive, which is not trusted.
const (
	mostEntries  = 1 << 20
	mostUnpacked = 1 << 30 // bytes of all files
	longestFile  = 1 << 24
)

// Unpack unpacks an archive of hwloc-gather-topology (tar, gzip or bzip2, by its content), which has a
// machine's directories sys and proc, below dir, and returns their parent directory. Names and links
// cannot leave dir. Entries for which skip is true are left out; nil: none.
func Unpack(archive io.Reader, dir string, skip func(name string) bool) (string, error) {
	r, err := decompressed(archive)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	made := make(map[string]bool)
	entries, left := tar.NewReader(r), int64(mostUnpacked)
	for n := 0; ; n++ {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "", errCut
		case err != nil && n == 0:
			return "", fmt.Errorf("this is no archive of hwloc-gather-topology, tar, perhaps compressed by gzip or bzip2: give one, or the directory that it was unpacked to (%w)", err)
		case err != nil:
			return "", err
		case n == mostEntries:
			return "", fmt.Errorf("more than %d entries: this is no archive of a machine's sys and proc", mostEntries)
		case skip != nil && skip(entry.Name):
			continue
		}
		if left -= entry.Size; entry.Size > longestFile || left < 0 {
			return "", fmt.Errorf("%.80q has %d bytes: this is no archive of a machine's sys and proc", entry.Name, entry.Size)
		}
		switch err := unpackEntry(root, made, entry, entries); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "", errCut
		case err != nil:
			return "", err
		}
	}
	return top(dir)
}

// errCut is the error for an archive without its end.
var errCut = errors.New("the archive was cut off: copy all of it")

// decompressed reads gzip, bzip2 or uncompressed data.
func decompressed(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	switch start, _ := in.Peek(3); {
	case strings.HasPrefix(string(start), "\x1f\x8b"):
		return gzip.NewReader(in)
	case string(start) == "BZh":
		return bzip2.NewReader(in), nil
	}
	return in, nil
}

// top is the directory with sys, dir itself or below.
func top(dir string) (string, error) {
	for range 3 {
		if info, err := os.Stat(filepath.Join(dir, "sys")); err == nil && info.IsDir() {
			return dir, nil
		}
		inner, err := os.ReadDir(dir)
		if err != nil || len(inner) != 1 || !inner[0].IsDir() {
			break
		}
		dir = filepath.Join(dir, inner[0].Name())
	}
	return "", errors.New("there is no directory sys: this is no archive of hwloc-gather-topology")
}

func unpackEntry(root *os.Root, made map[string]bool, entry *tar.Header, content io.Reader) error {
	name := filepath.Clean(filepath.FromSlash(strings.TrimLeft(entry.Name, "/")))
	dir := printable.Either(entry.Typeflag != tar.TypeDir, filepath.Dir(name), name)
	if !made[dir] {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		made[dir] = true
	}
	switch entry.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(entry.Linkname, name)
	case tar.TypeLink:
		return root.Link(filepath.Clean(filepath.FromSlash(strings.TrimLeft(entry.Linkname, "/"))), name)
	case tar.TypeReg:
		file, err := root.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return nil
}
