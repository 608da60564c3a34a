package infile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Lines are the lines of a text file, which is not trusted.
type Lines struct {
	*bufio.Scanner
	Name   string // of the file
	Number int    // of the last line, from 1
	Size   int    // bytes of all lines so far, with a line end of one byte each
	Cut    bool   // the last line has no line end

	longest int // bytes of a line
}

// NewLines reads lines of at most longest bytes.
func NewLines(r io.Reader, name string, longest int) *Lines {
	l := &Lines{Scanner: bufio.NewScanner(r), Name: name, longest: longest}
	l.Buffer(nil, longest)
	l.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		l.Cut = atEOF && bytes.IndexByte(data, '\n') < 0
		return bufio.ScanLines(data, atEOF)
	})
	return l
}

// Scan goes to the next line. After an error, Number is the line with the error.
func (l *Lines) Scan() bool {
	more := l.Scanner.Scan()
	if more || l.Err() != nil {
		l.Number++
	}
	if more {
		l.Size += len(l.Bytes()) + 1
	}
	return more
}

// Text is the line without its end, and without a byte order mark in the first line.
func (l *Lines) Text() string {
	text := l.Scanner.Text()
	if l.Number == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text
}

// Failed is the error that ended Scan, with the line; nil: the file ended. For a line that is too long it has
// the advice.
func (l *Lines) Failed(advice string) error {
	switch err := l.Err(); err {
	case nil:
		return nil
	case bufio.ErrTooLong:
		return l.Errorf("a line of more than %d bytes: %s", l.longest, advice)
	default:
		return l.Errorf("%w", err)
	}
}

// Errorf is an error in the last line.
func (l *Lines) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.Name, max(l.Number, 1), fmt.Errorf(format, args...))
}

// Limits of a list of names.
const (
	longestName = 1 << 12 // bytes
	mostNames   = 1 << 20
)

// Names reads names of files, one a line, like the output of find and ls. Empty lines are skipped, and
// CRLF is a line end. It fails for a list without names; other errors begin with name and line.
func Names(r io.Reader, name string) (names []string, err error) {
	const advice = "give one name a line, as find and ls print them"
	lines := NewLines(r, name, longestName)
	for lines.Scan() {
		path := strings.TrimRight(lines.Text(), "\r")
		switch {
		case path == "":
			continue
		case strings.ContainsRune(path, 0):
			return nil, lines.Errorf("a zero byte: %s", advice)
		case len(names) == mostNames:
			return nil, lines.Errorf("more than %d names", mostNames)
		}
		names = append(names, path)
	}
	if err := lines.Failed(advice); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no name of a file", name)
	}
	return names, nil
}
