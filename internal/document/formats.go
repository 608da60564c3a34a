package document

import (
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// A Format is an output format, chosen by the flag of its name.
type Format struct {
	Name  string
	Usage string // of the flag
	Exact bool   // it escapes control characters itself
	Write func(d *Document, w io.Writer) error
}

// Formats are all formats but text.
var Formats = []*Format{
	{Name: "json", Usage: "one JSON document", Exact: true, Write: (*Document).WriteJSON},
	{Name: "csv", Usage: "comma-separated values, a row for each number, with units in the header", Write: (*Document).WriteCSV},
	{Name: "tsv", Usage: "tab-separated values, likewise", Write: func(d *Document, w io.Writer) error { return d.Values.WriteValues(w, '\t') }},
	Markdown,
}

// WriteJSON writes the answer and the value. A parameter file, which has no kind, writes itself.
func (d *Document) WriteJSON(w io.Writer) error {
	if file, ok := d.Value.(interface{ Write(io.Writer) error }); ok && d.Kind == "" {
		return file.Write(w)
	}
	return view.WriteJSON(w, d.Kind, 1, d.Answer(), d.Value)
}

// Answer is the beginning of the text, up to an empty line: prose, and tables that stand before it.
func (d *Document) Answer() string {
	var text strings.Builder
	for _, p := range d.read() {
		if p.table == nil {
			text.WriteString(p.prose.String())
			break
		}
		p.table.WriteText(&text)
	}
	first, _, _ := strings.Cut(text.String(), "\n\n")
	return strings.TrimRight(first, "\n")
}

// WriteCSV writes the values.
func (d *Document) WriteCSV(w io.Writer) error { return d.Values.WriteValues(w, ',') }
