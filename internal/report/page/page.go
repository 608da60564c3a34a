// Package page makes a document of machines, and writes it as one HTML file that needs nothing
// else: no network, no server, no mouse; or as Markdown.
//
// Its opinion: what it comes to is the first thing, with the chart that shows it, and
// how many warnings speak against it the second; a fleet comes before its machines; charts
// are those of package chart, and the page is read without its script, which chooses among
// charts, sorts tables and says what is under the pointer; nothing that a file says is taken
// for markup.
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
	Skipped  []error // files that the report is without

	// Raw reads the file of a machine, which the page holds for download; nil
	// leaves files out.
	Raw func(path string) ([]byte, error)
}

//go:embed page.html
var markup string

//go:embed page.css
var styleText string

//go:embed page.js
var scriptText string

// In the page they are without their comments and indents.
var style, script = dense(styleText), dense(scriptText)

func dense(text string) string {
	lines := lists.Map(strings.Split(text, "\n"), strings.TrimSpace)
	return strings.Join(lists.Filter(lines, func(line string) bool { return line != "" && !strings.HasPrefix(line, "//") }), "\n")
}

var shell = template.Must(template.New("page").Parse(markup))

// Mark is in the first bytes of every page, so that a file is known as one.
const Mark = `<meta name="generator" content="taulop report">`

// A content is what the template shows.
type content struct {
	Policy string // of content: nothing but what is in the page
	Style  template.CSS
	Script template.JS
	Title  string
	Body   template.HTML
	Names  []string // of machines in charts, if a reader can choose
	About  bool     // it has transfers
	More   string   // see document.Later
	Raw    []string // files of machines, "" where there is none
}

// Write writes the page. It fails where the file of a machine cannot be read.
func (p *Page) Write(w io.Writer) error {
	x, err := p.describe()
	if err != nil {
		return err
	}
	var body bytes.Buffer
	later, err := x.document().WriteHTML(&body)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%d machines", len(p.Machines))
	if !x.Fleet {
		title = x.title()
	}
	c := content{Style: template.CSS(style), Script: template.JS(script), Title: title, Body: template.HTML(body.String()), Names: x.names(), About: len(x.Groups) > 0, Raw: x.raw}
	// Scripts and styles are known by their hash: what got in otherwise is dead.
	c.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), digest(script))
	if c.More, err = later.Packed(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<20)
	if err := shell.Execute(b, c); err != nil {
		return err
	}
	return b.Flush()
}

// title names the machines, one in several states once.
func (x *index) title() string {
	return strings.Join(lists.Map(x.hosts(), func(in []compare.Machine) string { return hostName(in[0]) }), ", ")
}

// document is what the page comes to, what speaks against it, and what it rests on.
func (x *index) document() *document.Document {
	var d, verdict, machines document.Document
	groups, surveys := x.charts(), x.surveys()
	fmt.Fprintln(&verdict, x.verdict())
	if unfit := x.unfit(); unfit != "" {
		fmt.Fprintln(&verdict, unfit)
	}
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
	if x.Fleet {
		d.Section(document.Section{ID: "fleet", Title: "The fleet"}, x.answer.below)
	} else {
		for _, in := range x.hosts() {
			var facts, measured document.Document
			facts.Table(factTable(in[0]))
			for _, m := range in {
				var of document.Document
				if of.TablesAbove(surveyTables(m.File)...); len(in) == 1 {
					measured = of
				} else {
					measured.Section(document.Section{Title: compare.InWords(*m.File.State())}, &of)
				}
			}
			machines.Section(document.Section{Title: "All that is known of " + hostName(in[0]), Folded: true}, &facts)
			machines.Section(document.Section{Title: "Surveys of " + hostName(in[0]), Folded: true}, &measured)
		}
		d.Section(document.Section{ID: "machines", Title: "Machines"}, &machines)
		if !x.answer.below.Empty() {
			x.answer.below.Note(words)
		}
		title := "What it carries"
		if x.answer.compared {
			title = "Side by side"
		}
		d.Section(document.Section{ID: "overview", Title: title}, x.answer.below)
	}
	d.Section(document.Section{ID: "charts", Title: "Charts"}, groups)
	d.Section(document.Section{ID: "surveys", Title: "Surveys"}, surveys)
	if x.Fleet {
		d.Section(document.Section{ID: "machines", Title: "Machines"}, &machines)
	}
	return &d
}

const words = "A(τ) = τ·L(m,1)/L(m,τ) is how many transfers the memory really carries at once: 1 is a serial channel, τ an ideal one; " +
	"off cache that of a ring is higher, for it receives over what it has just sent, which is in cache. ±: half of a 95 % confidence interval. " +
	"GB/s: all transfers together, 10⁹ bytes a second."

// warnings adds how many speak against the answer, which open, and where machines break eq. (8),
// unless a fleet's are among them.
func (x *index) warnings(d *document.Document) {
	var told, broken document.Document
	told.List(lists.Map(x.answer.told, func(w compare.Warning) string {
		switch n := len(w.Machines); {
		case n == 0:
			return w.What.Error()
		case n > 1 && n == len(x.of):
			return w.What.Error() + " (all machines)"
		}
		return fmt.Sprintf("%v (%s)", w.What, w.Who())
	})...)
	n := len(x.answer.told)
	if !x.Fleet || !x.answer.compared {
		if breaches := breaches(x.of); len(breaches) > 0 {
			n++
			broken.List(breaches...)
			told.Section(document.Section{Title: "L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ), eq. (8), is broken on " + printable.Count(len(breaches), "machine"), Folded: true}, &broken)
		}
	}
	if n == 0 {
		fmt.Fprintln(&told, "The files hold no warnings.")
	}
	d.Section(document.Section{ID: "warnings", Title: printable.Count(n, "warning"), Folded: n > 0}, &told)
}

// breaches are the machines' own, whether they are compared there or not, most first.
func breaches(machines []compare.Machine) []string {
	type breach struct {
		text   string
		places int
	}
	var all []breach
	for _, m := range machines {
		if broken := doubt.Bounds(m.File.Transfers()); len(broken) > 0 {
			first := ""
			if len(broken) > 1 {
				first = ", the first"
			}
			all = append(all, breach{fmt.Sprintf("%s, %s%s: %v", m.Name, printable.Count(len(broken), "place"), first, broken[0]), len(broken)})
		}
	}
	slices.SortStableFunc(all, func(a, b breach) int { return b.places - a.places })
	return lists.Map(all, func(b breach) string { return b.text })
}

// names are the machines that a reader can switch on and off in charts.
func (x *index) names() (names []string) {
	switch {
	case x.Fleet:
		return lists.Map(x.surveyed(), func(m compare.Machine) string { return m.Name })
	case len(x.of) > 1:
		return lists.Map(x.of, func(m compare.Machine) string { return m.Name })
	}
	return nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
