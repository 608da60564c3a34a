// Package document holds results as documents and renders them as text, JSON, CSV, Markdown and HTML.
//
// Its opinion: a result makes one document and knows no format; a format knows documents and no result.
package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// A Document is a result for all formats: sentences, tables and charts in the order of reading, its value for
// JSON, and its numbers as rows for CSV.
type Document struct {
	Kind   string // the "format" in JSON, version 1: "taulop predict"
	Value  any    // written as JSON
	Values Values
	say    func(*Document) // adds the parts on first use, then nil
	parts  []*part
}

// A part has one of its fields: lines of prose, a table, a list, consecutive charts or a section.
type part struct {
	prose   strings.Builder
	table   *view.Table
	items   []string
	charts  []*Chart
	section *Section
}

// A Section is a document within one, under a title.
type Section struct {
	Title  string
	ID     string // of the HTML element, as Class
	Class  string
	Folded bool // a page shows the title alone until a reader opens it
	Open   bool // although Folded, it is open at first
	Later  bool // a page holds it packed until it is opened
	of     *Document
}

// Values are the numbers of a result for programs, in rows under heads with commas or tabs.
type Values interface {
	WriteValues(w io.Writer, separator rune) error
}

// Rows makes a table of values when it is written.
type Rows func() view.Table

func (r Rows) WriteValues(w io.Writer, separator rune) error {
	t := r()
	return t.WriteValues(w, separator)
}

// New makes a document. Say adds its parts; it is called once, on the first use of parts. Values
// do not need it.
func New(kind string, value any, values Values, say func(*Document)) *Document {
	return &Document{Kind: kind, Value: value, Values: values, say: say}
}

// read is the parts.
func (d *Document) read() []*part {
	if say := d.say; say != nil {
		d.say = nil
		say(d)
	}
	return d.parts
}

func (d *Document) add(p *part) { d.parts = append(d.read(), p) }

// Write adds prose; it never fails.
func (d *Document) Write(text []byte) (int, error) {
	if parts := d.read(); len(parts) == 0 || !parts[len(parts)-1].isProse() {
		d.add(&part{})
	}
	return d.parts[len(d.parts)-1].prose.Write(text)
}

// Lines adds lines of prose, without those that are empty.
func (d *Document) Lines(lines ...string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintln(d, line)
		}
	}
}

func (p *part) isProse() bool { return p.prose.Len() > 0 }

// Table adds a table without an empty line before it.
func (d *Document) Table(t view.Table) {
	t.NoteFew()
	d.add(&part{table: &t})
}

// Note adds a less important sentence.
func (d *Document) Note(text string) { d.Table(view.Table{Notes: []string{text}}) }

// List adds items; nothing without items.
func (d *Document) List(items ...string) {
	if len(items) > 0 {
		d.add(&part{items: items})
	}
}

// Chart adds a chart.
func (d *Document) Chart(c *Chart) {
	if parts := d.read(); len(parts) == 0 || parts[len(parts)-1].charts == nil {
		d.add(&part{})
	}
	last := d.parts[len(d.parts)-1]
	last.charts = append(last.charts, c)
}

// Section adds a section unless it is empty.
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

// Append adds the parts of another document.
func (d *Document) Append(other *Document) { d.parts = append(d.read(), other.read()...) }

// Empty tells a document without parts.
func (d *Document) Empty() bool { return len(d.read()) == 0 }

// WriteText writes prose and tables, which are as wide as a line of w. Only pages have other parts.
func (d *Document) WriteText(w io.Writer) {
	for _, p := range d.read() {
		switch {
		case p.isProse():
			io.WriteString(w, p.prose.String()) // w remembers its errors
		case p.table != nil:
			p.table.WriteText(w)
		}
	}
}
