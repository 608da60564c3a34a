package comm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// matrixMarket reads what R. F. Boisvert, R. Pozo and K. A. Remington, "The Matrix Market
// Exchange Formats", NISTIR 5935, 1996, describe: row i of column j is what process i−1
// sends to process j−1. Of symmetric matrices each entry is sent both ways.
func (in *reader) matrixMarket(banner []string) (*Matrix, error) {
	if len(banner) != 5 || banner[1] != "matrix" {
		return nil, errors.New("the first line is not %%MatrixMarket matrix, a format, a field and a symmetry")
	}
	format, field, symmetry := banner[2], banner[3], banner[4]
	switch {
	case format != "coordinate" && format != "array":
		return nil, fmt.Errorf("format %.40q: coordinate and array are read", format)
	case !slices.Contains([]string{"real", "double", "integer", "pattern"}, field):
		return nil, fmt.Errorf("field %.40q: bytes are real, integer, or pattern for one each", field)
	case field == "pattern" && format == "array":
		return nil, errors.New("an array has no pattern: give its numbers")
	case symmetry != "general" && symmetry != "symmetric":
		return nil, fmt.Errorf("symmetry %.40q: nobody sends less than nothing, general and symmetric are read", symmetry)
	}
	if !in.value() {
		return nil, in.ended(errors.New("there is no line with the numbers of rows and columns"))
	}
	sizes, err := integers(in.text)
	coordinate := format == "coordinate"
	switch {
	case err != nil:
		return nil, err
	case coordinate && len(sizes) != 3:
		return nil, fmt.Errorf("%.40q is no line of rows, columns and entries", in.text)
	case !coordinate && len(sizes) != 2:
		return nil, fmt.Errorf("%.40q is no line of rows and columns", in.text)
	case sizes[0] != sizes[1]:
		return nil, fmt.Errorf("%d rows and %d columns: a communication matrix is square", sizes[0], sizes[1])
	}
	m, err := New(sizes[0])
	if err != nil {
		return nil, err
	}
	add := func(row, column int, text string) error {
		bytes := int64(1)
		if field != "pattern" {
			var err error
			if bytes, err = whole(text); err != nil {
				return err
			}
		}
		if bytes == 0 {
			return nil
		}
		if row < column && symmetry == "symmetric" {
			return fmt.Errorf("row %d of column %d: a symmetric matrix has its lower half alone", row+1, column+1)
		}
		if p := m.Ranks(); row < 0 || column < 0 || row >= p || column >= p {
			return fmt.Errorf("row %d of column %d: rows and columns are 1 to %d", row+1, column+1, p)
		}
		if err := m.Add(row, column, bytes, 1); err != nil {
			return err
		}
		if symmetry == "symmetric" {
			return m.Add(column, row, bytes, 1)
		}
		return nil
	}
	if coordinate {
		return m, in.coordinates(sizes[2], field == "pattern", add)
	}
	return m, in.array(m.Ranks(), symmetry == "symmetric", add)
}

// coordinates reads a line for each entry.
func (in *reader) coordinates(entries int, pattern bool, add func(row, column int, text string) error) error {
	if entries < 0 || entries > maxEntries {
		return fmt.Errorf("%d entries: 0 to %d are read", entries, maxEntries)
	}
	want := 3
	if pattern {
		want = 2
	}
	for i := range entries {
		if !in.value() {
			return in.ended(fmt.Errorf("the file ends after %d of %d entries", i, entries))
		}
		values := strings.Fields(in.text)
		if len(values) != want {
			return fmt.Errorf("%s in a line, want %d", printable.Count(len(values), "value"), want)
		}
		at, err := integers(strings.Join(values[:2], " "))
		if err != nil {
			return err
		}
		if err := add(at[0]-1, at[1]-1, values[want-1]); err != nil {
			return err
		}
	}
	return in.over()
}

// array reads column after column.
func (in *reader) array(ranks int, symmetric bool, add func(row, column int, text string) error) error {
	for column := range ranks {
		first := 0
		if symmetric {
			first = column
		}
		for row := first; row < ranks; row++ {
			if !in.value() {
				return in.ended(fmt.Errorf("the file ends before row %d of column %d of %d", row+1, column+1, ranks))
			}
			if err := add(row, column, in.text); err != nil {
				return err
			}
		}
	}
	return in.over()
}

func (in *reader) over() error {
	if in.value() {
		return fmt.Errorf("%.40q is behind the last entry", in.text)
	}
	return in.ended(nil)
}

// value goes to the next line that is no comment.
func (in *reader) value() bool {
	for in.next() {
		if !strings.HasPrefix(in.text, "%") {
			return true
		}
	}
	return false
}

func integers(text string) (all []int, err error) {
	for _, word := range strings.Fields(text) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%.40q is no whole number from 0", word)
		}
		all = append(all, n)
	}
	return all, nil
}
