// Package document holds results as documents, which every output renders: text, JSON,
// values for programs, Markdown, HTML.
//
// Its opinion: a result says once what there is to read in it, and knows no
// format; a format knows documents and no result.
package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// A Document is a result: sentences, tables and charts in the order of reading, the value behind
// them, and a row for each of its numbers.
type Document struct {
	Kind    string          // of the value, its "format" in JSON: "taulop predict"
	Version int             // of that kind
	Value   any             // what JSON holds
	Values  Values          // the numbers, for programs
	say     func(*Document) // what there is to read, until somebody reads
	parts   []*part
}

// A part is one of these: lines of prose, a table, a list, a chart, a section.
type part struct {
	prose   strings.Builder
	table   *view.Table
	items   []string
	chart   *Chart
	section *Section
}

// A Section is a document within one, under a title.
type Section struct {
	Title  string
	ID     string // of pages, for style and script; so is Class
	Class  string
	Folded bool // a page shows the title alone until somebody opens it
	Open   bool // it is open when the page is
	Later  bool // folded, a page holds it packed until then
	of     *Document
}

// Values write numbers in rows under their heads, with commas or tabs between them.
type Values interface {
	WriteValues(w io.Writer, separator rune) error
}

// Rows are values in a table, which is made once somebody asks.
type Rows func() view.Table

// WriteValues writes the table.
func (r Rows) WriteValues(w io.Writer, separator rune) error {
	t := r()
	return t.WriteValues(w, separator)
}

// New makes a document of a value of version 1 of its kind. Say writes what people read, and
// is called once somebody does: values for programs do not wait for it.
func New(kind string, value any, values Values, say func(*Document)) *Document {
	return &Document{Kind: kind, Version: 1, Value: value, Values: values, say: say}
}

// read is all parts.
func (d *Document) read() []*part {
	if say := d.say; say != nil {
		d.say = nil
		say(d)
	}
	return d.parts
}

// add adds a part below what is there.
func (d *Document) add(p *part) { d.parts = append(d.read(), p) }

// Write adds prose; it never fails.
func (d *Document) Write(text []byte) (int, error) {
	if parts := d.read(); len(parts) == 0 || !parts[len(parts)-1].isProse() {
		d.add(&part{})
	}
	return d.parts[len(d.parts)-1].prose.Write(text)
}

func (p *part) isProse() bool { return p.prose.Len() > 0 }

// Table adds a table right below what is there.
func (d *Document) Table(t view.Table) { d.add(&part{table: &t}) }

// Note adds a sentence that is less than what stands around it.
func (d *Document) Note(text string) { d.Table(view.Table{Notes: []string{text}}) }

// List adds items, if there are some.
func (d *Document) List(items ...string) {
	if len(items) > 0 {
		d.add(&part{items: items})
	}
}

// Chart adds a chart.
func (d *Document) Chart(c *Chart) { d.add(&part{chart: c}) }

// Section adds a section; one that is empty is left out.
func (d *Document) Section(s Section, of *Document) {
	if s.of = of; !of.Empty() {
		d.add(&part{section: &s})
	}
}

// Tables adds tables with an empty line before each.
func (d *Document) Tables(tables ...view.Table) {
	for _, t := range tables {
		fmt.Fprintln(d)
		d.Table(t)
	}
}

// TablesAbove adds tables with an empty line after each.
func (d *Document) TablesAbove(tables ...view.Table) {
	for _, t := range tables {
		d.Table(t)
		fmt.Fprintln(d)
	}
}

// Append adds all that another one has to read.
func (d *Document) Append(other *Document) { d.parts = append(d.read(), other.read()...) }

// Empty tells a document without anything to read.
func (d *Document) Empty() bool { return len(d.read()) == 0 }

// WriteText writes what people read, tables as wide as a line of w; charts have no text.
func (d *Document) WriteText(w io.Writer) {
	for _, p := range d.read() {
		switch {
		case p.isProse():
			io.WriteString(w, p.prose.String()) // who gave w knows what went wrong
		case p.table != nil:
			p.table.WriteText(w)
		case p.section != nil:
			fmt.Fprintf(w, "%s\n\n", p.section.Title)
			p.section.of.WriteText(w)
		}
		for _, item := range p.items {
			fmt.Fprintf(w, "- %s\n", item)
		}
	}
}
