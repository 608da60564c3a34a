package view

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// A Table has rows of cells under heads, and notes.
type Table struct {
	Title   string
	Columns []Column
	Keys    int // the number of columns that identify a row; 0: the first one and words after it
	Rows    [][]string
	Notes   []string // below, a line each
}

// A Column is the head and the alignment of a column.
type Column struct {
	Name string
	Unit string // below the name
	Left bool   // words: aligned left, numbers right
	// Beside: in a table of several parts it stays beside the column before it, as columns without a
	// name do.
	Beside bool
}

// Numbers are columns of numbers.
func Numbers(names ...string) (columns []Column) {
	return lists.Map(names, func(name string) Column { return Column{Name: name} })
}

// Words are columns of words.
func Words(names ...string) (columns []Column) {
	return lists.Map(names, func(name string) Column { return Column{Name: name, Left: true} })
}

// Add adds a row of cells and lists of cells; nil is an empty cell. A float64, or a pointer to one, has
// six digits and is empty if it is nil or not finite.
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
		case *float64: // nil: not known
			v := math.NaN()
			if cell != nil {
				v = *cell
			}
			row = texts(row, []any{v})
		case float64:
			text := printable.If(!math.IsNaN(cell) && !math.IsInf(cell, 0), strconv.FormatFloat(cell, 'g', 6, 64))
			row = append(row, text)
		default:
			row = append(row, fmt.Sprint(cell))
		}
	}
	return row
}

// Note adds a line below the rows.
func (t *Table) Note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// NoteIf adds a line below the rows if it applies.
func (t *Table) NoteIf(applies bool, format string, args ...any) {
	if applies {
		t.Note(format, args...)
	}
}

// DropEmpty removes the columns without a value in any row.
func (t *Table) DropEmpty() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return i < len(row) && row[i] != "" }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for n, row := range t.Rows {
			if i < len(row) {
				t.Rows[n] = slices.Delete(row, i, i+1)
			}
		}
	}
}

// NoteFew explains the mark of Few if a cell has it.
func (t *Table) NoteFew() {
	few := slices.ContainsFunc(slices.Concat(t.Rows...), func(cell string) bool { return strings.HasPrefix(cell, fewMark) })
	t.NoteIf(few, "%s too few launches for an interval", fewMark)
}

// gap is the number of spaces between columns.
const gap = 2

// WriteText writes the title, the columns under their heads, and the notes. Columns that do not fit into
// a line follow below, after the keys again; words of the last column are wrapped.
func (t *Table) WriteText(w io.Writer) {
	width := math.MaxInt
	if p, ok := w.(interface{ Width() int }); ok {
		width = p.Width()
	}
	for line := range strings.Lines(t.Title) {
		fmt.Fprintln(w, printable.Wrap(strings.TrimSuffix(line, "\n"), width, "  "))
	}
	widths := t.widths()
	for i, part := range t.parts(widths, width) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		t.writeColumns(w, part, widths, width)
	}
	for _, note := range t.Notes {
		fmt.Fprintln(w, printable.Wrap(note, width, "  "))
	}
}

// lines are heads, units and rows.
func (t *Table) lines() [][]string {
	units := lists.Map(t.Columns, func(c Column) string { return c.Unit })
	return append([][]string{t.heads(), units}, t.Rows...)
}

// widths are the columns' widths without gaps.
func (t *Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for _, cells := range t.lines() {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// leastWords is the smallest width of a column of wrapped words.
const leastWords = 20

// parts are the columns of each part of a table that is too wide for a line, after the keys.
func (t *Table) parts(widths []int, width int) (parts [][]int) {
	if len(widths) == 0 {
		return nil
	}
	var all []int
	total := 0
	for i, n := range widths {
		all = append(all, i)
		total += gap + n
	}
	last := len(widths) - 1
	if total <= width || last < 1 || t.Columns[last].Left && total-widths[last]+leastWords <= width {
		return [][]int{all}
	}
	keys, before := 1, gap+widths[0]
	for keys < last && (keys < t.Keys || t.Columns[keys].Left && t.Columns[keys-1].Left) && before+gap+widths[keys] <= width/2 {
		before += gap + widths[keys]
		keys++
	}
	part, used := slices.Clone(all[:keys]), before
	for i := keys; i <= last; {
		group, need := 1, gap+widths[i] // a column and those beside it
		for ; i+group <= last && (t.Columns[i+group].Beside || t.Columns[i+group].Name == ""); group++ {
			need += gap + widths[i+group]
		}
		if used+need > width && len(part) > keys {
			parts = append(parts, part)
			part, used = slices.Clone(all[:keys]), before
		}
		part, used = append(part, all[i:i+group]...), used+need
		i += group
	}
	return append(parts, part)
}

// writeColumns writes some columns of all rows.
func (t *Table) writeColumns(w io.Writer, columns, widths []int, width int) {
	last := columns[len(columns)-1]
	before := lists.Sum(columns[:len(columns)-1], func(i int) int { return gap + widths[i] })
	if len(columns) > 1 && t.Columns[columns[0]].Left { // the first column of words has no gap before it
		before -= gap
	}
	for _, cells := range t.lines() {
		var line strings.Builder
		for _, i := range columns {
			if i >= len(cells) {
				break
			}
			cell := cells[i]
			if i == last && t.Columns[i].Left && before+gap+utf8.RuneCountInString(cell) > width {
				cell = printable.Wrap(cell, max(width-before-gap, 1), "")
				cell = strings.ReplaceAll(cell, "\n", "\n"+strings.Repeat(" ", before+gap))
			}
			space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			switch {
			case !t.Columns[i].Left:
				line.WriteString(strings.Repeat(" ", gap) + space + cell)
			case i == 0:
				line.WriteString(cell + space)
			default:
				line.WriteString(strings.Repeat(" ", gap) + cell + space)
			}
		}
		if text := strings.TrimRight(line.String(), " "); text != "" { // no line for missing heads or units
			fmt.Fprintln(w, text)
		}
	}
}

// WriteTables writes tables with an empty line after each.
func WriteTables(w io.Writer, tables []Table) {
	for i := range tables {
		tables[i].WriteText(w)
		fmt.Fprintln(w)
	}
}

// Filled are the tables with rows.
func Filled(tables ...Table) []Table {
	return lists.Filter(tables, func(t Table) bool { return len(t.Rows) > 0 })
}

// WriteValues writes heads and rows with a comma or tab between cells. Short rows are filled up with
// empty cells.
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

// Headed tells whether any column has a head.
func (t *Table) Headed() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head() != "" })
}

// Head is the name with its unit; it may be "".
func (c Column) Head() string { return strings.Trim(strings.TrimSpace(c.Name)+", "+c.Unit, ", ") }

func (t *Table) heads() (names []string) {
	return lists.Map(t.Columns, func(c Column) string { return c.Name })
}
