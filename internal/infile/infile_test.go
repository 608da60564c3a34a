package infile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

func TestReadCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tsv.gz")
	must.Do(os.WriteFile(path, []byte("\x1f\x8b\x08"), 0o600))
	_, err := Read(path, func(io.Reader, string) (int, error) { return 0, nil })
	if err == nil || err.Error() != path+" is compressed by gzip: unpack it with gunzip first" {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	_, err := Open(path)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != path+" is not there: check its name" {
		t.Error(err)
	}
	must.Do(os.WriteFile(path, nil, 0o600))
	f := must.Get(Open(path))
	f.Close()
	if _, err = Open(filepath.Join(path, "b")); err == nil || err.Error() != path+"/b cannot be read: not a directory" {
		t.Error(err)
	}
}
