package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// A file that another program has changed since Open stays, and this and later results are beside it,
// with its mode.
func TestWriteBeside(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"edited":   func(path string) error { return os.WriteFile(path, []byte("theirs, and longer"), 0) },
		"replaced": func(path string) error { return Write(path, text("theirs, and longer")) },
	} {
		for _, hold := range []bool{false, true} {
			for _, there := range []bool{false, true} {
				dir := t.TempDir()
				path := filepath.Join(dir, "x.json")
				if there {
					save(t, path, "before", 0o640)
				}
				f := must.Get(Open(path))
				if hold {
					if warning, err := f.Hold(); warning != nil || err != nil {
						t.Fatal(warning, err)
					}
				}
				if there {
					must.Do(errors.Join(f.Write(text("once")), f.Write(text("twice"))))
				} else {
					save(t, path, "new", 0o640)
				}
				must.Do(change(path))
				save(t, filepath.Join(dir, "x-2.json"), "another", 0o600)
				var moved *Moved
				if err := f.Write(text("ours")); !errors.As(err, &moved) || moved.From != path || moved.To != filepath.Join(dir, "x-3.json") || f.Path != moved.To {
					t.Errorf("%s: %v", name, err)
				}
				if err := f.Write(text("ours again")); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				f.Release()
				holds(t, dir, map[string]string{"x.json": "theirs, and longer", "x-2.json": "another", "x-3.json": "ours again"})
				if info, err := os.Stat(f.Path); err != nil || info.Mode() != 0o640 {
					t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
				}
			}
		}
	}
}

// A file that another process holds, by its name or a link's, can be neither opened nor replaced before
// its release.
func TestHold(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "x.json"), filepath.Join(elsewhere, "y.json")
	save(t, path, "before", 0o644)
	early, err := Open(path)
	holder, errToo := Open(path)
	must.Do(errors.Join(err, errToo, os.Symlink(path, link)))
	must.Get(holder.Hold())
	must.Do(holder.Write(text("held")))
	for _, name := range []string{path, link} {
		if _, err := Open(name); err != errLocked {
			t.Errorf("%s: %v", name, err)
		}
	}
	var moved *Moved
	if err := early.Write(text("early")); !errors.As(err, &moved) || moved.To != filepath.Join(dir, "x-2.json") {
		t.Errorf("%v", err)
	}
	holder.Release()
	holds(t, dir, map[string]string{"x.json": "held", "x-2.json": "early"})
	f, err := Open(link)
	if err == nil {
		err = f.Write(text("after"))
	}
	if err != nil {
		t.Error(err)
	}
	holds(t, dir, map[string]string{"x.json": "after", "x-2.json": "early"})
}
