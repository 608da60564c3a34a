package engine

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/taulop/taulop/params"
)

// A journal is a file that launches append to, a line a reading, and that their
// parent reads behind them. It is no pipe, because a pipe dies with its reader,
// and wakes it.
type journal struct {
	*os.File
	next int64  // byte that was not read yet
	rest []byte // of a line that was not whole
	disk bool   // it can be full
}

// errJournal is why a launch ended that could not write what it found.
var errJournal = errors.New("the journal cannot be written")

func newJournal(f *os.File) (*journal, error) {
	disk := f != nil
	if f == nil {
		var err error
		if f, err = memoryFile(); err != nil {
			return nil, fmt.Errorf("no room for what launches find: %w", err)
		}
	}
	end, err := f.Seek(0, io.SeekEnd)
	return &journal{File: f, next: end, disk: disk}, err
}

// begin notes a launch.
func (j *journal) begin(l params.Launch) error {
	if err := (entry{Launch: &l}).write(j); err != nil {
		return fmt.Errorf("what launches find cannot be kept: %w", err)
	}
	return nil
}

// read calls take with every line that has come.
func (j *journal) read(take func(entry)) error {
	var chunk [1 << 16]byte
	for {
		n, err := j.ReadAt(chunk[:], j.next)
		j.next += int64(n)
		j.rest = append(j.rest, chunk[:n]...)
		for {
			line, rest, whole := bytes.Cut(j.rest, []byte("\n"))
			if !whole {
				break
			}
			j.rest = rest
			var e entry
			if json.Unmarshal(line, &e) == nil { // else of a launch that was killed in the middle of it
				take(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// JournalName is a name for the journal of a file that is measured into, in the same
// directory. The file keeps it before there is a journal: whatever is killed, parent or
// launch, what was found is there, and nothing is left that no file names.
func JournalName(path string) string {
	return fmt.Sprintf(".%.100s.%s.journal", filepath.Base(path), rand.Text())
}

// OpenJournal opens the journal of a name beside path, to append to.
func OpenJournal(path, name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return f, nil
}

// Recover adds to the experiment's file what is in the journal that it names,
// beside path: the file's parent was killed. What the file has already is not added
// again, and a journal that is not there has nothing to add. The journal stays until
// RemoveJournal: nothing is lost while the file is not saved.
func (x *Experiment) Recover(path string) (added int, err error) {
	in, err := openJournal(path, x.File.Journal)
	if in == nil || err != nil {
		return 0, err
	}
	defer in.Close()
	return x.recover(in)
}

func openJournal(path, name string) (*os.File, error) {
	if name == "" || name != filepath.Base(name) || !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".journal") {
		return nil, nil
	}
	name = filepath.Join(filepath.Dir(path), name)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() { // nothing of ours
		return nil, nil
	}
	return os.Open(name)
}

// RemoveJournal removes the journal that a file names, beside path, and the name.
func RemoveJournal(path string, f *params.File) {
	if in, err := openJournal(path, f.Journal); in != nil && err == nil {
		in.Close()
		os.Remove(in.Name())
	}
	f.Journal = ""
}

func (x *Experiment) recover(in *os.File) (added int, err error) {
	f := x.File
	launches := make(map[string]int)
	for i, l := range f.Launches {
		launches[l.Began] = i
	}
	at, planned := make(map[params.Key]int), make(map[params.Key]params.Cell)
	for i, c := range f.Cells {
		at[c.Key] = i
	}
	for _, c := range x.Cells {
		planned[c.Key] = c.Cell
	}
	j, launch := &journal{File: in}, -1
	err = j.read(func(e entry) {
		switch {
		case e.Launch != nil:
			i, known := launches[e.Launch.Began]
			if !known {
				i = len(f.Launches)
				f.Launches = append(f.Launches, *e.Launch)
				launches[e.Launch.Began] = i
			}
			launch = i
		case len(e.Loads) > 0 && launch >= 0:
			f.Launches[launch].Loads = e.Loads
		case e.Cell != nil && launch >= 0 && !e.Probe:
			i, known := at[*e.Cell]
			if !known {
				c, asked := planned[*e.Cell]
				if !asked {
					return
				}
				i = len(f.Cells)
				at[*e.Cell] = i
				f.Cells = append(f.Cells, c)
			}
			c := &f.Cells[i]
			for _, s := range c.Samples {
				if int(s.Launch) == launch {
					return
				}
			}
			c.Samples = append(c.Samples, e.sample(launch))
			c.Time = c.Replicates(f).Estimate()
			added++
		}
	})
	return added, err
}

// temporaryFile has no name any more.
func temporaryFile() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "taulop-"+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err == nil {
		os.Remove(f.Name())
	}
	return f, err
}
