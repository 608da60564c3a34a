package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A topology describes a machine, with warnings of what would disturb a measurement.
type topology struct {
	numa.Census
	Machine    *numa.Machine         `json:"machine"`
	Provenance provenance.Provenance `json:"provenance"`
	Warnings   []string              `json:"warnings"`
	Levels     []Level               `json:"levels,omitempty"`
	Placements []numa.Placement      `json:"placements,omitempty"`
	freeBytes  int64
}

// A Level is a level of the machine that two allowed CPUs can share.
type Level struct {
	numa.Level
	Placement numa.Policy `json:"placement,omitempty"` // of a sweep's transfers at this level
}

// Topology describes a machine with this much free memory, 0 if unknown, or the CPUs of tau workers under each
// placement that the machine has, unless tau is 0.
func Topology(m *numa.Machine, here provenance.Provenance, free int64, warnings []error, tau int) (*document.Document, error) {
	t := &topology{Census: m.Count(), Machine: m, Provenance: here, Warnings: lists.Map(warnings, error.Error), freeBytes: free}
	t.Levels = lists.Map(here.Levels, func(l numa.Level) Level { return Level{Level: l} })
	f := &params.File{Provenance: here, Plan: params.Plan{Policies: transfers.Policies(m)}}
	for _, policy := range f.Plan.Policies {
		if p, err := m.Place(policy, 2); err == nil {
			f.Placements = append(f.Placements, p)
		}
	}
	for _, c := range f.Channels(params.Selection{}) {
		if c.Level >= 0 {
			t.Levels[c.Level].Placement = c.Placement
		}
	}
	if tau > 0 {
		for _, policy := range lists.Filter(numa.Policies, m.Has) {
			p, err := m.Place(policy, tau)
			if err != nil {
				return nil, err
			}
			t.Placements = append(t.Placements, p)
		}
	}
	return made("taulop topo", t, (*topology).values, (*topology).say), nil
}

func (t *topology) say(out *document.Document) {
	if len(t.Placements) > 0 {
		t.writePlacements(out)
		return
	}
	t.writeAllowed(out)
	if len(t.Warnings) == 0 {
		fmt.Fprint(out, "Nothing was found that would spoil a measurement.\n\n")
	} else {
		fmt.Fprintf(out, "%s would spoil a measurement, see below.\n\n", printable.Count(len(t.Warnings), "thing"))
	}
	out.Table(t.names())
	out.Tables(t.nodes())
	t.writeSiblings(out)
	if len(t.Machine.Caches) > 0 {
		out.Tables(t.caches())
	}
	if len(t.Machine.Nodes) > 1 {
		out.Tables(t.distances())
	}
	if len(t.Levels) > 0 {
		out.Tables(t.levels())
	}
	out.Lines(printable.If(len(t.Warnings) > 0, "\nWhat would spoil a measurement here:"))
	for _, warning := range t.Warnings {
		fmt.Fprintf(out, "- %s\n", printable.Sentence(warning))
	}
}

// cores and packages are sets of the numbers of CPUs' cores and packages.
func cores(cpus []numa.CPU) numa.CPUSet {
	return numa.SetOf(lists.Map(cpus, func(c numa.CPU) int { return c.Core })...)
}

func packages(cpus []numa.CPU) numa.CPUSet {
	return numa.SetOf(lists.Map(cpus, func(c numa.CPU) int { return c.Package })...)
}

func (t *topology) names() view.Table {
	p, m := t.Provenance, t.Machine
	names := view.Table{Columns: view.Words("", "")}
	for _, line := range [][2]string{
		{"host", p.Hostname},
		{"CPU", p.CPUModel},
		{"machine", p.Product},
		{"firmware", p.BIOS},
		{"modules", p.Memory.String()},
		{"kernel", strings.TrimSpace(strings.Join([]string{p.OS, p.Kernel, p.Arch}, " "))},
		{"online", strings.Join([]string{
			printable.Count(len(m.CPUs), "CPU"), printable.Count(cores(m.CPUs).Len(), "core"), printable.Count(packages(m.CPUs).Len(), "package"),
			printable.Count(len(m.Nodes), "NUMA node")}, ", ")},
	} {
		if line[1] != "" {
			names.Add(line[0], line[1])
		}
	}
	return names
}

