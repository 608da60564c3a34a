package sysfs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// packed is an archive of files by name and content; a content that begins with -> is a link.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[i+1]))}
		if target, link := strings.CutPrefix(files[i+1], "->"); link {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
		}
		must.Do(w.WriteHeader(h))
		if h.Size > 0 {
			must.Get(w.Write([]byte(files[i+1])))
		}
	}
	must.Do(w.Close())
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	plain := packed(t, "m/proc/cpuinfo", "processor : 0\n", "m/sys/devices/system/cpu/online", "0\n", "m/sys/devices/pci0/x", "1\n", "m/sys/link", "->devices/system")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(plain)
	must.Do(z.Close())
	for name, archive := range map[string][]byte{"tar": plain, "tar.gz": zipped.Bytes()} {
		dir := must.Get(Unpack(bytes.NewReader(archive), t.TempDir(), func(name string) bool { return strings.Contains(name, "/pci") }))
		for path, want := range map[string]string{"proc/cpuinfo": "processor : 0\n", "sys/link/cpu/online": "0\n"} {
			check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, path)))), want, "%s: %s", name, path)
		}
		check.Error(t, must.Err(os.Stat(filepath.Join(dir, "sys/devices/pci0"))), "%s: what is to be skipped is there", name)
	}
	for _, cut := range []int{zipped.Len() / 2, zipped.Len() - 20} {
		check.ErrorIs(t, must.Err(Unpack(bytes.NewReader(zipped.Bytes()[:cut]), t.TempDir(), nil)), errCut, "cut after %d bytes", cut)
	}
	for name, archive := range map[string][]byte{
		"no sys":         packed(t, "m/a", "1"),
		"no archive":     []byte("this is text, long enough to be looked at as the head of an archive: " + strings.Repeat("x", 600)),
		"out of its dir": packed(t, "../../evil", "1", "m/sys/a", "1"),
		"by a link":      packed(t, "m/sys/out", "->/tmp", "m/sys/out/evil", "1"),
	} {
		check.Error(t, must.Err(Unpack(bytes.NewReader(archive), t.TempDir(), nil)), "%s is unpacked", name)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, "m/sys/a", "1", "m/sys/b", "->a"))
	f.Add(packed(f, "../x", "1"))
	f.Add([]byte("BZh91AY"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		outer := t.TempDir()
		inner := filepath.Join(outer, "in")
		must.Do(os.Mkdir(inner, 0o700))
		Unpack(bytes.NewReader(archive), inner, nil)
		check.Equal(t, len(must.Get(os.ReadDir(outer))), 1, "beside the directory there")
	})
}
