package infile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestReadCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tsv.gz")
	must.Do(os.WriteFile(path, []byte("\x1f\x8b\x08"), 0o600))
	_, err := Read(path, func(io.Reader, string) (int, error) { return 0, nil })
	check.True(t, err != nil && err.Error() == path+" is compressed by gzip: unpack it with gunzip first", "%v", err)
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	_, err := Open(path)
	check.True(t, errors.Is(err, fs.ErrNotExist) && err.Error() == path+" is not there: check its name", "%v", err)
	must.Do(os.WriteFile(path, nil, 0o600))
	must.Get(Open(path)).Close()
	check.Equal(t, fmt.Sprint(must.Err(Open(filepath.Join(path, "b")))), path+"/b cannot be read: not a directory", "error")
}

// A pipe is read again from its beginning, also by one who reads further than the one before.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(err)
	defer r.Close() // not before it is opened again by its number
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	defer piped.Delete(path)
	if _, err := os.Stat(path); err != nil {
		t.Skip("this system has no /dev/fd")
	}
	must.Get(io.WriteString(w, "a pipe"))
	w.Close()
	for _, n := range []int{2, 4, 100, 100} {
		f := must.Get(Open(path))
		text := must.Get(io.ReadAll(io.LimitReader(f, int64(n))))
		must.Do(f.Close())
		check.Equal(t, string(text), "a pipe"[:min(n, 6)], "%d bytes", n)
	}
}

// A file is one under any of its names.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	must.Do(os.WriteFile(a, nil, 0o600))
	must.Do(os.WriteFile(b, nil, 0o600))
	must.Do(Once([]string{a, b, filepath.Join(dir, "missing"), filepath.Join(dir, "missing")}))
	check.Equal(t, Once([]string{a, b, a}).Error(), a+" is named twice: name each file once", "error")
	check.Equal(t, Once([]string{a, dir + "/./a.json"}).Error(), a+" and "+dir+"/./a.json are the same file: name it once", "error")
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		file   string
		texts  string // of the lines, | between them
		number int
		size   int
		err    string
	}{
		{"", "", 0, 0, "<nil>"},
		{"\ufeffa\r\nb", "a|b", 2, 7, "<nil>"},
		{"a\n\ufeffb\n", "a|\ufeffb", 2, 7, "<nil>"},
		{"a\n0123456789\n", "a", 2, 2, "f:2: a line of more than 10 bytes: break it"},
	} {
		lines := NewLines(strings.NewReader(tt.file), "f", 10)
		var texts []string
		for lines.Scan() {
			texts = append(texts, lines.Text())
			ended := lines.Number < tt.number || strings.HasSuffix(tt.file, "\n")
			check.True(t, lines.Cut != ended, "%q: line %d is cut: %v", tt.file, lines.Number, lines.Cut)
		}
		if got := strings.Join(texts, "|"); got != tt.texts || lines.Number != tt.number || lines.Size != tt.size || fmt.Sprint(lines.Failed("break it")) != tt.err {
			t.Errorf("%q: %q, %d lines of %d bytes, %v", tt.file, got, lines.Number, lines.Size, lines.Failed("break it"))
		}
	}
	check.Equal(t, NewLines(strings.NewReader(""), "f", 10).Errorf("no %d", 1).Error(), "f:1: no 1", "Errorf")
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"a.json\nb c.json\n":           {"a.json", "b c.json"},
		"a.json\r\n\r\r\n./b.json":     {"a.json", "./b.json"},
		"\ufeffa.json\n\n\nnode#1\n":   {"a.json", "node#1"},
		" indented.json\ntrailing \n":  {" indented.json", "trailing "},
		strings.Repeat("x\n", 3) + "é": {"x", "x", "x", "é"},
	} {
		check.Deep(t, must.Get(Names(strings.NewReader(text), "list")), want, "%q", text)
	}
	for text, want := range map[string]string{
		"":                               "list holds no name of a file",
		"\n\r\n":                         "list holds no name of a file",
		"a.json\x00b.json\x00":           "list:1: a zero byte: give one name a line",
		"a\n" + strings.Repeat("x", 5e3): "list:2: a line of more than 4096 bytes",
	} {
		contains.Error(t, must.Err(Names(strings.NewReader(text), "list")), want)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("nodes/a.json\nnodes/b.json\n")
	f.Add("\ufeffa\r\n\r\n b \x00")
	f.Add("\r\r\r")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := Names(strings.NewReader(text), "list")
		if err != nil {
			check.True(t, strings.HasPrefix(err.Error(), "list"), "an error without the list's name: %v", err)
			return
		}
		for _, name := range names {
			check.True(t, name != "" && !strings.ContainsAny(name, "\n\x00"), "%q is no name", name)
		}
		check.Equal(t, len(must.Get(Names(strings.NewReader(strings.Join(names, "\n")), "again"))), len(names), "%q, read again", names)
	})
}
