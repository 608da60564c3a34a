package view

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/printable"
)

// A Table is numbers with their words: a row each, columns with units in their
// names, and sentences on what they mean.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string
	Notes   []string // below, a line each
}

// A Column is a column's head.
type Column struct {
	Name string
	Unit string // below the name, where a column's name has no room for it
	Left bool   // words: they begin where the column does, numbers end where it does
}

// Numbers are columns of numbers.
func Numbers(names ...string) (columns []Column) {
	for _, name := range names {
		columns = append(columns, Column{Name: name})
	}
	return columns
}

// Words are columns of words.
func Words(names ...string) (columns []Column) {
	for _, name := range names {
		columns = append(columns, Column{Name: name, Left: true})
	}
	return columns
}

// Add adds a row of cells and lists of cells; nil is an empty one. A float64 is a value
// for programs: it has six digits, and its cell is empty where it is not finite.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, texts(nil, cells)) }

func texts(row []string, cells []any) []string {
	for _, cell := range cells {
		switch cell := cell.(type) {
		case nil:
			row = append(row, "")
		case []string:
			row = append(row, cell...)
		case []any:
			row = texts(row, cell)
		case float64:
			text := ""
			if !math.IsNaN(cell) && !math.IsInf(cell, 0) {
				text = strconv.FormatFloat(cell, 'g', 6, 64)
			}
			row = append(row, text)
		default:
			row = append(row, fmt.Sprint(cell))
		}
	}
	return row
}

// Note adds a sentence below the rows.
func (t *Table) Note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// gap is between columns.
const gap = 2

// WriteText writes the title, the columns under their heads, and the notes.
func (t *Table) WriteText(w io.Writer) {
	if t.Title != "" {
		fmt.Fprintln(w, t.Title)
	}
	widths := make([]int, len(t.Columns))
	var units []string
	for _, c := range t.Columns {
		units = append(units, c.Unit)
	}
	lines := append([][]string{t.heads(), units}, t.Rows...)
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, cells := range lines {
		var line strings.Builder
		for i, cell := range cells {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case !t.Columns[i].Left:
				line.WriteString(strings.Repeat(" ", gap) + space + cell)
			case i == 0:
				line.WriteString(cell + space)
			default:
				line.WriteString(strings.Repeat(" ", gap) + cell + space)
			}
		}
		if text := strings.TrimRight(line.String(), " "); text != "" { // of tables without heads or units
			fmt.Fprintln(w, text)
		}
	}
	for _, note := range t.Notes {
		fmt.Fprintln(w, note)
	}
}

// WriteTables writes tables with an empty line after each.
func WriteTables(w io.Writer, tables []Table) {
	for i := range tables {
		tables[i].WriteText(w)
		fmt.Fprintln(w)
	}
}

// WriteValues writes the rows under their heads as values separated by comma or tab.
// Rows that are shorter than the heads are filled up with empty cells.
func (t *Table) WriteValues(w io.Writer, separator rune) error {
	out := printable.NewTable(w, separator)
	for _, cells := range append([][]string{t.heads()}, t.Rows...) {
		row := make([]string, len(t.Columns))
		copy(row, cells)
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Grouped are the rows of each key, in the order in which keys come first.
func Grouped[R any, K comparable](rows []R, key func(R) K) (groups [][]R) {
	at := make(map[K]int)
	for _, r := range rows {
		i, found := at[key(r)]
		if !found {
			i = len(groups)
			at[key(r)], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

func (t *Table) heads() (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}
