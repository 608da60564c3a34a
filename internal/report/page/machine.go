package page

import (
	"compress/gzip"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/parallel"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A group is a setup, placement and state of the cache.
type group struct {
	channel  compare.Channel // with Bytes 0
	machines int
	sizes    []int // of any machine
	taus     []int
}

// An index is the data of a page.
type index struct {
	of       []compare.Machine
	skipped  []error
	curves   [][]compare.Curve // by machine
	groups   []group
	bytes    int // message size that charts show at first
	main     int // index of the group that the verdict is about; -1: there is none
	fleet    bool
	outliers []int // of a fleet: indices of the machines that charts show at first
	answer   *answer
	first    *document.Chart // beside the verdict
	kinds    []string        // labels of surveys with charts
	things   string          // what maps have pairs of: CPUs
}

// describe collects the data of a page, several machines at a time.
func (p *Page) describe() *index {
	x := &index{of: p.Machines, skipped: p.Skipped, fleet: len(p.Machines) >= compare.Fleet}
	x.curves = parallel.Map(p.Machines, func(m compare.Machine) []compare.Curve {
		curves, _ := compare.Curves(m.Name, m.File) // an error says that there are none
		compare.Bare(curves)
		return curves
	})
	x.group()
	if x.fleet {
		x.answer = x.many()
	} else {
		x.answer = x.few()
	}
	return x
}

// hosts are the machines, grouped by host: a host's states are machines of their own.
func (x *index) hosts() [][]compare.Machine { return lists.Groups(x.of, compare.Machine.Host) }

// files are distinct names of hosts' files.
func (x *index) files() (names []string) {
	paths := make(map[string][]string) // by base name
	for _, m := range x.of {
		name := filepath.Base(m.Path)
		paths[name] = lists.Insert(paths[name], m.Path)
	}
	return lists.Map(x.hosts(), func(states []compare.Machine) string {
		name := filepath.Base(states[0].Path)
		return printable.If(len(paths[name]) > 1, states[0].Host()+"-") + name
	})
}

// group groups the curves by channel without size.
func (x *index) group() {
	channel := func(c compare.Curve) compare.Channel { return grouped(c.Channel) }
	for _, curves := range lists.Groups(slices.Concat(x.curves...), channel) {
		machines := lists.Groups(curves, func(c compare.Curve) string { return c.Machine })
		g := group{channel: channel(curves[0]), machines: len(machines)}
		g.add(curves)
		x.groups = append(x.groups, g)
	}
	for _, curves := range x.curves { // published parameters are compared with local memory in cache
		published := slices.ContainsFunc(curves, func(c compare.Curve) bool { return c.Setup == params.Published })
		for n := range x.groups {
			if g := &x.groups[n]; published && g.local() {
				g.machines++
				g.add(curves)
			}
		}
	}
	x.bytes, x.main = size(x.curves), -1
	for i := range x.groups {
		if x.main < 0 || x.groups[i].weight() > x.groups[x.main].weight() {
			x.main = i
		}
	}
}

func (g *group) add(curves []compare.Curve) {
	for _, c := range curves {
		g.sizes = lists.Insert(g.sizes, c.Bytes)
		for _, p := range c.Points {
			g.taus = lists.Insert(g.taus, p.Tau)
		}
	}
}

func groupLabel(c compare.Channel) string {
	return printable.Either(c.Setup == params.Published, "published parameters", c.String())
}

// grouped is a channel without its message size.
func grouped(c compare.Channel) compare.Channel {
	c.Bytes = 0
	return c
}

// local tells local memory in cache, which published parameters are compared with.
func (g *group) local() bool { return g.channel.Placement == numa.Local && !g.channel.OffCache }

// raw are the files of hosts as the page holds them, packed several at a time.
func (p *Page) raw(hosts [][]compare.Machine) ([]string, error) {
	if p.Raw == nil {
		return nil, nil
	}
	level := gzip.BestCompression
	if len(p.Machines) >= compare.Fleet { // a thousand files take seconds
		level = gzip.BestSpeed
	}
	all := make([]string, len(hosts))
	err := parallel.Each(context.Background(), len(hosts), nil, func(_ context.Context, i int) error {
		text, err := p.Raw(hosts[i][0].Path)
		all[i] = document.Pack(text, level)
		return err
	})
	return all, err
}

// size is the message size that charts show at first: the segment size if it is known, else the largest up to
// the customary 8 KB, else the smallest.
func size(curves [][]compare.Curve) (best int) {
	all := slices.Concat(curves...)
	if i := slices.IndexFunc(all, func(c compare.Curve) bool { return c.Segment }); i >= 0 {
		return all[i].Bytes
	}
	for _, m := range lists.Rising(lists.Map(all, func(c compare.Curve) int { return c.Bytes })) {
		if best == 0 || m <= compare.Customary {
			best = m
		}
	}
	return best
}

// state describes the state of a machine, or the states that its times are means over.
func state(m compare.Machine) string {
	s := m.File.State()
	if s == nil {
		return m.States()
	}
	return compare.InWords(*s) + " of the time" +
		printable.If(s.Lasts > 0, fmt.Sprintf(", for %s s in the median", view.Digits(s.Lasts, s.Lasts/10)))
}

// factTable is a file's provenance.
func factTable(m compare.Machine) view.Table {
	f, p := m.File, m.File.Provenance
	t := view.Table{Columns: view.Words("", "")}
	done := printable.Either(f.Imported(), "imported", "measured")
	for _, fact := range [][2]string{
		{"processor", p.CPUModel}, {"microcode", p.Microcode}, {"machine", p.Product}, {"board", p.Board}, {"BIOS", p.BIOS},
		{"hypervisor", p.Hypervisor}, {"system", strings.Join(strings.Fields(p.OS+" "+p.Arch+" "+p.Kernel), " ")},
		{"CPUs online", p.Online.String()}, {"CPUs allowed", p.Allowed.String()}, {"CPU quota", known("%.4g", p.CPUQuota)},
		{"governor", strings.Join(p.Governors, ", ")}, {"turbo", p.Turbo}, {"SMT", p.SMT}, {"clock", p.Clocksource},
		{"memory", known("%.1f GiB", float64(p.MemoryBytes)/(1<<30))}, {"modules", p.Memory.String()}, {"memory carried", carriedOf(f)}, {"huge pages", p.HugePages}, {"pages of buffers", p.BufferPages}, {"idle cores", p.IdleCores}, {"NUMA balancing", p.NUMABalancing},
		{"copy", f.Plan.Copy}, {"reduction", p.Reduction}, {done, p.Time}, {"measured for", known("%.0f s", f.Seconds)}, {"cells", strconv.Itoa(len(f.Cells))},
		{"Go", p.Go}, {"taulop", p.Taulop}, {"command", strings.Join(p.Command, " ")}, {"file", m.Path},
	} {
		if fact[1] != "" {
			t.Add(fact[0], fact[1])
		}
	}
	for _, u := range p.Unknown {
		t.Add("unknown", u)
	}
	return t
}

// machines has a row for each host. Empty columns are left out.
func (x *index) machines() view.Table {
	t := view.Table{Columns: view.Words("machine", "file", "processor", "CPUs", "hypervisor", "governor", "SMT", "memory", "memory carried", "measured", "cells", "state")}
	files := x.files()
	for i, states := range x.hosts() {
		f, p := states[0].File, states[0].File.Provenance
		complete := printable.Either(f.Complete, "complete", "incomplete")
		minute := ""
		if at, err := time.Parse(time.RFC3339, p.Time); err == nil && !f.Imported() {
			minute = at.UTC().Format("2006-01-02 15:04")
		}
		cells := slices.Max(lists.Map(states, func(m compare.Machine) int { return len(m.File.Cells) }))
		t.Add(states[0].Host(), files[i], p.CPUModel, p.Allowed, p.Hypervisor, strings.Join(p.Governors, ", "), p.SMT, known("%.1f GiB", float64(p.MemoryBytes)/(1<<30)), carriedOf(f), minute, fmt.Sprintf("%d, %s", cells, complete), strings.Join(lists.Map(states, state), "; "))
	}
	t.DropEmpty()
	return t
}

// known formats a positive number, "" for others, which are unknown.
func known(format string, v float64) string { return printable.If(v > 0, fmt.Sprintf(format, v)) }

// carriedOf is the share of its peak bandwidth that memory carried; "" if it is unknown.
func carriedOf(f *params.File) string {
	if c := doubt.BestCarried(f, f); c != nil {
		return c.String()
	}
	return ""
}
