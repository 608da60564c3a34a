package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A journal is a file to which launches append a line a reading, and which their parent reads while they
// do. It is no pipe, because a pipe dies with its reader, and wakes it.
type journal struct {
	*os.File
	next int64 // offset of the first unread line
	disk bool  // it is on a disk, which can be full
}

// errJournal: a launch ended because it could not write its results.
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
	if last := make([]byte, 1); err == nil && end > 0 { // a launch may have been killed in the middle of a line
		if _, err = f.ReadAt(last, end-1); err == nil && last[0] != '\n' {
			_, err = f.WriteString("\n")
			end++
		}
	}
	return &journal{File: f, next: end, disk: disk}, err
}

// read calls take with every new line.
func (j *journal) read(take func(entry)) error {
	lines := bufio.NewReader(io.NewSectionReader(j, j.next, math.MaxInt64-j.next))
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the rest is an incomplete line
			return nil
		}
		if err != nil {
			return err
		}
		j.next += int64(len(line))
		var e entry
		if json.Unmarshal(line, &e) == nil { // else its launch was killed in the middle of it
			take(e)
		}
	}
}

// JournalPath is the path of the journal of the file at path. No file's content decides it.
func JournalPath(path string) string {
	dir, name := filepath.Split(path)
	return dir + "." + name + ".journal"
}

// A heading is the first line of a journal beside a file.
type heading struct {
	Format string `json:"format"` // journalFormat
	Mark   string `json:"mark"`   // which the file has too
}

const journalFormat = "taulop journal"

// NewMark returns a mark that no other journal has.
func NewMark() string { return rand.Text() }

// MakeJournal creates the journal of the file at path, to append to. The file must have the mark
// already: then the results in the journal belong to it even if parent or launch is killed. It fails if
// there is a file at the journal's path.
func MakeJournal(path, mark string) (*os.File, error) {
	f, err := os.OpenFile(JournalPath(path), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(f).Encode(heading{journalFormat, mark}); err != nil {
		remove(f)
		return nil, err
	}
	return f, nil
}

// ErrNoJournal: the file has no journal, or that of another file.
var ErrNoJournal = errors.New("there is no journal of it")

// OpenJournal opens the journal of the file at path, to read and to append to. It fails with
// ErrNoJournal if there is none with the mark.
func OpenJournal(path, mark string) (*os.File, error) {
	return openJournal(path, func(has string) bool { return has == mark && mark != "" })
}

func openJournal(path string, ours func(mark string) bool) (*os.File, error) {
	f, err := os.OpenFile(JournalPath(path), os.O_RDWR|os.O_APPEND|noFollow, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s, which may have what was measured last, cannot be opened: %w", JournalPath(path), fs.ErrPermission)
	}
	if err != nil {
		return nil, ErrNoJournal
	}
	var first [1 << 10]byte
	n, _ := f.ReadAt(first[:], 0)
	line, _, whole := bytes.Cut(first[:n], []byte("\n"))
	var h heading
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !whole || json.Unmarshal(line, &h) != nil || h.Format != journalFormat || !ours(h.Mark) {
		f.Close()
		return nil, ErrNoJournal
	}
	return f, nil
}

// Recover adds the results in the file's journal, beside path, to the experiment's file, whose parent
// was killed. Results that the file has already are not added again. It fails with ErrNoJournal if the
// file has a mark but no journal. The journal stays until RemoveJournal, after the file was saved.
func (x *Experiment) Recover(path string) (added int, err error) {
	if x.File.Journal == "" {
		return 0, nil
	}
	in, err := OpenJournal(path, x.File.Journal)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if added, err = x.recover(in); err == nil {
		err = x.File.Validate()
	}
	if err != nil {
		return 0, fmt.Errorf("%s cannot be added to the file (%w): move it away to go on without what it has", in.Name(), err)
	}
	return added, nil
}

// RemoveJournal removes a file's journal, beside path, and its mark.
func RemoveJournal(path string, f *params.File) {
	if in, err := OpenJournal(path, f.Journal); err == nil {
		remove(in)
	}
	f.Journal = ""
}

// MoveJournal moves the journal with the mark when its file moves. It stays if there is a journal at the
// new path.
func MoveJournal(from, to, mark string) {
	in, err := OpenJournal(from, mark)
	if err != nil {
		return
	}
	in.Close()
	if os.Link(JournalPath(from), JournalPath(to)) == nil { // Link replaces nothing
		os.Remove(JournalPath(from))
	}
}

// RemoveOldJournal removes the journal of a file that a new file at path replaces.
func RemoveOldJournal(path string) {
	if in, err := openJournal(path, func(string) bool { return true }); err == nil {
		remove(in)
	}
}

// remove removes an open file, unless its name belongs to another file by now.
func remove(f *os.File) {
	defer f.Close()
	open, err := f.Stat()
	if named, failed := os.Lstat(f.Name()); err == nil && failed == nil && os.SameFile(open, named) {
		os.Remove(f.Name())
	}
}

// recover adds the results in a journal to the experiment's file.
func (x *Experiment) recover(in *os.File) (added int, err error) {
	f := x.File
	launches := lists.Index(f.Launches, func(l params.Launch) string { return l.Began })
	index := lists.Index(f.Cells, keyOf)
	planned := lists.ToMap(x.Cells, func(c Cell) (params.Key, params.Cell) { return c.Key, c.Cell })
	var damaged error
	j, launch, touched := &journal{File: in}, -1, make(map[int]bool) // sessions
	err = j.read(func(e entry) {
		switch {
		case e.Launch != nil:
			if launch = -1; damaged == nil {
				damaged = e.Launch.Check()
			}
			if damaged != nil {
				return
			}
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
			i, known := index[*e.Cell]
			if !known {
				c, asked := planned[*e.Cell]
				if !asked {
					return
				}
				i = len(f.Cells)
				index[*e.Cell] = i
				f.Cells = append(f.Cells, c)
			}
			c, sample := &f.Cells[i], e.sample(f, f.Launches[launch].Session, launch)
			for _, s := range c.Samples {
				const digits = 1e-4 // the file's precision
				if s.Launch == sample.Launch && math.Abs(float64(s.At-sample.At)) <= digits*float64(sample.At) {
					return
				}
			}
			c.Samples = append(c.Samples, sample)
			touched[f.Launches[launch].Session] = true
			added++
		}
	})
	looks := f.Looks()
	for session := range touched {
		f.FindStates(session, looks)
	}
	states := f.Sort()
	for i := range f.Cells {
		if added > 0 {
			f.Cells[i].Time = states.Estimate(&f.Cells[i])
		}
	}
	return added, cmp.Or(err, damaged)
}

// temporaryFile is a file without a name.
func temporaryFile() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "taulop-"+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err == nil {
		os.Remove(f.Name())
	}
	return f, err
}