func (t *topology) nodes() view.Table {
	nodes := view.Table{Columns: view.Numbers("node", "package", "cores", "CPUs", "memory", "free")}
	for _, node := range t.Machine.Nodes {
		cpus := lists.Filter(t.Machine.CPUs, func(c numa.CPU) bool { return node.CPUs.Contains(c.ID) })
		// A node without memory forbids none.
		memory := rounded(node.MemoryBytes) + printable.If(node.Forbidden && node.MemoryBytes > 0, " (forbidden)")
		nodes.Add(node.ID, cmp.Or(packages(cpus).String(), "-"), cores(cpus).Len(), cmp.Or(node.CPUs.String(), "-"), memory, rounded(node.FreeBytes))
	}
	return nodes
}

// writeSiblings groups the cores by their number of SMT siblings.
func (t *topology) writeSiblings(out *document.Document) {
	sets := lists.Map(lists.Groups(t.Machine.CPUs, func(c numa.CPU) int { return c.Core }), func(siblings []numa.CPU) numa.CPUSet {
		return numa.SetOf(lists.Map(siblings, func(c numa.CPU) int { return c.ID })...)
	})
	slices.SortStableFunc(sets, func(a, b numa.CPUSet) int { return b.Len() - a.Len() })
	fmt.Fprintln(out)
	for _, alike := range lists.Groups(sets, numa.CPUSet.Len) {
		if threads := alike[0].Len(); threads > 1 {
			fmt.Fprintf(out, "%s of %d SMT siblings: CPUs %s\n", printable.Count(len(alike), "core"), threads, some(alike))
		} else {
			fmt.Fprintf(out, "%s without SMT siblings: %s\n", printable.Count(len(alike), "core"), numbered("CPU", joined(alike)))
		}
	}
}

// caches has a row for each kind of cache.
func (t *topology) caches() view.Table {
	type kind struct {
		level                int
		name                 string
		bytes, line, sharers int
	}
	kinds := lists.Groups(t.Machine.Caches, func(c numa.Cache) kind { return kind{c.Level, c.Type, c.Bytes, c.LineBytes, c.CPUs.Len()} })
	slices.SortFunc(kinds, func(a, b []numa.Cache) int {
		return cmp.Or(a[0].Level-b[0].Level, strings.Compare(a[0].Type, b[0].Type), slices.Compare(a[0].CPUs, b[0].CPUs))
	})
	table := view.Table{Columns: view.Words("cache", "size", "line", "how many", "shared by")}
	for _, caches := range kinds {
		c, sets := caches[0], lists.Map(caches, func(c numa.Cache) numa.CPUSet { return c.CPUs })
		shared := printable.Either(c.CPUs.Len() == 1, "one CPU each: "+joined(sets).String(), "CPUs "+some(sets))
		table.Add(fmt.Sprintf("L%d %s", c.Level, c.Type), rounded(int64(c.Bytes)), rounded(int64(c.LineBytes)), len(caches), shared)
	}
	return table
}

func (t *topology) distances() view.Table {
	distances := view.Table{Columns: view.Numbers("distance")}
	for _, from := range t.Machine.Nodes {
		distances.Columns = append(distances.Columns, view.Numbers(strconv.Itoa(from.ID))...)
		cells := lists.Map(t.Machine.Nodes, func(to numa.Node) string { return distance(from.Distances[to.ID]) })
		distances.Add(fmt.Sprintf("from %d", from.ID), cells)
	}
	return distances
}

