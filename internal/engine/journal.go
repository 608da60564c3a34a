package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/taulop/taulop/params"
)

// A journal is a file that launches append to, a line a reading, and that their
// parent reads behind them. It is no pipe, because a pipe dies with its reader,
// and wakes it.
type journal struct {
	*os.File
	next int64  // byte that was not read yet
	rest []byte // of a line that was not whole
}

func newJournal(f *os.File) (*journal, error) {
	if f == nil {
		var err error
		if f, err = memoryFile(); err != nil {
			return nil, fmt.Errorf("no room for what launches find: %w", err)
		}
	}
	end, err := f.Seek(0, io.SeekEnd)
	return &journal{File: f, next: end}, err
}

// begin notes a launch.
func (j *journal) begin(l params.Launch) error {
	line, err := entry{Launch: &l}.line()
	if err == nil {
		_, err = j.Write(line)
	}
	if err != nil {
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

// Recover adds to a file what is in the journal of an experiment that was killed.
// What the file has already is not added again.
func Recover(f *params.File, in *os.File) (added int, err error) {
	launches := make(map[string]int)
	for i, l := range f.Launches {
		launches[l.Began] = i
	}
	at := make(map[params.Key]int)
	for i, c := range f.Cells {
		at[c.Key] = i
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
		case e.Cell != nil && launch >= 0 && !e.Probe:
			i, known := at[*e.Cell]
			if !known { // only a plan says what else it takes
				return
			}
			c := &f.Cells[i]
			for _, s := range c.Samples {
				if int(s.Launch) == launch {
					return
				}
			}
			c.Samples = append(c.Samples, params.Sample{NS: e.NS, Launch: int32(launch), At: float32(e.At), Spread: float32(e.Spread)})
			c.Time = c.Replicates(f).Estimate()
			added++
		}
	})
	return added, err
}

// temporaryFile has no name any more.
func temporaryFile() (*os.File, error) {
	made, err := os.CreateTemp("", "taulop-*")
	if err != nil {
		return nil, err
	}
	defer made.Close()
	defer os.Remove(made.Name())
	return os.OpenFile(made.Name(), os.O_RDWR|os.O_APPEND, 0o600)
}
