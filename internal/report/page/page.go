// Package page writes a report of machines as one HTML file that needs nothing
// else: no network, no server, no mouse.
//
// Its opinion: what it comes to is the first thing, with the chart that shows it, and
// how many warnings speak against it the second; a fleet comes before its machines; a
// chart has the same numbers as its table and the file that they come from,
// which is in the page; nothing that a file says is taken for markup.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

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
var style string

//go:embed chart.js
var chartScript string

//go:embed heat.js
var heatScript string

//go:embed surveys.js
var surveyScript string

//go:embed page.js
var pageScript string

// scripts are in the order in which they need each other.
var scripts = []string{chartScript, heatScript, surveyScript, pageScript}

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
	Scripts  []template.JS
	Title    string
	Machines []machine
	Verdict  verdict
	Fleet    *fleet // of many machines
	Skipped  []string
	Warnings []warning
	Breaches []breach
	Groups   []group
	Kinds    []kind    // of surveys
	Maps     string    // what they are of: CPUs; "" where there are none
	Overview *overview // of a few machines
	Index    template.JS
}

func (p *Page) view() (*content, error) {
	v := &content{Style: template.CSS(style)}
	digests := make([]string, len(scripts))
	for i, text := range scripts {
		v.Scripts = append(v.Scripts, template.JS(text))
		digests[i] = digest(text)
	}
	// Scripts and styles are known by their hash: what got in otherwise is dead.
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		digest(style), strings.Join(digests, " "))
	for _, err := range p.Skipped {
		v.Skipped = append(v.Skipped, err.Error())
	}
	v.Title = title(p.Machines)
	machines, index, err := p.describe()
	if err != nil {
		return nil, err
	}
	v.Machines, v.Groups, v.Overview, v.Fleet = machines, index.Groups, index.overview, index.fleet
	v.Kinds, v.Maps = index.Kinds, index.things
	told := compare.Told(p.Machines)
	if v.Overview != nil && v.Overview.warnings != nil {
		told = v.Overview.warnings
	}
	if v.Fleet != nil && v.Fleet.Why == "" {
		told = v.Fleet.warnings
	} else {
		v.Breaches = breaches(p.Machines)
	}
	v.Warnings = warnings(told, len(p.Machines))
	v.Verdict = newVerdict(p.Machines, index)
	text, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	v.Index = template.JS(text)
	return v, nil
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
