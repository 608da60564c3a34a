package page

import (
	"compress/gzip"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A group is a setup, placement and state of the cache.
type group struct {
	channel  compare.Channel // but Bytes
	machines int
	sizes    []int // of any machine
	taus     []int
}

// An index is what charts and tables begin with.
type index struct {
	of       []compare.Machine
	skipped  []error
	raw      []string          // files of machines, gzip in base64
	curves   [][]compare.Curve // of each
	Groups   []group
	Bytes    int // message size that charts begin with
	Main     int // the group that the verdict is about, from 0; -1: there is none
	Fleet    bool
	outliers []int // of a fleet, machines that charts begin with
	answer   *answer
	first    *document.Chart // of the verdict
	kinds    []string        // of surveys that have charts
	things   string          // that maps are of: CPUs
}

// describe finds what the page has of all machines, several at a time.
func (p *Page) describe() (*index, error) {
	n := len(p.Machines)
	x := &index{of: p.Machines, skipped: p.Skipped, raw: make([]string, n), curves: make([][]compare.Curve, n), Fleet: n >= compare.Fleet}
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range p.Machines {
		workers.Go(func() (err error) {
			x.curves[i], _ = compare.Curves(m.Name, m.File) // a file without transfers has other things to show
			compare.Bare(x.curves[i])
			first := slices.IndexFunc(p.Machines, func(of compare.Machine) bool { return of.Path == m.Path })
			if p.Raw != nil && (m.File.State() == nil || first == i) { // states of a machine are in one file
				x.raw[i], err = p.packed(m.Path)
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	x.group()
	if !x.Fleet {
		x.answer = x.few()
		return x, nil
	}
	var err error
	x.answer, err = x.many()
	return x, err
}

// files are what machines' files are called.
func (x *index) files() (names []string) {
	paths := make(map[string][]string) // of files with a name
	for _, m := range x.of {
		name := filepath.Base(m.Path)
		paths[name] = lists.Insert(paths[name], m.Path)
	}
	return lists.Map(x.of, func(m compare.Machine) string {
		name := filepath.Base(m.Path)
		if len(paths[name]) > 1 {
			return m.Name + "-" + name
		}
		return name
	})
}

// group puts curves that compare together.
func (x *index) group() {
	for _, of := range x.curves {
		var seen []int
		for _, c := range of {
			key := grouped(c.Channel)
			n := slices.IndexFunc(x.Groups, func(g group) bool { return g.channel == key })
			if n < 0 {
				n, x.Groups = len(x.Groups), append(x.Groups, group{channel: key})
			}
			g := &x.Groups[n]
			if !slices.Contains(seen, n) {
				seen = append(seen, n)
				g.machines++
			}
			g.add(c)
		}
	}
	for _, of := range x.curves { // what was published is drawn beside what was measured
		guest := slices.ContainsFunc(of, func(c compare.Curve) bool { return c.Setup == params.Published })
		for n := range x.Groups {
			if g := &x.Groups[n]; guest && g.local() {
				g.machines++
				for _, c := range of {
					g.add(c)
				}
			}
		}
	}
	x.Bytes, x.Main = size(x.curves), x.main()
}

func (g *group) add(c compare.Curve) {
	g.sizes = lists.Insert(g.sizes, c.Bytes)
	for _, p := range c.Points {
		g.taus = lists.Insert(g.taus, p.Tau)
	}
}

// groupLabel is what a group is called.
func groupLabel(c compare.Channel) string {
	if c.Setup == params.Published {
		return "published parameters"
	}
	return c.String()
}

// grouped is a channel but for the size of its messages.
func grouped(c compare.Channel) compare.Channel {
	c.Bytes = 0
	return c
}

// local tells local memory and in cache, as published parameters are taken to be.
func (g *group) local() bool { return g.channel.Placement == numa.Local && !g.channel.OffCache }

// packed is a file as the page holds it.
func (p *Page) packed(path string) (string, error) {
	text, err := p.Raw(path)
	if err != nil {
		return "", err
	}
	level := gzip.BestCompression
	if len(p.Machines) >= compare.Fleet { // which takes seconds of a thousand files
		level = gzip.BestSpeed
	}
	return document.Pack(text, level)
}

// size is the message size that says most: a segment's, where the files know it,
// else the customary 8 KB, else the largest below, else the least.
func size(curves [][]compare.Curve) int {
	weight := make(map[int]int)
	for _, c := range slices.Concat(curves...) {
		weight[c.Bytes] += 0
		if c.Segment {
			weight[c.Bytes] += 1 << 20
		} else if c.Bytes <= compare.Customary {
			weight[c.Bytes]++
		}
		if c.Bytes == compare.Customary {
			weight[c.Bytes] += 1 << 10
		}
	}
	best := 0
	for m, n := range weight {
		if best == 0 || n > weight[best] || n == weight[best] && (m > best) == (n > 0) {
			best = m
		}
	}
	return best
}

// ofStates tells whether the machines are one in each of its states, whose launches are the
// same: there is nothing to test.
func ofStates(machines []compare.Machine) bool {
	return len(machines) > 1 && !slices.ContainsFunc(machines, func(m compare.Machine) bool {
		return m.File.State() == nil || m.Path != machines[0].Path
	})
}

// state is the one that a machine is taken in, or those that its times are means over.
func state(m compare.Machine) string {
	s := m.File.State()
	if s == nil {
		return m.States()
	}
	text := compare.InWords(*s) + " of the time"
	if s.Lasts > 0 {
		text += fmt.Sprintf(", for %s s in the median", view.Digits(s.Lasts, s.Lasts/10))
	}
	return text
}

// factTable is all that a file says of its machine.
func factTable(m compare.Machine) view.Table {
	f, p := m.File, m.File.Provenance
	t := view.Table{Columns: view.Words("", "")}
	done := "measured"
	if imported(f) {
		done = "imported"
	}
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

// machines are the facts by which machines are told apart, those that are known of any.
func (x *index) machines() view.Table {
	t := view.Table{Columns: view.Words("machine", "file", "processor", "CPUs", "hypervisor", "governor", "SMT", "memory", "memory carried", "measured", "cells", "state")}
	files := x.files()
	for i, m := range x.of {
		f, p := m.File, m.File.Provenance
		complete := "complete"
		if !f.Complete {
			complete = "incomplete"
		}
		minute := "" // as tables show it
		if at, err := time.Parse(time.RFC3339, p.Time); err == nil && !imported(f) {
			minute = at.UTC().Format("2006-01-02 15:04")
		}
		t.Add(m.Name, files[i], p.CPUModel, p.Allowed, p.Hypervisor, strings.Join(p.Governors, ", "), p.SMT, known("%.1f GiB", float64(p.MemoryBytes)/(1<<30)), carriedOf(f), minute, fmt.Sprintf("%d, %s", len(f.Cells), complete), state(m))
	}
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for n := range t.Rows {
			t.Rows[n] = slices.Delete(t.Rows[n], i, i+1)
		}
	}
	return t
}

// imported tells whether a file is of what others measured, when, it does not say.
func imported(f *params.File) bool { return len(f.Launches) == 0 && !f.Plan.Swept() }

// known formats a number that is 0 where it is not known.
func known(format string, v float64) string {
	if v <= 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// carriedOf is what memory carried of its peak, where that is known.
func carriedOf(f *params.File) string {
	if c := doubt.BestCarried(f, f); c != nil {
		return c.String()
	}
	return ""
}
