package document

import (
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// A Format is a way to write documents that a flag of its name asks for.
type Format struct {
	Name  string
	Usage string // of the flag
	Exact bool   // it has escapes of its own for what a terminal would obey
	Write func(d *Document, w io.Writer) error
}

// Formats are all of them.
var Formats = []*Format{
	{Name: "json", Usage: "one JSON document", Exact: true, Write: (*Document).WriteJSON},
	{Name: "csv", Usage: "comma-separated values, a row for each number, with units in the header", Write: (*Document).WriteCSV},
	{Name: "tsv", Usage: "tab-separated values, likewise", Write: func(d *Document, w io.Writer) error { return d.Values.WriteValues(w, '\t') }},
	Markdown,
}

// WriteJSON writes the value, below what the text answers; one without a kind writes itself, as
// parameter files do.
func (d *Document) WriteJSON(w io.Writer) error {
	if file, ok := d.Value.(interface{ Write(io.Writer) error }); ok && d.Kind == "" {
		return file.Write(w)
	}
	return view.WriteJSON(w, d.Kind, d.Version, d.Answer(), d.Value)
}

// Answer is what the text begins with, up to an empty line.
func (d *Document) Answer() string {
	parts := d.read()
	if len(parts) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(parts[0].prose.String(), "\n\n")
	return strings.TrimRight(first, "\n")
}

// WriteCSV writes the values.
func (d *Document) WriteCSV(w io.Writer) error { return d.Values.WriteValues(w, ',') }
