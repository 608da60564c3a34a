package page

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
)

// Draw writes a figure under a name, and returns the link to it.
type Draw func(name string, write func(io.Writer) error) (link string, err error)

// figureCm is the width of figures, about that of a page on the web.
const figureCm = 14

// WriteMarkdown writes a page of each machine for a repository: what it comes to, what is known of the
// machine, tables, figures and warnings. Of transfers there are those that the verdict is about. Hosts
// and files have no names in it, unless a user named the machine.
func WriteMarkdown(to io.Writer, machines []compare.Machine, draw Draw) error {
	w := bufio.NewWriter(to)
	times := make(map[string]int) // that a name was drawn
	for _, m := range machines {
		once := func(name string, write func(io.Writer) error) (string, error) {
			if times[name]++; times[name] > 1 {
				name = fmt.Sprintf("%s-%d", name, times[name])
			}
			return draw(name, write)
		}
		if err := writeMachine(w, m, once); err != nil {
			return err
		}
	}
	return w.Flush()
}

func writeMachine(w *bufio.Writer, m compare.Machine, draw Draw) error {
	if p := m.File.Provenance; !m.Published() {
		m.Name = cmp.Or(p.Name, fmt.Sprintf("%s, %s", cmp.Or(p.CPUModel, "unnamed processor"), printable.Count(p.Allowed.Len(), "CPU")))
	}
	p := Page{Machines: []compare.Machine{m}}
	machines, x, err := p.describe()
	if err != nil {
		return err
	}
	f := &figures{}
	tables := *m.File
	if x.Main >= 0 {
		main := x.Groups[x.Main].channel
		tables.Plan.Setups, tables.Plan.Policies = []string{main.Setup}, []numa.Policy{main.Placement}
		for i := range x.Groups {
			if g := &x.Groups[i]; g.channel.Setup == main.Setup && g.channel.Placement == main.Placement {
				x.transfers(f, g)
			}
		}
	}
	x.surveys(f, x.of)
	fmt.Fprintf(w, "# %s\n\n%s\n\n", document.Literal(m.Name), document.Literal(x.verdict().Text))
	known := view.Table{Columns: view.Words("", "")}
	for _, fact := range machines[0].Details {
		if fact.Name != "file" && fact.Name != "command" {
			known.Add(fact.Name, fact.Value)
		}
	}
	all := carried(x.curves, x.Bytes)
	all.Columns, all.Rows = all.Columns[1:], lists.Map(all.Rows, func(row []string) []string { return row[1:] }) // whose they are is known
	section := func(title string, d *document.Document) {
		if !d.Empty() {
			fmt.Fprintf(w, "## %s\n\n", title)
			document.Markdown.Write(d, w) // the writer remembers the first error
		}
	}
	of := func(t view.Table) *document.Document {
		var d document.Document
		if len(t.Rows) > 0 {
			d.Table(t)
		}
		return &d
	}
	section("The machine", of(known))
	section("What it carries", of(all))
	section("Measured", report.Sweep(&tables))
	if err := writeFigures(w, f, draw); err != nil {
		return err
	}
	if told := compare.Told(p.Machines); len(told) > 0 {
		fmt.Fprint(w, "## Warnings\n\n")
		for _, one := range told {
			fmt.Fprintf(w, "- %s\n", document.Literal(one.What.Error()))
		}
	}
	return nil
}

// fileNames are figures' names in those of files.
var fileNames = map[string]string{"A": "concurrency", "B": "bandwidth", "L": "transfers", "Lm": "transfers"}

// writeFigures writes the first chart of each figure that can be drawn.
func writeFigures(w io.Writer, f *figures, draw Draw) error {
	for i, of := range f.sketches {
		var c *chart.Chart
		for n := 0; n < len(of) && c == nil; n++ {
			c, _ = of[n].chart()
		}
		if c == nil {
			continue
		}
		name := f.all[i].Name
		link, err := draw(cmp.Or(fileNames[name], name), func(w io.Writer) error { return c.Write(w, "svg", figureCm) })
		if err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprint(w, "## Figures\n\n")
		}
		fmt.Fprintf(w, "![%s](%s)\n\n", document.Literal(strings.Join(append([]string{c.Title}, c.Caption...), " · ")), link)
	}
	return nil
}
