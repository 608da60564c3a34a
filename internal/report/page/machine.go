package page

import (
	"compress/gzip"
	"fmt"
	"html/template"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A machine is what the page has of one.
type machine struct {
	Number  int
	Name    string
	File    string // its name
	Facts   []fact // what the table shows, the same of all machines
	Details []fact
	Surveys template.HTML // of a few machines
	Raw     string        // the file, gzip in base64
}

type fact struct{ Name, Value string }

// A group is a setup, placement and state of the cache.
type group struct {
	channel  compare.Channel // but Bytes
	machines int
	Number   int
	Label    string
	Sizes    []int // of any machine
	Taus     []int
	Figures  []*figure
}

// An index is what charts and tables begin with.
type index struct {
	of       []compare.Machine
	curves   [][]compare.Curve // of each
	Groups   []group
	Kinds    []kind // of surveys
	Maps     []mapped
	Bytes    int // message size that charts begin with
	Main     int // the group that the verdict is about, from 0; -1: there is none
	Fleet    bool
	First    []int         // of a fleet, machines that charts begin with
	things   string        // that maps are of: CPUs
	matrices []view.Matrix // of the last machine that has some
	answer   *answer
}

// describe makes what the page has of all machines, several at a time.
func (p *Page) describe() ([]machine, *index, error) {
	machines := make([]machine, len(p.Machines))
	x := &index{of: p.Machines, curves: make([][]compare.Curve, len(p.Machines)), Fleet: len(p.Machines) >= compare.Fleet}
	err := p.each(func(i int) (err error) {
		m := p.Machines[i]
		machines[i] = facts(m)
		machines[i].Number = i
		if !x.Fleet {
			machines[i].Surveys = surveysOf(m.File)
		}
		x.curves[i], _ = compare.Curves(m.Name, m.File) // a file without transfers has other things to show
		for _, c := range x.curves[i] {
			for n := range c.Points {
				c.Points[n].Replicates, c.Points[n].AReplicates = nil, nil // the page shows none, and they are most of the memory
			}
		}
		first := slices.IndexFunc(p.Machines, func(of compare.Machine) bool { return of.Path == m.Path })
		if p.Raw != nil && (m.File.State() == nil || first == i) { // states of a machine are in one file
			machines[i].Raw, err = p.raw(m.Path)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	known(machines)
	paths := make(map[string][]string) // of files with a name
	for _, m := range p.Machines {
		name := filepath.Base(m.Path)
		paths[name] = lists.Insert(paths[name], m.Path)
	}
	for i, m := range machines {
		if len(paths[m.File]) > 1 {
			machines[i].File = m.Name + "-" + m.File
		}
	}
	x.group()
	if x.Fleet {
		x.answer, err = x.many()
	} else {
		x.answer = x.few()
	}
	return machines, x, err
}

// group puts curves that compare together.
func (x *index) group() {
	for _, of := range x.curves {
		var seen []int
		for _, c := range of {
			key := grouped(c.Channel)
			n := slices.IndexFunc(x.Groups, func(g group) bool { return g.channel == key })
			if n < 0 {
				n, x.Groups = len(x.Groups), append(x.Groups, group{channel: key, Number: len(x.Groups), Label: groupLabel(key)})
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
	g.Sizes = lists.Insert(g.Sizes, c.Bytes)
	for _, p := range c.Points {
		g.Taus = lists.Insert(g.Taus, p.Tau)
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

// each calls do for every machine, several at a time, until one fails.
func (p *Page) each(do func(i int) error) error {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range p.Machines {
		workers.Go(func() error { return do(i) })
	}
	return workers.Wait()
}

// raw is a file as the page holds it.
func (p *Page) raw(path string) (string, error) {
	text, err := p.Raw(path)
	if err != nil {
		return "", err
	}
	level := gzip.BestCompression
	if len(p.Machines) >= compare.Fleet { // which takes seconds of a thousand files
		level = gzip.BestSpeed
	}
	return pack(text, level)
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
	text := fmt.Sprintf("%s of the time", compare.InWords(*s))
	if s.Lasts > 0 {
		text += fmt.Sprintf(", for %s s in the median", view.Digits(s.Lasts, s.Lasts/10))
	}
	return text
}

// facts are what a file says of its machine.
func facts(m compare.Machine) machine {
	f, p := m.File, m.File.Provenance
	all := []fact{
		{"processor", p.CPUModel}, {"microcode", p.Microcode}, {"machine", p.Product}, {"board", p.Board}, {"BIOS", p.BIOS},
		{"hypervisor", p.Hypervisor}, {"system", strings.Join(nonempty(p.OS, p.Arch, p.Kernel), " ")},
		{"CPUs online", p.Online.String()}, {"CPUs allowed", p.Allowed.String()}, {"CPU quota", number(p.CPUQuota)},
		{"governor", strings.Join(p.Governors, ", ")}, {"turbo", p.Turbo}, {"SMT", p.SMT}, {"clock", p.Clocksource},
		{"memory", memory(p.MemoryBytes)}, {"modules", p.Memory.String()}, {"memory carried", carriedOf(f)}, {"huge pages", p.HugePages}, {"pages of buffers", p.BufferPages}, {"idle cores", p.IdleCores}, {"NUMA balancing", p.NUMABalancing},
		{"copy", f.Plan.Copy}, {"reduction", p.Reduction}, {"measured", p.Time}, {"measured for", seconds(f.Seconds)}, {"cells", strconv.Itoa(len(f.Cells))},
		{"Go", p.Go}, {"taulop", p.Taulop}, {"command", strings.Join(p.Command, " ")}, {"file", m.Path},
	}
	out := machine{Name: m.Name, File: filepath.Base(m.Path)}
	for _, fact := range all {
		if fact.Value != "" {
			out.Details = append(out.Details, fact)
		}
	}
	for _, u := range p.Unknown {
		out.Details = append(out.Details, fact{"unknown", u})
	}
	complete := "complete"
	if !f.Complete {
		complete = "incomplete"
	}
	out.Facts = []fact{
		{"processor", p.CPUModel}, {"CPUs", p.Allowed.String()}, {"hypervisor", p.Hypervisor}, {"governor", strings.Join(p.Governors, ", ")},
		{"SMT", p.SMT}, {"memory", memory(p.MemoryBytes)}, {"memory carried", carriedOf(f)}, {"measured", minute(p.Time)}, {"cells", fmt.Sprintf("%d, %s", len(f.Cells), complete)}, {"state", state(m)},
	}
	return out
}

// known leaves out the facts that are known of no machine.
func known(machines []machine) {
	for i := len(machines[0].Facts) - 1; i >= 0; i-- {
		if slices.ContainsFunc(machines, func(m machine) bool { return m.Facts[i].Value != "" }) {
			continue
		}
		for n := range machines {
			machines[n].Facts = slices.Delete(machines[n].Facts, i, i+1)
		}
	}
}

// minute is a time as tables show it.
func minute(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func nonempty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(t string) bool { return t == "" })
}

func number(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func memory(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// carriedOf is what memory carried of its peak, where that is known.
func carriedOf(f *params.File) string {
	if c := doubt.BestCarried(f, f); c != nil {
		return c.String()
	}
	return ""
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f s", s)
}
