package printable

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Table writes comma- or tab-separated values that spreadsheets take for what they
// are: no cell breaks its row, and none is a formula.
type Table struct{ csv *csv.Writer }

// NewTable separates cells by comma, or by whatever that is.
func NewTable(w io.Writer, comma rune) Table {
	out := csv.NewWriter(w)
	out.Comma = comma
	return Table{out}
}

// Write writes a row.
func (t Table) Write(row []string) error {
	cells := lists.Map(row, cell)
	return t.csv.Write(cells)
}

// Flush writes what is left, and returns the first error of all writes.
func (t Table) Flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

// cell is s in one line, with an apostrophe in front where a spreadsheet would run
// it: the OWASP's remedy for CSV injection. Numbers stay numbers.
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