func (t *topology) levels() view.Table {
	levels := view.Table{Columns: append(append(view.Words("two CPUs share"), view.Numbers("how many", "CPUs of one")...), view.Words("a sweep's placement there")...)}
	for _, l := range t.Levels {
		sizes := lists.Map(l.Groups, numa.CPUSet.Len)
		cpus := strconv.Itoa(slices.Max(sizes))
		if least := slices.Min(sizes); least < slices.Max(sizes) {
			cpus = fmt.Sprintf("%d–%s", least, cpus)
		}
		levels.Add(l.Name, len(l.Groups), cpus, cmp.Or(string(l.Placement), "-"))
	}
	return levels
}

func (t *topology) writeAllowed(out *document.Document) {
	quota := t.Provenance.CPUQuota
	fmt.Fprintf(out, "This process may use %s (%s on %s) and the memory of %s%s%s.\n",
		numbered("CPU", t.Machine.Allowed), printable.Count(t.PUs, "CPU"), printable.Count(t.Cores, "core"), numbered("NUMA node", t.Machine.MemoryNodes()),
		printable.If(t.freeBytes > 0, ", "+rounded(t.freeBytes)+" of it available"),
		printable.If(quota > 0, fmt.Sprintf(", for %.4g CPUs' time", quota)))
}

// numbered names things by their numbers: CPU 5, CPUs 0-3.
func numbered(what string, set numa.CPUSet) string {
	return what + printable.If(set.Len() != 1, "s") + " " + set.String()
}

func (t *topology) writePlacements(out *document.Document) {
	for i, p := range t.Placements {
		if i > 0 {
			fmt.Fprintln(out)
		}
		table := placementTable(p)
		table.Title = fmt.Sprintf("-%s, %s:", p.Policy, printable.Count(len(p.Workers), "worker"))
		out.Table(table)
	}
	if t.Placements[0].Oversubscribed {
		fmt.Fprintf(out, "\nThere are only %s for %s: they take turns, and what is measured is not concurrency.\n",
			printable.Count(t.PUs, "CPU"), printable.Count(len(t.Placements[0].Workers), "worker"))
	}
}

// some lists sets, the first three and the last of more than eight.
func some(sets []numa.CPUSet) string {
	const most = 8
	texts := lists.Map(sets, func(set numa.CPUSet) string { return "{" + set.String() + "}" })
	if len(texts) > most {
		texts = append(texts[:3:3], "…", texts[len(texts)-1])
	}
	return strings.Join(texts, " ")
}

func joined(sets []numa.CPUSet) numa.CPUSet { return numa.SetOf(slices.Concat(sets...)...) }

var binaryUnits = []string{"KiB", "MiB", "GiB", "TiB"}

// rounded writes a size with three digits; a dash if it is unknown.
func rounded(n int64) string {
	if n == 0 {
		return "-"
	}
	unit, bytes := view.ByteUnit(float64(n), 999.5, 1024, binaryUnits...)
	return strconv.FormatFloat(float64(n)/bytes, 'g', 3, 64) + " " + unit
}

// values have a row for each CPU, or for each worker of the placements.
func (t *topology) values() view.Table {
	if len(t.Placements) > 0 {
		all := view.Table{Columns: view.Words("placement", "worker", "cpu", "core", "package", "node", "user_node", "intermediate_node", "distance")}
		for _, p := range t.Placements {
			for i, w := range p.Workers {
				all.Add(p.Policy, i, w.ID, w.Core, w.Package, w.Node, w.UserNode, w.IntermediateNode, w.Distance)
			}
		}
		return all
	}
	cpus := view.Table{Columns: view.Words("cpu", "core", "thread", "package", "node", "allowed")}
	for _, c := range t.Machine.CPUs {
		cpus.Add(c.ID, c.Core, c.Thread, c.Package, c.Node, t.Machine.Allowed.Contains(c.ID))
	}
	return cpus
}
