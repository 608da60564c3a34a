package page

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
)

// WriteMarkdown writes a page of each machine for a repository: verdict, facts, tables, figures and
// warnings. It has the transfers of the verdict's group alone. It leaves out names of hosts and files, but
// has the name that a user gave the machine. Machines with the same name are numbered.
func WriteMarkdown(to io.Writer, machines []compare.Machine, draw document.Draw) error {
	var d document.Document
	names := lists.Map(machines, public)
	for i, m := range machines {
		m.Name = names[i]
		if same := func(name string) bool { return name == names[i] }; len(lists.Filter(names, same)) > 1 {
			m.Name = fmt.Sprintf("%s (%d)", names[i], 1+len(lists.Filter(names[:i], same)))
		}
		x := (&Page{Machines: []compare.Machine{m}}).describe()
		d.Section(document.Section{Title: m.Name}, x.alone())
	}
	return d.WriteMarkdown(to, draw)
}

// public is a machine's name without its host's and its file's.
func public(m compare.Machine) string {
	if m.Published() {
		return m.Name
	}
	p := m.File.Provenance
	model := cmp.Or(p.CPUModel, "unnamed processor")
	if n := p.Allowed.Len(); n > 0 { // benchmarks do not print them
		model += ", " + printable.Count(n, "CPU")
	}
	return cmp.Or(p.Name, model)
}

// alone is the page of a single machine.
func (x *index) alone() *document.Document {
	var d, facts, carries, figures, warnings document.Document
	m := x.of[0]
	tables := *m.File
	if x.main >= 0 {
		main := x.groups[x.main].channel
		tables.Plan.Setups, tables.Plan.Policies = []string{main.Setup}, []numa.Policy{main.Placement}
		for i := range x.groups {
			if g := &x.groups[i]; g.channel.Setup == main.Setup && g.channel.Placement == main.Placement {
				for _, c := range x.transfers(g) {
					figures.Chart(c)
				}
			}
		}
	}
	for _, c := range x.surveys().Charts() {
		figures.Chart(c)
	}
	known := factTable(m)
	known.Rows = lists.Filter(known.Rows, func(row []string) bool { return !slices.Contains([]string{"file", "command"}, row[0]) })
	if len(known.Rows) > 0 {
		facts.Table(known)
	}
	if t := carried(x.curves, x.bytes); len(t.Rows) > 0 { // without the column of machines
		t.Columns, t.Rows = t.Columns[1:], lists.Map(t.Rows, func(row []string) []string { return row[1:] })
		carries.Table(t)
	}
	warnings.List(lists.Map(x.answer.warnings, func(w compare.Warning) string { return w.What.Error() })...)
	fmt.Fprintln(&d, x.verdict())
	d.Section(document.Section{Title: "The machine"}, &facts)
	d.Section(document.Section{Title: "What it carries"}, &carries)
	d.Section(document.Section{Title: "Measured"}, report.Measured(&tables))
	d.Section(document.Section{Title: "Figures"}, &figures)
	d.Section(document.Section{Title: "Warnings"}, &warnings)
	return &d
}
