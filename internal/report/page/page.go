// Package page makes a document of machines, as one HTML file that works without network, server and
// mouse, or as Markdown.
//
// Its opinion: the verdict comes first, with the chart that shows it, then the number of warnings; a
// fleet comes before its machines; package chart draws all charts; the page is readable without its
// script, which switches charts, sorts tables and shows values under the pointer; text from files is never
// markup.
package page

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// A Page is a report of machines.
type Page struct {
	Machines []compare.Machine
	Skipped  []error // files that could not be read

	// Raw reads the file of a machine, which the page holds for download; nil: no files.
	Raw func(path string) ([]byte, error)
}

//go:embed page.html
var markup string

//go:embed page.css
var styleText string

//go:embed page.js
var scriptText string

var style, script = dense(styleText), dense(scriptText)

// dense removes comments and indents.
func dense(text string) string {
	lines := lists.Map(strings.Split(text, "\n"), strings.TrimSpace)
	return strings.Join(lists.Filter(lines, func(line string) bool { return line != "" && !strings.HasPrefix(line, "//") }), "\n")
}

var shell = template.Must(template.New("page").Parse(markup))

// Mark is in the first bytes of every page and identifies the file.
const Mark = `<meta name="generator" content="taulop report">`

// A content is the data of the template.
type content struct {
	Policy string // Content-Security-Policy
	Style  template.CSS
	Script template.JS
	Title  string
	Body   template.HTML
	Names  []string // of machines that a reader can switch on and off
	About  bool     // it has transfers
	More   string   // charts and sections that the script shows later, as document.Later
	Raw    []string // files of machines, "" for none
}

// Write writes the page. It fails if the file of a machine cannot be read.
func (p *Page) Write(w io.Writer) error {
	x := p.describe()
	raw, err := p.raw(x.hosts())
	if err != nil {
		return err
	}
	var body bytes.Buffer
	later, err := x.document().WriteHTML(&body)
	if err != nil {
		return err
	}
	c := content{Style: template.CSS(style), Script: template.JS(script), Title: x.title(), Body: template.HTML(body.String()), Names: x.names(), About: len(x.groups) > 0, More: later.Packed(), Raw: raw}
	// By their hashes, no other script and style is allowed.
	c.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), digest(script))
	b := bufio.NewWriterSize(w, 1<<20)
	if err := shell.Execute(b, c); err != nil {
		return err
	}
	return b.Flush()
}

// title names the hosts, or counts those of a fleet.
func (x *index) title() string {
	return printable.Either(x.fleet,
		fmt.Sprintf("%d machines", len(x.of)), strings.Join(lists.Unique(lists.Map(x.of, compare.Machine.Host)), ", "))
}

// document is the body of the page.
func (x *index) document() *document.Document {
	var d, verdict, machines document.Document
	groups, surveys := x.charts(), x.surveys()
	verdict.Lines(x.verdict(), x.unfit())
	if x.answer.tests != "" {
		verdict.Note(x.answer.tests)
	}
	if x.first != nil {
		verdict.Chart(x.first)
	}
	for _, err := range x.skipped {
		fmt.Fprintf(&verdict, "A file was skipped: %v\n", err)
	}
	d.Section(document.Section{ID: "verdict"}, &verdict)
	x.warnings(&d)
	machines.Table(x.machines())
	if x.fleet {
		d.Section(document.Section{ID: "fleet", Title: "The fleet"}, x.answer.below)
	} else {
		for _, states := range x.hosts() {
			var facts, measured document.Document
			facts.Table(factTable(states[0]))
			for _, m := range states {
				var tables document.Document
				if tables.TablesAbove(surveyTables(m.File)...); len(states) == 1 {
					measured = tables
				} else {
					measured.Section(document.Section{Title: compare.InWords(*m.File.State())}, &tables)
				}
			}
			machines.Section(document.Section{Title: "All that is known of " + states[0].Host(), Folded: true}, &facts)
			machines.Section(document.Section{Title: "Surveys of " + states[0].Host(), Folded: true}, &measured)
		}
		d.Section(document.Section{ID: "machines", Title: "Machines"}, &machines)
		if !x.answer.below.Empty() {
			x.answer.below.Note(words)
		}
		title := printable.Either(x.answer.compared, "Side by side", "What it carries")
		d.Section(document.Section{ID: "overview", Title: title}, x.answer.below)
	}
	d.Section(document.Section{ID: "charts", Title: "Charts"}, groups)
	d.Section(document.Section{ID: "surveys", Title: "Surveys"}, surveys)
	if x.fleet {
		d.Section(document.Section{ID: "machines", Title: "Machines"}, &machines)
	}
	return &d
}

const words = "A(τ) = τ·L(m,1)/L(m,τ) is how many transfers the memory really carries at once: 1 is a serial channel, τ an ideal one; " +
	"off cache A(τ) of a ring is higher, because it receives into the buffer that it has just sent, which is in cache. ±: half of a 95 % confidence interval. " +
	"GB/s: all transfers together, 10⁹ bytes a second."

// warnings adds a section of warnings, with the machines that break eq. (8). The warnings of a compared fleet
// contain them already.
func (x *index) warnings(d *document.Document) {
	var all, broken document.Document
	all.List(lists.Map(x.answer.warnings, func(w compare.Warning) string {
		switch n := len(w.Machines); {
		case n == 0:
			return w.What.Error()
		case n > 1 && n == len(x.of):
			return w.What.Error() + " (all machines)"
		}
		return fmt.Sprintf("%v (%s)", w.What, w.Who())
	})...)
	n := len(x.answer.warnings)
	if !x.fleet || !x.answer.compared {
		if breaches := breaches(x.of); len(breaches) > 0 {
			n++
			broken.List(breaches...)
			all.Section(document.Section{Title: "L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ), eq. (8), is broken on " + printable.Count(len(breaches), "machine"), Folded: true}, &broken)
		}
	}
	title := printable.Count(n, "warning")
	if n == 0 {
		title = "Warnings"
		fmt.Fprintln(&all, "The files hold no warnings.")
	}
	d.Section(document.Section{ID: "warnings", Title: title, Folded: n > 0}, &all)
}

// breaches describes the machines that break eq. (8) at any size, in the order of falling number of breaches.
func breaches(machines []compare.Machine) []string {
	type breach struct {
		text   string
		places int
	}
	var all []breach
	for _, m := range machines {
		if broken := doubt.Bounds(m.File.Transfers()); len(broken) > 0 {
			first := printable.If(len(broken) > 1, ", the first")
			all = append(all, breach{fmt.Sprintf("%s, %s%s: %v", m.Name, printable.Count(len(broken), "place"), first, broken[0]), len(broken)})
		}
	}
	slices.SortStableFunc(all, func(a, b breach) int { return b.places - a.places })
	return lists.Map(all, func(b breach) string { return b.text })
}

// names are the machines that a reader can switch on and off in charts.
func (x *index) names() (names []string) {
	if len(x.of) < 2 {
		return nil
	}
	return lists.Map(x.surveyed(), func(m compare.Machine) string { return m.Name })
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
