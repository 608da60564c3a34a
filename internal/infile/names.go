package infile

import (
	"fmt"
	"io"
	"strings"
)

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
