package printable

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Table writes comma- or tab-separated values. No cell has a line break, and none is a formula of a
// spreadsheet.
type Table struct{ csv *csv.Writer }

// NewTable separates cells by the rune comma.
func NewTable(w io.Writer, comma rune) Table {
	out := csv.NewWriter(w)
	out.Comma = comma
	return Table{out}
}

// Write writes a row.
func (t Table) Write(row []string) error { return t.csv.Write(lists.Map(row, cell)) }

// Flush writes the buffer, and returns the first error of all writes.
func (t Table) Flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

// cell is s in one line, after an apostrophe if a spreadsheet would take it for a formula: OWASP's
// remedy for CSV injection. Numbers stay numbers.
func cell(s string) string {
	line := Line(s)
	if strings.IndexAny(s, "=+-@\t\r＝＋－＠") != 0 {
		return line
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return line
	}
	return "'" + line
}
