// Package page writes a report of machines as one HTML file that needs nothing
// else: no network, no server, no mouse.
//
// Its opinion: what it comes to is the first thing, with the chart that shows it, and
// how many warnings speak against it the second; a fleet comes before its machines; charts
// are those of package chart, and the page is read without its script, which chooses among
// charts, sorts tables and says what is under the pointer; nothing that a file says is taken
// for markup.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
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

var page = template.Must(template.New("page").Parse(markup))

// Mark is in the first bytes of every page, so that a file is known as one.
const Mark = `<meta name="generator" content="taulop report">`

// Write writes the page. It fails where the file of a machine cannot be read.
func (p *Page) Write(w io.Writer) error {
	v, err := p.view()
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<20)
	if err := page.Execute(b, v); err != nil {
		return err
	}
	return b.Flush()
}

// Told is how many warnings are folded away.
func (c *content) Told() string {
	n := len(c.Warnings)
	if len(c.Breaches) > 0 {
		n++
	}
	return printable.Count(n, "warning")
}

// A content is what the template shows.
type content struct {
	Policy   string // of content: nothing but what is in the page
	Style    template.CSS
	Script   template.JS
	Title    string
	Machines []machine
	Verdict  *answer
	Chart    *figure // of the verdict
	Fleet    bool
	Skipped  []string
	Warnings []warning
	Breaches []breach
	Groups   []group
	Sizes    []string // that charts of transfers are chosen by
	Kinds    []kind   // of surveys
	Maps     []mapped
	Things   string   // what maps are of: CPUs
	Names    []string // that charts have series of, if a reader can choose
	More     string   // see more
	Main     int      // the group that the verdict is about
}

func (p *Page) view() (*content, error) {
	v := &content{Style: template.CSS(style), Script: template.JS(script), Title: title(p.Machines)}
	// Scripts and styles are known by their hash: what got in otherwise is dead.
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), digest(script))
	for _, err := range p.Skipped {
		v.Skipped = append(v.Skipped, err.Error())
	}
	machines, x, err := p.describe()
	if err != nil {
		return nil, err
	}
	v.Machines, v.Fleet = machines, x.Fleet
	told := x.answer.told
	if told == nil {
		told = compare.Told(p.Machines)
	}
	v.Warnings = warnings(told, len(p.Machines))
	if !x.Fleet || !x.answer.compared {
		v.Breaches = breaches(p.Machines)
	}
	err = v.draw(x)
	v.Verdict = x.verdict()
	return v, err
}

// draw adds the charts.
func (v *content) draw(x *index) (err error) {
	f := &figures{}
	surveyed := x.of
	if x.Fleet {
		surveyed = nil
		for _, n := range x.First {
			surveyed = append(surveyed, x.of[n])
		}
		if x.answer.compared {
			middle := compare.Machine{Name: chart.Median, File: medianMachine(x.of, x.answer.kinds)}
			surveyed = append([]compare.Machine{middle}, surveyed...)
		}
	}
	var numbers []template.HTML
	for i := range x.Groups {
		g := &x.Groups[i]
		g.Figures = x.transfers(f, g)
		if i == x.Main && len(g.Figures) > 0 {
			v.Chart, g.Figures = g.Figures[0], g.Figures[1:] // it shows most
		}
		for _, fig := range g.Figures {
			fig.Later = i != x.Main
		}
		if !x.Fleet {
			numbers = append(numbers, x.numbers(g))
		}
	}
	x.surveys(f, surveyed)
	f.draw()
	v.Groups, v.Kinds, v.Maps, v.Things, v.Main = x.Groups, x.Kinds, x.Maps, x.things, x.Main
	v.choices(f, x)
	v.More, err = f.packed(numbers)
	return err
}

// choices are what a reader chooses of for all charts of transfers at once.
func (v *content) choices(f *figures, x *index) {
	for _, fig := range f.all {
		for _, d := range fig.drawn {
			if m := d.Choice["m"]; m != "" && len(d.Choice) == 1 && !slices.Contains(v.Sizes, m) {
				v.Sizes = append(v.Sizes, m)
			}
		}
	}
	switch {
	case x.Fleet:
		if x.answer.compared {
			v.Names = []string{chart.Median}
		}
		for _, n := range x.First {
			v.Names = append(v.Names, x.of[n].Name)
		}
	case len(x.of) > 1:
		v.Names = lists.Map(x.of, func(m compare.Machine) string { return m.Name })
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func title(machines []compare.Machine) string {
	if len(machines) >= compare.Fleet {
		return fmt.Sprintf("%d machines", len(machines))
	}
	names := lists.Map(machines, func(m compare.Machine) string { return m.Name })
	return strings.Join(names, ", ")
}
