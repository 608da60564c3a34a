package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What another program writes after a file was opened stays, and the result is beside it, with
// the mode of the file; so are the results after it.
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
				f, err := Open(path)
				if err != nil {
					t.Fatal(err)
				}
				if hold {
					if warning, err := f.Hold(); warning != nil || err != nil {
						t.Fatal(warning, err)
					}
				}
				if there {
					if err := errors.Join(f.Write(text("once")), f.Write(text("twice"))); err != nil {
						t.Fatal(err)
					}
				} else {
					save(t, path, "new", 0o640)
				}
				if err := change(path); err != nil {
					t.Fatal(err)
				}
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

// A file that another process holds, by whichever name, is neither opened nor replaced, and
// can be once it is released.
func TestHold(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "x.json")
	save(t, path, "before", 0o644)
	first := filepath.Join(elsewhere, "first.json")
	if err := os.Link(path, first); err != nil {
		t.Fatal(err)
	}
	early, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	holder, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Hold(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Write(text("held")); err != nil {
		t.Fatal(err)
	}
	hard := filepath.Join(elsewhere, "y.json")
	if err := errors.Join(os.Link(path, hard), os.Symlink(path, filepath.Join(elsewhere, "z.json"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, first, hard, filepath.Join(elsewhere, "z.json")} {
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
	for _, name := range []string{path, hard} {
		f, err := Open(name)
		if err == nil {
			err = f.Write(text("after"))
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	holds(t, dir, map[string]string{"x.json": "after", "x-2.json": "early"})
	holds(t, elsewhere, map[string]string{"first.json": "before", "y.json": "after", "z.json": "after"})
}
